// Package defects lists the known defects of processors' Intel PT traces.
package defects

// Errata are the defects of a processor's trace that decoding must know of.
// They are named as the first specification update that lists them does; the
// comments name later ones. The pt.Decoder works around those of the first group,
// but for NextIP, which it marks, and SKL168, which needs nothing done. NextIP,
// BDM64, SKD022 and SKL014 need the code that was traced: the walker works
// around them, told by FlagNextIP and by pt.Config.Rules.
type Errata struct {
	// BDM70 (SKD024, SKL021, KBL021): the PSB+ before a TIP.PGE may hold a FUP
	// and MODE.Exec though tracing is off.
	BDM70 bool
	// SKD007 (SKL049, KBL041): an OVF may replace the bytes of a CYC from its
	// second on.
	SKD007 bool
	// SKD010 (SKD014, SKL033, KBL030): the FUP or TIP.PGE after an OVF may be
	// missing. The pt.Decoder recovers from that on every processor. On these alone it
	// also doubts a FUP behind an OVF that a target follows at once.
	SKD010 bool
	// SKL168: a CYC (and MTC) right before a PSB may be missing. Nothing is done:
	// the time stated at a PSB replaces what was counted.
	SKL168 bool
	// SKZ84: with VMX TSC offsetting or scaling, a guest's TMA is corrupt and
	// followed by one stray byte.
	SKZ84 bool
	// APL11: an OVF may be followed by the TIP.PGD that ends tracing. The
	// Decoder takes it so on every processor.
	APL11 bool
	// APL12: an OVF that resolves while filtered out may be followed by a FUP.
	APL12 bool
	// NextIP: the FUP of an asynchronous branch may hold the address after the
	// instruction where the instruction's own is due; marked by FlagNextIP.
	NextIP bool

	// BDM64: the target of a branch right before a transaction's abort may be wrong.
	BDM64 bool
	// SKD022 (SKL024, KBL023): a VM entry that ends tracing may have a FUP
	// before its TIP.PGD.
	SKD022 bool
	// SKL014 (KBL014): the TIP.PGD of a direct jump out of the filter ranges may
	// hold no IP. It is taken so on every processor, where the filter is known.
	SKL014 bool
}

// erratum is a row of the table: which defects some models share.
type erratum struct {
	family uint16
	models []uint16
	has    Errata
}

// errataTable lists the processors with known defects: the specification
// updates of Intel's processor generations, as the Intel PT decoder library
// applies them (libipt v2.1, pt_config.c) and Linux does
// (tools/perf/util/intel-pt.c, v6.12).
func errataTable() [9]erratum {
	return [...]erratum{
		{6, []uint16{0x3d, 0x47, 0x4f, 0x56}, Errata{BDM70: true, BDM64: true}},
		{6, []uint16{0x4e, 0x5e, 0x8e, 0x9e, 0xa5, 0xa6},
			Errata{BDM70: true, SKD007: true, SKD010: true, SKD022: true, SKL014: true, SKL168: true}},
		{6, []uint16{0x55, 0x6a, 0x6c}, Errata{BDM70: true, SKL014: true, SKD022: true, SKZ84: true}},
		{6, []uint16{0x8f, 0xcf, 0xad, 0xae}, Errata{BDM70: true, SKD022: true, SKZ84: true}},
		{6, []uint16{0x66, 0x7d, 0x7e, 0x8c, 0x8d, 0xa7, 0xa8},
			Errata{BDM70: true, SKL014: true, SKD022: true}},
		{6, []uint16{0x97, 0x9a, 0xba, 0xb7, 0xbf, 0xc5, 0xc6, 0xb5, 0xaa, 0xac, 0xbd, 0xcc, 0xd5},
			Errata{BDM70: true, SKD022: true, APL11: true}},
		{6, []uint16{0x7a, 0x86, 0x96, 0x9c, 0xb6, 0xaf, 0xdd}, Errata{APL11: true}},
		{0x12, []uint16{0x01, 0x03}, Errata{BDM70: true, SKD022: true, APL11: true}},
		{0x13, []uint16{0x01}, Errata{BDM70: true, SKD022: true, SKZ84: true}},
	}
}

// Of returns the defects of a processor.
func Of(family, model uint16) Errata {
	switch {
	case family == 6 && model == 0x5c:
		return Errata{APL11: true, APL12: true, NextIP: true}
	case family == 6 && model == 0x5f:
		return Errata{APL11: true, APL12: true}
	}
	for _, e := range errataTable() {
		if e.family != family {
			continue
		}
		for _, n := range e.models {
			if n == model {
				return e.has
			}
		}
	}
	return Errata{}
}
