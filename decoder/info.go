package decoder

import (
	"fmt"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
)

// Source is a file that code or symbols were read from, a virtual machine, or what else
// tells of changes to code.
type Source struct {
	Kind string // "kcore", "kallsyms", "modules", "text"; "guest"; "samples"
	// Path names the file. Of a guest it is a line for people, which says by how much its
	// clock is off. Of samples it is where in the kernel they were taken.
	Path string
}

// Sources returns the files that code and symbols were read from, and then the virtual
// machines. Last come the functions of the kernel at which samples tell of changes to its
// code.
func (s *Session) Sources() []Source {
	var list []Source
	add := func(kind, path string) {
		if path != "" {
			list = append(list, Source{kind, path})
		}
	}
	add("kcore", s.files.Kcore)
	add("kcore", s.late)
	add("kallsyms", s.files.Kallsyms)
	add("modules", s.files.Modules)
	for _, t := range s.cfg.Code {
		add("text", t.String())
	}
	for _, g := range s.guests {
		add("guest", fmt.Sprintf("%s: process %d, %d ns added to its times, %d changes", g.Name(), g.rec.Meta.Guest, g.offset, g.Text().Len()))
	}
	for _, x := range s.rec.Meta.Watched {
		add("samples", x)
	}
	return list
}

// Name returns what was opened, for messages: the recording, or else the files of raw trace
// and of events, with blanks between.
func (s *Session) Name() string {
	if s.cfg.Recording == "-" {
		return perfdata.Stdin
	}
	if s.cfg.Recording != "" {
		return s.cfg.Recording
	}
	var parts []string
	for _, r := range s.cfg.Raw {
		parts = append(parts, r.Path)
	}
	if s.cfg.Events != "" {
		parts = append(parts, s.cfg.Events)
	}
	return strings.Join(parts, " ")
}

// Buffers returns the trace buffers of a snapshot; nil if it is no snapshot.
func (s *Session) Buffers() []Buffer { return s.rec.Buffers }
