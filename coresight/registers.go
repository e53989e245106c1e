package coresight

import "fmt"

// ETMv4Registers are the registers of an ETMv4 or ETE trace unit that decide
// what its packets mean (IHI0064, chapter "Register Descriptions"; DDI0487,
// "ETE registers"). Fields bear the registers' names without TRC. The zero value is no
// trace unit's: Config.Validate refuses it.
type ETMv4Registers struct {
	CONFIGR  uint32 // what is traced
	TRACEIDR uint32 // trace ID, bits 6..0
	IDR0     uint32 // what is implemented
	IDR1     uint32 // version
	IDR2     uint32 // sizes
	IDR8     uint32 // greatest speculation depth, P0 elements
	DEVARCH  uint32 // architecture: ETE's version
}

func bit(v uint32, n uint) bool { return v>>n&1 != 0 }

// LoadsP0 reports whether loads are P0 instructions: such as have an atom each, as branches
// do (TRCCONFIGR.INSTP0, TRCIDR0.INSTP0).
func (r *ETMv4Registers) LoadsP0() bool { return r.IDR0&6 == 6 && bit(r.CONFIGR, 1) }

// StoresP0 reports whether stores are P0 instructions (TRCCONFIGR.INSTP0,
// TRCIDR0.INSTP0).
func (r *ETMv4Registers) StoresP0() bool { return r.IDR0&6 == 6 && bit(r.CONFIGR, 2) }

// CycleCounts reports whether cycles are counted (TRCCONFIGR.CCI).
func (r *ETMv4Registers) CycleCounts() bool { return bit(r.CONFIGR, 4) }

// ContextIDs reports whether context IDs are traced (TRCCONFIGR.CID).
func (r *ETMv4Registers) ContextIDs() bool { return bit(r.CONFIGR, 6) }

// VMIDs reports whether virtual context IDs are traced (TRCCONFIGR.VMID).
func (r *ETMv4Registers) VMIDs() bool { return bit(r.CONFIGR, 7) }

// Conditionals reports whether conditional instructions other than branches
// are traced (TRCCONFIGR.COND, where TRCIDR0.TRCCOND says that they can be).
func (r *ETMv4Registers) Conditionals() bool { return bit(r.IDR0, 6) && r.CONFIGR>>8&7 != 0 }

// Timestamps reports whether timestamps are traced (TRCCONFIGR.TS).
func (r *ETMv4Registers) Timestamps() bool { return bit(r.CONFIGR, 11) }

// ReturnStack reports whether the trace unit leaves out targets that a return
// stack predicts (TRCCONFIGR.RS).
func (r *ETMv4Registers) ReturnStack() bool { return bit(r.CONFIGR, 12) }

// QElements reports whether Q elements may come (TRCCONFIGR.QE).
func (r *ETMv4Registers) QElements() bool { return r.CONFIGR>>13&3 != 0 }

// DataTrace reports whether data addresses or values are traced
// (TRCCONFIGR.DA, DV) in a stream of their own.
func (r *ETMv4Registers) DataTrace() bool { return r.IDR0&0x18 == 0x18 && r.CONFIGR>>16&3 != 0 }

// HasQElements reports whether the trace unit can send Q packets
// (TRCIDR0.QSUPP).
func (r *ETMv4Registers) HasQElements() bool { return r.IDR0>>15&3 != 0 }

// TimestampMarkers reports whether timestamps belong to the newest timestamp
// marker (TRCIDR0.TSMARK, from ETE 1.1).
func (r *ETMv4Registers) TimestampMarkers() bool { return bit(r.IDR0, 23) }

// CommitInCounts reports whether cycle count packets commit P0 elements:
// TRCIDR0.COMMOPT 0, or no cycle counting at all (TRCIDR0.TRCCCI).
func (r *ETMv4Registers) CommitInCounts() bool { return !(bit(r.IDR0, 29) && bit(r.IDR0, 7)) }

// TransactionsP0 reports whether a Transaction Start element is a P0 element
// (TRCIDR0.COMMTRANS 0).
func (r *ETMv4Registers) TransactionsP0() bool { return !bit(r.IDR0, 30) }

// MaxSpec is how many P0 elements may be uncommitted at once (TRCIDR8).
func (r *ETMv4Registers) MaxSpec() uint32 { return r.IDR8 }

// archVersion is TRCDEVARCH.ARCHVER: 4 for ETMv4, 5 for ETE.
func (r *ETMv4Registers) archVersion() uint8 { return uint8(r.DEVARCH >> 12 & 0xF) }

func (r *ETMv4Registers) validate(name string) error {
	if r.DataTrace() {
		return fmt.Errorf("%s: TRCCONFIGR 0x%08x has data tracing on (bits 17, 16), which is not decoded", name, r.CONFIGR)
	}
	if r.LoadsP0() || r.StoresP0() {
		return fmt.Errorf("%s: TRCCONFIGR 0x%08x has loads or stores traced as branches are (INSTP0, bits 2 and 1), which is not decoded", name, r.CONFIGR)
	}
	if q := r.CONFIGR >> 8 & 7; bit(r.IDR0, 6) && q > 3 && q != 7 {
		return fmt.Errorf("%s: TRCCONFIGR 0x%08x: COND (bits 10 to 8) is %d, a reserved value", name, r.CONFIGR, q)
	}
	return nil
}

// ContextIDBytes returns the size of a context ID in packets, bytes: 0 or 4.
// An ETE always has 4, an ETMv4 says it in TRCIDR2.CIDSIZE.
func (c *Config) ContextIDBytes() int {
	if c.Protocol == ETE || c.V4.IDR2>>5&0x1F == 4 {
		return 4
	}
	return 0
}

// VMIDBytes returns the size of a virtual context ID in packets, bytes: 0, 1, 2
// or 4, as TRCIDR2.VMIDSIZE says; sizes over 1 came with ETMv4.1. An ETE has 4,
// and says so (DDI0487, "TRCIDR2"): one that says 1 or 2 is an ETMv4 that is
// called an ETE, whose packets are as it says.
func (c *Config) VMIDBytes() int {
	n := int(c.V4.IDR2 >> 10 & 0x1F)
	switch {
	case c.Protocol == ETE && n == 0:
		return 4
	case n == 1, (n == 2 || n == 4) && c.AtLeast(4, 1):
		return n
	}
	return 0
}

// WaitsP0 reports whether WFI and WFE are P0 instructions (TRCIDR2.WFXMODE,
// from ETMv4.3).
func (c *Config) WaitsP0() bool { return bit(c.V4.IDR2, 31) && c.AtLeast(4, 3) }

// ETMv3Registers are the registers of an ETMv3 or PTM trace unit that decide
// what its packets mean (IHI0014Q, IHI0035B, chapters on the programmers'
// model). Fields bear the registers' names without ETM.
type ETMv3Registers struct {
	CR       uint32 // what is traced
	TRACEIDR uint32 // trace ID, bits 6..0
	CCER     uint32 // what is implemented
	IDR      uint32 // version
}

// CycleAccurate reports whether packets count cycles (ETMCR.CycleAccurate).
func (r *ETMv3Registers) CycleAccurate() bool { return bit(r.CR, 12) }

// DataOnly reports whether instructions are not traced (ETMv3 ETMCR bit 20).
func (r *ETMv3Registers) DataOnly() bool { return bit(r.CR, 20) }

// DataValues reports whether data values are traced (ETMv3 ETMCR bit 2).
func (r *ETMv3Registers) DataValues() bool { return bit(r.CR, 2) }

// DataAddresses reports whether data addresses are traced (ETMv3 ETMCR bit 3).
func (r *ETMv3Registers) DataAddresses() bool { return bit(r.CR, 3) }

// ContextIDBytes returns the size of a context ID in packets, bytes: 0, 1, 2 or
// 4 (ETMCR.ContextIDSize, bits 15..14).
func (r *ETMv3Registers) ContextIDBytes() int { return [4]int{0, 1, 2, 4}[r.CR>>14&3] }

// Timestamps reports whether timestamps are traced (ETMCR bit 28).
func (r *ETMv3Registers) Timestamps() bool { return bit(r.CR, 28) }

// ReturnStack reports whether a PTM leaves out targets that a return stack
// predicts: ETMCR bit 29, where ETMCCER bit 23 says that there is one. perf makes
// ETMCR of what was asked for, which the kernel leaves out where there is none.
func (r *ETMv3Registers) ReturnStack() bool { return bit(r.CR, 29) && bit(r.CCER, 23) }

// VMIDs reports whether VMIDs are traced (ETMCR bit 30).
func (r *ETMv3Registers) VMIDs() bool { return bit(r.CR, 30) }

// BarriersAreWaypoints reports whether DMB and DSB are waypoints of a PTM
// (ETMCCER bit 24).
func (r *ETMv3Registers) BarriersAreWaypoints() bool { return bit(r.CCER, 24) }

// minor is the minor version of the architecture (ETMIDR bits 7..4).
func (r *ETMv3Registers) minor() uint32 { return r.IDR >> 4 & 0xF }

// AlternativeBranches reports whether an ETMv3 writes branch packets in the
// alternative encoding (ETMIDR bit 20, from ETMv3.4).
func (r *ETMv3Registers) AlternativeBranches() bool { return bit(r.IDR, 20) && r.minor() >= 4 }

// NaturalTimestamps reports whether timestamps are natural binary numbers and
// not Gray codes (ETMCCER bit 28; of a PTM from PFT 1.1 on).
func (c *Config) NaturalTimestamps() bool {
	return bit(c.V3.CCER, 28) && (c.Protocol == ETMv3 || c.V3.minor() > 0)
}

// WideTimestamps reports whether timestamps have 64 bits and not 48 (ETMCCER
// bit 29; of a PTM from PFT 1.1 on).
func (c *Config) WideTimestamps() bool {
	return bit(c.V3.CCER, 29) && (c.Protocol == ETMv3 || c.V3.minor() > 0)
}

// STMRegisters are the registers of an STM that decide what its packets mean
// (IHI0054, chapter "Programmers' model").
type STMRegisters struct {
	TCSR uint32 // STMTCSR: trace ID, bits 22..16
}

// Timestamps reports whether timestamps are traced (STMTCSR.TSEN).
func (r *STMRegisters) Timestamps() bool { return bit(r.TCSR, 1) }

// ITMRegisters are the registers of an ITM that decide what its packets mean
// (DDI0403, "Trace Control Register, ITM_TCR").
type ITMRegisters struct {
	TCR uint32 // ITM_TCR: trace ID, bits 22..16
}

// TimestampPrescale returns what a local timestamp's count is to be multiplied
// with: 1, 4, 16 or 64 (ITM_TCR.TSPrescale, where SWOENA says that the clock is
// the trace port's).
func (r *ITMRegisters) TimestampPrescale() uint32 {
	if !bit(r.TCR, 4) {
		return 1
	}
	return 1 << (2 * (r.TCR >> 8 & 3))
}
