package snapshot

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/ptdecode/ptdecode/coresight"
)

// Unit reads the configuration of an ETMv4 or ETE whose trace lies alone in a file, out of
// text called name, for messages. text is the ini file of a trace source: [device] with
// its type, [regs] with its registers. It may also be the registers alone, NAME=value, with
// commas or new lines between. A type that is not said is ETE where TRCDEVARCH or TRCIDR1
// say so, else ETM4. core=Cortex-A57 or core=ARMv8.1-A says which core was traced; without
// it, its version is taken from the trace unit's. id is the trace ID, which TRCTRACEIDR says
// where it is 0.
func Unit(name string, text []byte, id uint8) (coresight.Config, error) {
	if !bytes.Contains(text, []byte("[")) {
		text = append([]byte("[regs]\n"), bytes.ReplaceAll(text, []byte(","), []byte("\n"))...)
	}
	s := &Snapshot{problems: map[string]int{}}
	f := s.parseIni(name, text)
	dev := Device{Name: "the unit", File: name, sections: f.sectionNames()}
	core := ""
	for i := range f.sections {
		sec := &f.sections[i]
		if e, ok := sec.find("core"); ok {
			core = e.value
		}
		switch sec.name {
		case "device":
			if e, ok := sec.find("type"); ok {
				dev.Type, dev.typeLine = e.value, e.line
			}
		case "regs":
			s.readRegisters(f, sec, &dev)
		}
	}
	if id != 0 { // in front: the first counts
		dev.Registers = append([]Register{{Name: "TRCTRACEIDR", Value: uint64(id), OK: true}}, dev.Registers...)
	}
	if dev.Type == "" {
		dev.Type = dev.unitType()
	}
	c := coresight.Config{Protocol: protocolOf(dev.Type), Arch: coresight.Arch{Major: 8, Profile: 'A'}}
	if c.Protocol != coresight.ETMv4 && c.Protocol != coresight.ETE {
		return c, fmt.Errorf("%s: type %s, need ETM4 or ETE", name, quote(dev.Type))
	}
	good := s.registers(&dev, fields(&c))
	for _, p := range s.Problems {
		return c, fmt.Errorf("%s", strings.TrimSuffix(p.String(), ": left out"))
	}
	if !good {
		return c, fmt.Errorf("%s: registers are missing", name)
	}
	c.ID = c.ConfiguredID()
	c.Arch.AA64 = c.Protocol == coresight.ETE || c.AtLeast(4, 4)
	if core != "" {
		var known bool
		if c.Arch, known = coresight.ArchOf(core); !known {
			return c, fmt.Errorf("%s: core=%s, whose architecture is not known: name one such as Cortex-A53, or ARMv8-A", name, quote(core))
		}
	}
	if err := c.Validate(); err != nil {
		return c, fmt.Errorf("%s: %w", name, err)
	}
	return c, nil
}

// unitType is the type of a trace source by its registers. An ETE says version 5 in
// TRCDEVARCH, bits 15 to 12, and 15 in TRCIDR1, bits 11 to 8 (DDI0487).
func (d *Device) unitType() string {
	if r, ok := d.Register("TRCDEVARCH"); ok && r.Value>>12&0xf == 5 {
		return "ETE"
	}
	if r, ok := d.Register("TRCIDR1"); ok && r.Value>>8&0xf == 0xf {
		return "ETE"
	}
	return "ETM4"
}
