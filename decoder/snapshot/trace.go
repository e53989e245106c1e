package snapshot

import (
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/coresight"
)

// readTrace reads the ini file of the trace: buffers, which sources write to
// them, and which cores the sources watch.
func (s *Snapshot) readTrace(from *iniFile, metadata entry) {
	f, why, hint := s.ini(metadata.value)
	if f == nil {
		s.problem(from.name, metadata.line, hint, "[trace]: metadata: %s: the snapshot has no trace", why)
		return
	}
	s.readBuffers(f)
	cores := s.readCores(f)
	for _, sec := range f.all("source_buffers") {
		for _, e := range sec.entries {
			s.readSource(f, e, cores)
		}
	}
	for _, sec := range f.all("timestamp") {
		if e, ok := sec.find("frequency"); ok {
			if s.TimestampFreq, ok = number(e.value); !ok {
				s.problem(f.name, e.line, "write it in Hz, as a decimal number", "[timestamp]: frequency %s is no number", quote(e.value))
			} else if s.TimestampFreq == 0 {
				s.problem(f.name, e.line, "write it in Hz, or leave it out", "[timestamp]: frequency 0: a tick is taken as a nanosecond")
			}
		}
	}
	for i := range s.Buffers {
		s.checkBuffer(f, i)
	}
}

// readBuffers reads [trace_buffers] and the sections that it names.
func (s *Snapshot) readBuffers(f *iniFile) {
	secs := f.all("trace_buffers")
	if len(secs) == 0 {
		s.problem(f.name, 0, "add [trace_buffers] with buffers=buffer0 and a section [buffer0]", "it has no section [trace_buffers]: the snapshot has no trace; %s", f.sectionNames())
		return
	}
	e, ok := s.once(f, secs[0], false, "buffers")["buffers"]
	if !ok {
		s.problem(f.name, secs[0].line, "add buffers=, the sections that describe them", "[trace_buffers] has no buffers: the snapshot has no trace")
		return
	}
	for _, title := range list(e.value) {
		found := f.all(title)
		if len(found) == 0 {
			s.problem(f.name, e.line, "add the section, or take it off the list", "[trace_buffers]: there is no section [%s]: left out; %s", title, f.sectionNames())
			continue
		}
		s.readBuffer(f, found[0])
	}
}

// portHead is how much of a trace port's recording is looked at to tell whether
// it has footers, bytes.
const portHead = 64 << 10

// maxBuffer bounds how much of a trace buffer is read, bytes: a file may have
// holes and be larger than any memory.
const maxBuffer = 1 << 30

// readBuffer reads a buffer's section.
func (s *Snapshot) readBuffer(f *iniFile, sec *section) {
	got := s.once(f, sec, false, "name", "file", "format")
	b := Buffer{Name: got["name"].value, File: got["file"].value, Format: got["format"].value, Framed: true, Line: sec.line}
	if b.Name == "" {
		b.Name = sec.name
		s.problem(f.name, sec.line, "add name=", "[%s] has no name: called as its section", sec.name)
	}
	if b.File == "" {
		s.problem(f.name, sec.line, "add file=", "[%s] names no file: left out", sec.name)
		return
	}
	if _, dup := s.Buffer(b.Name); dup {
		s.problem(f.name, sec.line, "give each buffer a name of its own", "[%s]: there is a buffer %s already: left out", sec.name, b.Name)
		return
	}
	switch b.Format {
	case "source_data":
		b.Framed = false
	case "coresight":
	case "dstream_coresight":
		b.Frames = coresight.FormatPort
	default:
		line := got["format"].line
		if line == 0 {
			line = sec.line
		}
		s.problem(f.name, line, "known are coresight (frames in memory), dstream_coresight (frames from a trace port) and source_data (one source, no frames)",
			"[%s]: format %s is not known: read as coresight", sec.name, quote(b.Format))
	}
	var err error
	if b.Size, err = s.files.size(b.File); err != nil {
		b.Missing = true
		what, hint := missing(s.files, b.File, err)
		s.problem(f.name, got["file"].line, hint, "buffer %s: %s: its trace cannot be decoded", b.Name, what)
	}
	if b.Size > maxBuffer {
		s.problem(f.name, got["file"].line, "split the file, and name each part as a buffer", "buffer %s: %s has %d bytes, at most %d are read: the rest is left out",
			b.Name, quote(b.File), b.Size, int64(maxBuffer))
		b.Size = maxBuffer
	}
	if b.Frames == coresight.FormatPort && !b.Missing {
		if head, err := s.files.read(b.File, 0, min(b.Size, portHead)); err == nil {
			b.Frames = coresight.PortFormat(head)
		}
	}
	s.index.buffers[b.Name] = len(s.Buffers)
	s.Buffers = append(s.Buffers, b)
}

// readCores reads [core_trace_sources]: which core a source watches.
func (s *Snapshot) readCores(f *iniFile) map[string]entry {
	cores := map[string]entry{} // by source; key: the core
	for _, sec := range f.all("core_trace_sources") {
		for _, e := range sec.entries {
			for _, source := range list(e.value) {
				if other, dup := cores[source]; dup && other.key != e.key {
					s.problem(f.name, e.line, "keep one of them", "[core_trace_sources]: %s watches %s and, in line %d, %s: the first is taken",
						source, e.key, other.line, other.key)
					continue
				}
				cores[source] = e
			}
		}
	}
	return cores
}

// readSource reads an entry of [source_buffers]: the buffers that a source
// writes to.
func (s *Snapshot) readSource(f *iniFile, e entry, cores map[string]entry) {
	dev, ok := s.Device(e.key)
	if !ok {
		s.problem(f.name, e.line, "add its ini file to [device_list] of snapshot.ini, or correct the name",
			"[source_buffers]: no device is called %s: left out", e.key)
		return
	}
	index, known := s.index.sources[e.key]
	if !known {
		index = len(s.Sources)
		s.index.sources[e.key] = index
		s.Sources = append(s.Sources, Source{Name: dev.Name, Type: dev.Type, File: dev.File})
		s.configure(f, &s.Sources[index], e, dev, cores)
	}
	for _, name := range list(e.value) {
		i, ok := s.index.buffers[name]
		if len(s.Buffers) == 0 {
			break // why there is none has been said
		}
		if !ok {
			s.problem(f.name, e.line, "name a buffer by its name=, as "+s.bufferNames(), "[source_buffers]: %s: there is no buffer %s", e.key, quote(name))
			continue
		}
		if b := &s.Buffers[i]; !slices.Contains(b.Sources, index) {
			b.Sources = append(b.Sources, index)
			s.Sources[index].Buffers = append(s.Sources[index].Buffers, i)
		}
	}
}

func (s *Snapshot) bufferNames() string {
	var names []string
	for _, b := range s.Buffers[:min(len(s.Buffers), 8)] {
		names = append(names, b.Name)
	}
	return strings.Join(names, ", ")
}

// partial returns how many bytes of a frame that is not whole a buffer has at
// its end. Those of a trace port may begin anywhere and are not counted.
func (b *Buffer) partial() int64 {
	if b.Framed && b.Frames == coresight.FormatMemory {
		return b.Size % 16
	}
	return 0
}

// checkBuffer looks whether a buffer can be told apart into sources.
func (s *Snapshot) checkBuffer(f *iniFile, i int) {
	b := &s.Buffers[i]
	switch {
	case len(b.Sources) == 0:
		s.problem(f.name, b.Line, "add its sources to [source_buffers]: source="+b.Name, "buffer %s has no source: what it holds cannot be decoded", b.Name)
	case !b.Framed && len(b.Sources) > 1:
		s.problem(f.name, b.Line, "say format=coresight if it holds frames", "buffer %s holds one source's bytes, but %d sources write to it: taken as those of %s",
			b.Name, len(b.Sources), s.Sources[b.Sources[0]].Name)
		b.Sources = b.Sources[:1]
	}
	if n := b.partial(); n != 0 {
		s.problem(f.name, b.Line, "the file may have been cut short: copy it again", "buffer %s: %s has %d bytes, which are not whole frames of 16: the last %d are left out",
			b.Name, quote(b.File), b.Size, n)
	}
	if !b.Missing && b.Size == 0 {
		s.problem(f.name, b.Line, "was the trace unit enabled, and the buffer saved after it stopped?", "buffer %s: %s is empty", b.Name, quote(b.File))
	}
	if !b.Framed {
		return
	}
	owner := map[uint8]*Source{}
	for _, k := range b.Sources {
		src := &s.Sources[k]
		if !src.Usable {
			continue
		}
		id := src.Config.ID
		line := s.idLine(src)
		if id < coresight.MinID {
			s.problem(src.File, line, "set the trace ID before tracing (0x01 to 0x6f)", "%s writes to buffer %s, whose frames need a trace ID, but has 0: left out", src.Name, b.Name)
			src.Usable = false
		} else if other := owner[id]; other != nil {
			s.problem(src.File, line, "give each source a trace ID of its own", "%s has trace ID 0x%02x, as %s in the same buffer: left out", src.Name, id, other.Name)
			src.Usable = false
		} else {
			owner[id] = src
		}
	}
}
