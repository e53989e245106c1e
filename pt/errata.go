package pt

import (
	"fmt"
	"strconv"
	"strings"
)

// Model names a processor by CPUID.01H:EAX: the display family and model, and
// the stepping. The zero value is an unknown processor, taken to have no errata.
type Model struct {
	Family, Model, Stepping uint16
}

// String returns the form that ParseModel reads.
func (m Model) String() string {
	return fmt.Sprintf("%d/%d/%d", m.Family, m.Model, m.Stepping)
}

// ParseModel reads FAMILY/MODEL or FAMILY/MODEL/STEPPING, decimal or, with 0x
// in front, hexadecimal: 6/94/3, 6/0x5e.
func ParseModel(s string) (Model, error) {
	fields := strings.Split(s, "/")
	if len(fields) < 2 || len(fields) > 3 {
		return Model{}, fmt.Errorf("CPU model %q: %d fields, need FAMILY/MODEL or FAMILY/MODEL/STEPPING", s, len(fields))
	}
	var n [3]uint16
	for i, f := range fields {
		v, err := strconv.ParseUint(f, 0, 16)
		if err != nil {
			return Model{}, fmt.Errorf("CPU model %q: %q is no number below 65536", s, f)
		}
		n[i] = uint16(v)
	}
	return Model{n[0], n[1], n[2]}, nil
}

// BadPackets names the known defects of m by which bytes of its trace are no packets, each
// with what it does. The Decoder works around them.
func (m Model) BadPackets() (list []string) {
	e := Config{Model: m}.errata()
	if e.SKD007 {
		list = append(list, "SKD007: an overflow packet inside of a cycle count")
	}
	if e.SKZ84 {
		list = append(list, "SKZ84: a stray byte behind a guest's TMA packet")
	}
	return list
}

// errata are the defects of a processor's trace that decoding must know of.
// They are named as the first specification update that lists them does; the
// comments name later ones. The Decoder works around those of the first group,
// but for NextIP, which it marks, and SKL168, which needs nothing done. NextIP,
// BDM64, SKD022 and SKL014 need the code that was traced: the walker works
// around them, told by FlagNextIP and by Config.Rules.
type errata struct {
	// BDM70 (SKD024, SKL021, KBL021): the PSB+ before a TIP.PGE may hold a FUP
	// and MODE.Exec though tracing is off.
	BDM70 bool
	// SKD007 (SKL049, KBL041): an OVF may replace the bytes of a CYC from its
	// second on.
	SKD007 bool
	// SKD010 (SKD014, SKL033, KBL030): the FUP or TIP.PGE after an OVF may be
	// missing. The Decoder recovers from that on every processor. On these alone it
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
	has    errata
}

// errataTable lists the processors with known defects: the specification
// updates of Intel's processor generations, as the Intel PT decoder library
// applies them (libipt v2.1, pt_config.c) and Linux does
// (tools/perf/util/intel-pt.c, v6.12).
func errataTable() [9]erratum {
	return [...]erratum{
		{6, []uint16{0x3d, 0x47, 0x4f, 0x56}, errata{BDM70: true, BDM64: true}},
		{6, []uint16{0x4e, 0x5e, 0x8e, 0x9e, 0xa5, 0xa6},
			errata{BDM70: true, SKD007: true, SKD010: true, SKD022: true, SKL014: true, SKL168: true}},
		{6, []uint16{0x55, 0x6a, 0x6c}, errata{BDM70: true, SKL014: true, SKD022: true, SKZ84: true}},
		{6, []uint16{0x8f, 0xcf, 0xad, 0xae}, errata{BDM70: true, SKD022: true, SKZ84: true}},
		{6, []uint16{0x66, 0x7d, 0x7e, 0x8c, 0x8d, 0xa7, 0xa8},
			errata{BDM70: true, SKL014: true, SKD022: true}},
		{6, []uint16{0x97, 0x9a, 0xba, 0xb7, 0xbf, 0xc5, 0xc6, 0xb5, 0xaa, 0xac, 0xbd, 0xcc, 0xd5},
			errata{BDM70: true, SKD022: true, APL11: true}},
		{6, []uint16{0x7a, 0x86, 0x96, 0x9c, 0xb6, 0xaf, 0xdd}, errata{APL11: true}},
		{0x12, []uint16{0x01, 0x03}, errata{BDM70: true, SKD022: true, APL11: true}},
		{0x13, []uint16{0x01}, errata{BDM70: true, SKD022: true, SKZ84: true}},
	}
}

// errata returns the defects of c's processor.
func (c Config) errata() errata {
	m := c.Model
	switch {
	case m.Family == 6 && m.Model == 0x5c:
		return errata{APL11: true, APL12: true, NextIP: true}
	case m.Family == 6 && m.Model == 0x5f:
		return errata{APL11: true, APL12: true}
	}
	for _, e := range errataTable() {
		if e.family != m.Family {
			continue
		}
		for _, n := range e.models {
			if n == m.Model {
				return e.has
			}
		}
	}
	return errata{}
}
