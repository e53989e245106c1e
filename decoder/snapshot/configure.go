package snapshot

import (
	"strings"

	"github.com/ptdecode/ptdecode/coresight"
)

// protocols are the types of trace sources, up to the version behind a dot.
var protocols = map[string]coresight.Protocol{
	"ETM4": coresight.ETMv4, "ETE": coresight.ETE, "ETM3": coresight.ETMv3,
	"PTM1": coresight.PTM, "PFT1": coresight.PTM, "STM": coresight.STM, "ITM": coresight.ITM,
}

// protocolOf returns what a source of a type speaks.
func protocolOf(typ string) coresight.Protocol {
	name, _, _ := strings.Cut(typ, ".")
	return protocols[strings.ToUpper(name)]
}

// field is a register that a configuration needs.
type field struct {
	to       *uint32
	names    []string // the first is the one to name
	optional bool
	missing  uint32 // its value where it is not given
}

// Values of registers that a snapshot may leave out, as other decoders take
// them: an ETMv4.0, and an ETE 1.0.
const (
	defaultIDR1    = 0x4100F403
	defaultDEVARCH = 0x47705A13
)

// fields returns the registers that a protocol's configuration is made of.
func fields(c *coresight.Config) []field {
	v4, v3 := &c.V4, &c.V3
	switch c.Protocol {
	case coresight.ETMv4, coresight.ETE:
		list := []field{
			{to: &v4.CONFIGR, names: []string{"TRCCONFIGR"}},
			{to: &v4.TRACEIDR, names: []string{"TRCTRACEIDR"}},
			{to: &v4.IDR0, names: []string{"TRCIDR0"}},
			{to: &v4.IDR1, names: []string{"TRCIDR1"}, optional: true, missing: defaultIDR1},
			{to: &v4.IDR2, names: []string{"TRCIDR2"}},
			{to: &v4.IDR8, names: []string{"TRCIDR8"}, optional: true},
		}
		if c.Protocol == coresight.ETE {
			list = append(list, field{to: &v4.DEVARCH, names: []string{"TRCDEVARCH"}, optional: true, missing: defaultDEVARCH})
		}
		return list
	case coresight.ETMv3, coresight.PTM:
		return []field{
			{to: &v3.CR, names: []string{"ETMCR"}},
			{to: &v3.TRACEIDR, names: []string{"ETMTRACEIDR"}},
			{to: &v3.CCER, names: []string{"ETMCCER"}},
			{to: &v3.IDR, names: []string{"ETMIDR"}},
		}
	case coresight.STM:
		return []field{{to: &c.STM.TCSR, names: []string{"STMTCSR"}}}
	case coresight.ITM:
		return []field{{to: &c.ITM.TCR, names: []string{"ITMTCR", "CONTROL_REGISTER"}}}
	}
	return nil
}

// configure makes a source's configuration from its device and its core, and
// notes what keeps it from being usable. to is its entry in [source_buffers].
func (s *Snapshot) configure(f *iniFile, src *Source, to entry, dev *Device, cores map[string]entry) {
	c := &src.Config
	c.Protocol = protocolOf(dev.Type)
	if c.Protocol == coresight.NoProtocol {
		s.problem(dev.File, dev.typeLine, "known are ETM4, ETE, ETM3, PTM1, PFT1, STM and ITM, with a version behind a dot (ETM4.2)",
			"%s is of type %s, which is no known trace source: left out", dev.Name, quote(dev.Type))
		return
	}
	good := s.registers(dev, fields(c))
	c.ID = c.ConfiguredID()
	core, watched := cores[src.Name]
	if watched {
		src.Core = core.key
	}
	if c.Protocol.Instructions() {
		good = s.watch(f, src, to, core, watched) && good
	}
	if !good {
		return
	}
	if err := c.Validate(); err != nil {
		s.problem(dev.File, dev.lineOf(err), "check the registers in [regs] and the type", "%s: %v: left out", dev.Name, err)
		return
	}
	src.Usable = true
}

// IDPlace returns where a source's trace ID stands, as FILE:LINE.
func (s *Snapshot) IDPlace(src *Source) string {
	return Problem{File: src.File, Line: s.idLine(src)}.place()
}

// idLine is the line of the register that gives a source its trace ID, in the
// ini of its device; 0: there is none.
func (s *Snapshot) idLine(src *Source) int {
	dev, ok := s.Device(src.Name)
	if !ok {
		return 0
	}
	for _, name := range []string{"TRCTRACEIDR", "ETMTRACEIDR", "STMTCSR", "ITMTCR", "CONTROL_REGISTER"} {
		if r, ok := dev.Register(name); ok {
			return r.Line
		}
	}
	return 0
}

// lineOf is the line of the register that an error of its configuration names;
// 0: none.
func (d *Device) lineOf(err error) int {
	for _, word := range strings.Fields(err.Error()) {
		if r, ok := d.Register(word); ok {
			return r.Line
		}
	}
	return 0
}

// registers fills in a configuration's registers.
func (s *Snapshot) registers(dev *Device, list []field) bool {
	good := true
	for _, x := range list {
		var r *Register
		found := false
		for _, name := range x.names {
			if r, found = dev.Register(name); found {
				break
			}
		}
		switch {
		case !found && x.optional:
			*x.to = x.missing
		case !found:
			s.problem(dev.File, dev.typeLine, "read it from the trace unit and add it to [regs]; "+dev.sections,
				"%s has no register %s, which a source of type %s needs: left out", dev.Name, x.names[0], dev.Type)
			good = false
		case !r.OK || r.Value > 1<<32-1:
			s.problem(dev.File, r.Line, "write a decimal number or 0x and hexadecimal digits",
				"%s: %s=%s is no number of 32 bits: left out", dev.Name, r.Name, quote(r.Text))
			good = false
		default:
			*x.to = uint32(r.Value)
		}
	}
	return good
}

// watch finds the architecture of the core that a source watches.
func (s *Snapshot) watch(f *iniFile, src *Source, to, core entry, watched bool) bool {
	if !watched {
		s.problem(f.name, to.line, "add core="+src.Name+" to [core_trace_sources]", "no core is traced by %s (%s): left out", src.Name, src.Type)
		return false
	}
	dev, ok := s.Device(core.key)
	if !ok {
		s.problem(f.name, core.line, "add the core's ini file to [device_list] of snapshot.ini, or correct the name",
			"[core_trace_sources]: no device is called %s: %s is left out", core.key, src.Name)
		return false
	}
	if !dev.Arch.Known() {
		s.problem(dev.File, dev.typeLine, "name a core such as Cortex-A53, or the architecture: ARMv8-A, ARMv8.1-M, ARMv7-A, ARM-AA64",
			"%s is of type %s, whose architecture is not known: %s is left out", dev.Name, quote(dev.Type), src.Name)
		return false
	}
	src.Config.Arch = dev.Arch
	return true
}
