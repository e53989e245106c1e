package pt

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Config is what a recording's packets leave out: how the trace unit was set up and
// which processor it sat in. The zero value decodes any trace: no errata are worked
// around, and returns are taken to be compressed. Time comes from TSC packets alone
// and is given in ticks taken as nanoseconds.
//
// The bits named are those of IA32_RTIT_CTL: Intel SDM, volume 3C, chapter
// "Intel Processor Trace", section "IA32_RTIT_CTL MSR".
type Config struct {
	// Model is the processor, which decides the errata that are worked around.
	Model Model

	// TSC, MTC and CYC say which timing packets were asked for: TSCEn (bit 10),
	// MTCEn (bit 9), CYCEn (bit 1). The decoder does not look at them, and reads every
	// timing packet that comes. They are for callers that describe a recording. A caller
	// that trusts them leaves CTCNum at 0 without MTC, and MaxNonTurboRatio without CYC.
	TSC, MTC, CYC bool

	// MTCFreq is N, 0..15: an MTC comes every 2^N ticks of the crystal clock
	// (MTCFreq, bits 17..14).
	MTCFreq uint8

	// CTCNum / CTCDen is the number of TSC ticks in one of the crystal clock:
	// CPUID.15H:EBX and EAX. Where either is 0, MTC packets tell no time.
	CTCNum, CTCDen uint32

	// MaxNonTurboRatio is MSR_PLATFORM_INFO[15:8], the TSC's frequency in units
	// of the bus clock. Where it is 0, CYC packets tell no time.
	MaxNonTurboRatio uint8

	// NoRETComp: returns are not compressed, each has a TIP (DisRETC, bit 11).
	NoRETComp bool

	// NoTNT: conditional branches are not traced (DisTNT, bit 55).
	NoTNT bool

	// EventTrace: CFE and EVD packets were asked for, and MODE.Exec tells
	// whether interrupts are enabled (EventEn, bit 31).
	EventTrace bool

	// TimeConv turns TSC ticks into nanoseconds of the recording's clock.
	TimeConv event.TimeConv

	// NearTSC is a TSC value within 2^55 ticks of the recording. A TSC packet
	// holds bits 55..0 only; the others are chosen to be nearest to it.
	NearTSC uint64

	// Ahead makes the decoder look ahead for the timing packet that follows an
	// event, so that event.Event.Time has the nearest upper bound that the trace states.
	// Without it the bound is the segment's.
	Ahead bool
}

// stackDepth is the number of return addresses that a decoder keeps. Intel
// SDM, section "Indirect Transfer Compression for Returns (RET)".
const stackDepth = 64

// Rules says which instructions spend an outcome, how returns are found, and which errata the
// walker must work around. Intel SDM, sections "Taken/Not-taken (TNT) Packet" and "Indirect
// Transfer Compression for Returns (RET)".
func (c Config) Rules() isa.Rules {
	er := c.errata()
	r := isa.Rules{
		Waypoints: isa.Set(isa.Cond), NoOutcomes: c.NoTNT,
		Returns: isa.ReturnsCompressed, Stack: stackDepth,
		EntrySource: er.SKD022, AbortElsewhere: er.BDM64,
	}
	if c.NoRETComp {
		r.Returns = isa.ReturnsByTarget
	}
	return r
}
