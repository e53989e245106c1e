package snapshot

import (
	"path"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/coresight"
)

// Device is a core, a trace source or another part, as its ini file describes
// it.
type Device struct {
	Name     string
	Class    string // "core", "trace_source", ...
	Type     string // "Cortex-A53", "ETM4.2", ...
	Location string
	File     string // its ini, relative to the snapshot's directory

	// Arch is a core's architecture, if its type tells.
	Arch coresight.Arch

	Registers []Register

	typeLine int
	sections string // their names, for hints
}

// Register is a register's value.
type Register struct {
	Name  string // without what stands in brackets behind it
	Text  string // the value as written
	Value uint64
	OK    bool   // Value is Text read as a number
	Bits  uint64 // its size in bits, where the ini says
	Line  int
}

// Register returns the first register of a name, whose case does not matter.
func (d *Device) Register(name string) (*Register, bool) {
	for i := range d.Registers {
		if strings.EqualFold(d.Registers[i].Name, name) {
			return &d.Registers[i], true
		}
	}
	return nil, false
}

// maxDevices bounds how many ini files of devices are read.
const maxDevices = 1024

// readDevice reads the ini file that an entry of [device_list] names.
func (s *Snapshot) readDevice(from *iniFile, e entry) {
	switch name := path.Clean(e.value); {
	case e.value == "":
		s.problem(from.name, e.line, "name its ini file", "[device_list]: device %s names no file: left out", e.key)
		return
	case s.read[name]:
		s.problem(from.name, e.line, "take one of them off the list", "[device_list]: device %s: %s is listed already: left out", e.key, quote(e.value))
		return
	case len(s.read) >= maxDevices:
		s.problem(from.name, e.line, "leave out devices that are not traced", "[device_list]: device %s: more than %d devices: left out", e.key, maxDevices)
		return
	default:
		s.read[name] = true
	}
	f, why, hint := s.ini(e.value)
	if f == nil {
		s.problem(from.name, e.line, hint, "[device_list]: device %s: %s: left out", e.key, why)
		return
	}
	secs := f.all("device")
	if len(secs) == 0 {
		s.problem(f.name, 0, "add [device] with name, class and type", "it has no section [device]: left out; %s", f.sectionNames())
		return
	}
	if len(secs) > 1 {
		s.problem(f.name, secs[1].line, "keep one of them", "[device] stands here and in line %d: the first is taken", secs[0].line)
	}
	got := s.once(f, secs[0], false, "name", "class", "type", "location")
	d := Device{
		Name: got["name"].value, Class: got["class"].value, Type: got["type"].value,
		Location: got["location"].value, File: f.name, typeLine: got["type"].line, sections: f.sectionNames(),
	}
	if d.typeLine == 0 {
		d.typeLine = secs[0].line
	}
	if d.Name == "" {
		s.problem(f.name, secs[0].line, "add name=, as trace.ini calls it", "[device] has no name: left out")
		return
	}
	if other, dup := s.Device(d.Name); dup {
		s.problem(f.name, got["name"].line, "give each device a name of its own", "device %s is described in %s too: left out", d.Name, other.File)
		return
	}
	d.Arch, _ = coresight.ArchOf(d.Type)
	for i := range f.sections {
		switch sec := &f.sections[i]; {
		case sec.name == "regs":
			s.readRegisters(f, sec, &d)
		case strings.HasPrefix(sec.name, "dump"):
			s.readDump(f, sec, d.Name)
		}
	}
	s.index.devices[d.Name] = len(s.Devices)
	s.Devices = append(s.Devices, d)
}

// readRegisters reads a section [regs]: NAME=value, NAME(id)=value or
// NAME(id:N,size:bits)=value, and notes those of which another value stands
// above: the first is what the register holds. A core's decide nothing.
func (s *Snapshot) readRegisters(f *iniFile, sec *section, d *Device) {
	first := map[string]entry{}
	d.Registers = slices.Grow(d.Registers, len(sec.entries))
	for _, e := range sec.entries {
		r := Register{Name: e.key, Text: e.value, Line: e.line}
		if name, rest, ok := strings.Cut(e.key, "("); ok {
			r.Name = strings.TrimSpace(name)
			for _, attr := range list(strings.TrimSuffix(strings.TrimSpace(rest), ")")) {
				if bits, ok := strings.CutPrefix(attr, "size:"); ok {
					r.Bits, _ = number(strings.TrimSpace(bits))
				}
			}
		}
		if d.Class != "core" {
			key := strings.ToLower(r.Name)
			if other, dup := first[key]; !dup {
				first[key] = e
			} else if other.value != e.value {
				s.problem(f.name, e.line, "keep one of them", "[%s]: %s stands here and in line %d: the first is taken", sec.name, r.Name, other.line)
			}
		}
		r.Value, r.OK = number(e.value)
		d.Registers = append(d.Registers, r)
	}
}

// readDump reads a section [dump...] of a core.
func (s *Snapshot) readDump(f *iniFile, sec *section, core string) {
	got := s.once(f, sec, true, "file", "address", "length", "offset", "space")
	d := Dump{Core: core, File: got["file"].value, Space: Any, Ini: f.name, Line: sec.line}
	if d.File == "" {
		s.problem(f.name, sec.line, "add file=", "[%s] names no file: left out", sec.name)
		return
	}
	num := func(key string) (v uint64, ok bool) {
		e, there := got[key]
		if !there {
			return 0, key != "address"
		}
		if v, ok = number(e.value); !ok {
			s.problem(f.name, e.line, "write a decimal number or 0x and hexadecimal digits",
				"[%s]: %s=%s is no number of 64 bits: left out", sec.name, key, quote(e.value))
			return 0, false
		}
		return v, true
	}
	address, ok := num("address")
	if _, there := got["address"]; !there {
		s.problem(f.name, sec.line, "add address=, where in memory the dump starts", "[%s] has no address: left out", sec.name)
	}
	length, ok1 := num("length")
	off, ok2 := num("offset")
	if !ok || !ok1 || !ok2 {
		return
	}
	if e, there := got["space"]; there {
		if d.Space, ok = spaces[e.value]; !ok {
			d.Space = Any
			s.problem(f.name, e.line, "known are EL1S EL1N EL1R EL2S EL2N EL2R EL3 ROOT S N R ANY, and the older EL2 H P NP SP",
				"[%s]: space %s is not known: taken as ANY", sec.name, quote(e.value))
		}
	}
	d.Address = address
	_, sized := got["length"]
	s.placeDump(d, off, length, sized && length > 0, got["file"].line)
}

// maxMemory bounds how much of all dumps is read, bytes: files may have holes
// and be larger than any memory.
const maxMemory = 4 << 30

// placeDump finds out how much of a dump its file holds.
func (s *Snapshot) placeDump(d Dump, off, length uint64, sized bool, line int) {
	size, err := s.files.size(d.File)
	if err != nil {
		key := Dump{File: d.File, Address: d.Address}
		if s.dumps[key] {
			return // said of another core
		}
		s.dumps[key] = true
		what, hint := missing(s.files, d.File, err)
		s.problem(d.Ini, line, hint, "memory at 0x%x: %s: code there cannot be followed", d.Address, what)
		return
	}
	if off > uint64(size) || off == uint64(size) && size > 0 {
		s.problem(d.Ini, line, "the file may have been cut short: copy it again", "memory at 0x%x: offset 0x%x lies beyond %s, which has 0x%x bytes: left out",
			d.Address, off, quote(d.File), size)
		return
	}
	rest := uint64(size) - off
	if !sized {
		length = rest
	}
	key := Dump{File: d.File, Address: d.Address, Off: int64(off), Length: int64(length), Space: d.Space}
	if s.dumps[key] {
		return // another core sees the same, and what is wrong with it has been said
	}
	s.dumps[key] = true
	if length > rest {
		s.problem(d.Ini, line, "the file may have been cut short: copy it again", "memory at 0x%x: 0x%x bytes from offset 0x%x, but %s has 0x%x: the rest is unknown",
			d.Address, length, off, quote(d.File), size)
		length = rest
	}
	if length > s.memory {
		s.problem(d.Ini, line, "dump less, or give what matters with --text FILE@ADDR", "memory at 0x%x: 0x%x bytes of %s, but of all dumps at most 0x%x bytes are read: the rest is unknown",
			d.Address, length, quote(d.File), uint64(maxMemory))
		length = s.memory
	}
	s.memory -= length
	if length > 0 && d.Address+length-1 < d.Address {
		s.problem(d.Ini, line, "correct address or length", "memory at 0x%x: 0x%x bytes reach over the end of the address space: cut there", d.Address, length)
		length = -d.Address
	}
	d.Off, d.Length = int64(off), int64(length)
	s.Dumps = append(s.Dumps, d)
}
