package decoder

import (
	"strings"

	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
)

// Source is a file that text or symbols were read from, or what tells of changes.
type Source struct {
	Kind string // "kcore", "kallsyms", "modules", "text"; "samples"
	Path string // of samples: where they were taken
}

// Sources returns the files that text and symbols were read from. Behind them come the
// functions of the kernel of which samples tell changes to its code.
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
	for _, x := range s.rec.Meta.Watched {
		add("samples", x)
	}
	return list
}

// Name names what was opened: the recording, else the raw parts.
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

// Buffers returns the trace buffers of a snapshot.
func (s *Session) Buffers() []Buffer { return s.rec.Buffers }
