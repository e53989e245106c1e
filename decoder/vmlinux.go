package decoder

import (
	"maps"
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/boot"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/internal/trials"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// bootSource returns what the recording says of the kernel that it traced.
func (s *Session) bootSource(syms *symbols.Kallsyms) *boot.Source {
	return &boot.Source{FS: s.cfg.FS, Kallsyms: syms, Journal: s.from.journal, Streams: s.streams, Model: s.rec.Meta.PT.Model, Symbol: s.rec.Kernel.Symbol, Loaded: s.rec.Kernel.Addr}
}

// learnBoot settles by the trace what boot made of the vmlinux, and says what is known.
func (s *Session) learnBoot() {
	t := &Session{cfg: s.cfg, rec: s.rec, streams: s.streams, from: s.from, symbols: s.symbols, kernel: s.kernel, complete: s.complete, files: s.files}
	c := s.code.Load()
	s.versions.kept = map[*boot.Patches]*bootTrial{}
	t.code.Store(&code{journal: c.journal, text: c.text})
	t.finish()
	s.boot.Learn(s.streams, s.isa, &bootRuns{s: t, code: t.code.Load()})
	s.rec.Warnings = append(s.rec.Warnings, Warning{Image: true, What: s.boot.Known(), Hint: "a copy of /proc/kcore holds code as it ran: perf record --kcore keeps one beside the trace"})
}

// bootRuns decodes segments while it is learned what boot made of a vmlinux. The caches of
// code hold blocks of what counts as settled, with those of a trial laid over them.
type bootRuns struct {
	s           *Session
	code        *code
	base, trial *bootTrial // of what counts as settled; under way: base, or of other code
	lift        func()     // ends a trial of other code
}

// bootTrial decodes segments with one code. Its caches and followers serve all of them.
type bootTrial struct {
	code *code
	of   *code // what it is another version of
	followers
}

// newTrial returns a trial of the code as it is now.
func (x *bootRuns) newTrial() *bootTrial {
	return &bootTrial{code: x.code, followers: followers{most: len(x.s.streams)}}
}

// Decode decodes a segment (boot.Decoder). A follower that was stopped may be in the midst of
// something, so it is not used again.
func (x *bootRuns) Decode(st *stream.Stream, seg event.Segment, to flow.Sink) error {
	f := x.trial.take(x.s, x.trial.code, st)
	return x.trial.keep(f, f.segment(&job{stream: st, segs: []event.Segment{seg}}, 0, to))
}

// keep has f wait for other segments if nothing stopped it.
func (t *bootTrial) keep(f *follower, err error) error {
	if err == nil {
		t.put(f)
	}
	return err
}

// Trial says where code is another than what counts as settled (boot.Decoder).
func (x *bootRuns) Trial(changed func(addr, end uint64) bool) {
	if x.trial != x.base {
		x.lift()
	}
	if x.trial = x.base; changed != nil {
		x.trial, x.lift = x.newTrial(), trials.NewBlocks(slices.Collect(maps.Values(x.code.caches))).Lay(trials.Anywhere(changed))
	}
}

// Settled says that code is as it is now (boot.Decoder).
func (x *bootRuns) Settled(changed func(addr, end uint64) bool) {
	for _, c := range x.code.caches {
		c.Drop(changed)
	}
	x.base = x.newTrial()
	x.trial = x.base
}

// versions keeps what is read while segments are decoded with other versions of the code, and who
// follows them.
type versions struct {
	mu   sync.Mutex
	kept map[*boot.Patches]*bootTrial
}

// maxCaches bounds how many of them are kept.
const maxCaches = 16

// version returns what decodes the code with other versions laid over it; nil: as it is.
func (s *Session) version(c *code, over *boot.Patches) *bootTrial {
	s.versions.mu.Lock()
	defer s.versions.mu.Unlock()
	x := s.versions.kept[over]
	if x != nil && x.of == c {
		return x
	}
	of := c
	if over != nil {
		c = &code{journal: c.journal, text: c.text, trial: over.Over(c.text), caches: learner{s}.newCaches()}
	}
	x = &bootTrial{code: c, of: of, followers: followers{most: maxCaches / 4}}
	if s.versions.kept == nil {
		s.versions.kept = map[*boot.Patches]*bootTrial{}
	}
	if len(s.versions.kept) < maxCaches || over == nil {
		s.versions.kept[over] = x
	}
	return x
}

// kept reports whether the flow of the segment that f is at is known with other code laid over the kernel's, and not decoded.
func (f *follower) kept(over *boot.Patches) bool {
	return f.asks.Laid(over, partOf(f.st, &f.seg)) != nil
}

// again decodes the segment that f is at once more, with other code laid over the kernel's
// (boot.Again). A follower that was stopped is not used again.
func (f *follower) again(over *boot.Patches, to flow.Sink) error {
	if list := f.asks.Laid(over, partOf(f.st, &f.seg)); list != nil {
		return f.asks.Retell(list, to)
	}
	x := f.s.version(f.code, over)
	g := x.take(f.s, x.code, f.st)
	g.seg, g.near = f.seg, f.near
	clear(g.seen)
	return x.keep(g, g.walk(to))
}
