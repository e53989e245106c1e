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
	from := &boot.Source{FS: s.cfg.FS, Kallsyms: syms, Journal: s.from.journal, Streams: s.streams, Model: s.rec.Meta.PT.Model}
	if r := s.rec.Kernel; r.Symbol == "_text" || r.Symbol == "_stext" {
		from.Loaded = r.Addr
	}
	return from
}

// learnBoot settles by the trace what boot made of the vmlinux, and says what is known.
func (s *Session) learnBoot() {
	t := &Session{cfg: s.cfg, rec: s.rec, streams: s.streams, from: s.from, symbols: s.symbols, kernel: s.kernel, complete: s.complete, files: s.files}
	c := s.code.Load()
	t.code.Store(&code{journal: c.journal, text: c.text})
	t.finish()
	s.boot.Learn(s.streams, s.isa, bootRuns{t, t.code.Load()})
	s.rec.Warnings = append(s.rec.Warnings, Warning{Image: true, What: s.boot.Known(),
		Hint: "a copy of /proc/kcore holds code as it ran: perf record --kcore keeps one beside the trace"})
}

// bootRuns decodes segments while it is learned what boot made of a vmlinux. The caches of
// code hold blocks of what counts as settled: no walker reads them.
type bootRuns struct {
	s    *Session
	code *code
}

// Decode decodes a segment (boot.Decoder).
func (x bootRuns) Decode(st *stream.Stream, seg event.Segment, changed func(addr, end uint64) bool, to flow.Sink) error {
	c := *x.code
	r := x.s.reading(st)
	c.caches = map[reading]*flow.Cache{r: x.code.caches[r].Over(changed)}
	f := newFollower(x.s, &c, st)
	flow.UsePaths(f.walker, new(flow.Paths))
	return f.segment(&job{stream: st, segs: []event.Segment{seg}}, 0, to)
}

// Settled says that code is as it is now (boot.Decoder).
func (x bootRuns) Settled(changed func(addr, end uint64) bool) {
	for _, c := range x.code.caches {
		c.Drop(changed)
	}
}
