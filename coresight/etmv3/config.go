package etmv3

import (
	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Config is what a stream's packets leave out. The Protocol of its Trace is ETMv3.
type Config coresight.DecoderConfig

// Format returns what the lengths of packets depend on.
func (c *Config) Format() Format {
	r := &c.Trace.V3
	return Format{
		CycleAccurate: r.CycleAccurate(), ContextBytes: uint8(r.ContextIDBytes()), TS64: c.Trace.WideTimestamps(),
		Alternative: r.AlternativeBranches(), DataValues: r.DataValues(), DataAddresses: r.DataAddresses(), DataOnly: r.DataOnly(),
	}
}

// mProfile reports whether the traced core is of profile M, whose exceptions
// have other numbers.
func (c *Config) mProfile() bool { return c.Trace.Arch.Profile == 'M' }

// Rules says which instructions spend an outcome, every one, and how returns
// are found: by branch packets. IHI0014Q, "P-headers", "Branch Packets".
func (c *Config) Rules() isa.Rules {
	return isa.Rules{
		Waypoints:         1<<isa.NumClasses - 1,
		Syncs:             isa.Set(isa.Barrier, isa.FarReturn),
		AlwaysConditional: 1<<isa.ModeA32 | 1<<isa.ModeT32,
		Returns:           isa.ReturnsByTarget,
	}
}
