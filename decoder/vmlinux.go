package decoder

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/boot"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// bootSource returns what the recording says of the kernel that it traced.
func (s *Session) bootSource(syms *symbols.Kallsyms) *boot.Source {
	from := &boot.Source{FS: s.cfg.FS, Kallsyms: syms, Journal: s.from.journal, Streams: s.streams}
	if r := s.rec.Kernel; r.Symbol == "_text" || r.Symbol == "_stext" {
		from.Loaded = r.Addr
	}
	return from
}

// learnBoot settles by the trace what boot made of the vmlinux, and says what is known.
func (s *Session) learnBoot() {
	s.boot.Learn(s.streams, s.isa, func(st *stream.Stream, seg event.Segment, to flow.Sink) error {
		t := s.afresh()
		f := newFollower(t, t.code.Load(), st)
		flow.UsePaths(f.walker, new(flow.Paths))
		return f.segment(&job{stream: st, segs: []event.Segment{seg}}, 0, to)
	})
	s.rec.Warnings = append(s.rec.Warnings, Warning{Image: true, What: s.boot.Known(),
		Hint: "a copy of /proc/kcore holds code as it ran: perf record --kcore keeps one beside the trace"})
}

// afresh returns a session of the same recording whose caches are empty.
func (s *Session) afresh() *Session {
	c := s.code.Load()
	t := &Session{cfg: s.cfg, rec: s.rec, streams: s.streams, from: s.from, symbols: s.symbols, kernel: s.kernel, complete: s.complete, files: s.files}
	t.code.Store(&code{journal: c.journal, text: c.text})
	t.finish()
	return t
}
