package view

import (
	"github.com/ptdecode/ptdecode/cmd/internal/items"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// frame is a call in a stack.
type frame struct {
	Sym   string  `json:"sym"`
	Addr  string  `json:"addr"`
	Begin *uint64 `json:"begin,omitempty"` // ns behind the base; absent: not known
	Nth   int     `json:"nth,omitempty"`   // among those of the function that begin at this moment of the stream
	How   string  `json:"how"`             // it was entered
	From  string  `json:"from,omitempty"`  // the place that it was entered from
}

// stackAnswer is what /api/stack answers.
type stackAnswer struct {
	Stream int     `json:"stream"`
	Found  bool    `json:"found"`
	Whole  bool    `json:"whole"`  // it is known where the last one was entered from
	Frames []frame `json:"frames"` // the innermost first
	// Entered is how the last one was entered, or what ran there before and jumped to it.
	Entered string `json:"entered,omitempty"`
}

// stacker finds stacks.
type stacker struct{ *server }

// answerStack answers /api/stack: the calls that a step ran in, or, with addr and nth, those around
// a call that began at a moment. It decodes ever more before that until all are known.
func (v stacker) answerStack(r *request) (any, error) {
	st, t, err := r.instant(v.server)
	if err != nil {
		return nil, err
	}
	nth, err := r.number("nth", 0, maxTime)
	if err != nil {
		return nil, err
	}
	began := items.Numbering{}
	s := &items.Stack{Tree: calls.Tree{Session: v.s}}
	s.Call = func(c *calls.Call) bool { began.Tag(c); return false }
	if r.query.Get("addr") != "" {
		addr, err := parseAddr(r.query.Get("addr"))
		if err != nil {
			return nil, err
		}
		s.Call = func(c *calls.Call) bool {
			began.Tag(c)
			return c.Addr == addr && c.Begin.Lo != 0 && v.rec.rel(c.Begin.Lo) == t && c.Tag == nth
		}
	} else {
		k, err := items.ParseKey(r.query.Get("at"))
		if err != nil {
			return nil, badf("at: %s", clean(err.Error()))
		}
		s.Item = func(it *items.Item) bool { return it.Key == k }
	}
	for back := uint64(firstBack); ; back = farther(back) {
		q, all := v.since(st, t, back)
		clear(began)
		s.Restart()
		if err := v.flow(r, q, s); err != nil {
			return nil, err
		}
		out := v.stack(st, s)
		if all || out.Whole || back > mostBack {
			return out, nil
		}
	}
}

// How much before a moment is decoded for its stack, ns: at first, and about at most.
const (
	firstBack = 2_000_000
	mostBack  = 100_000_000
)

// stack tells what s found.
func (v stacker) stack(st *decoder.Stream, s *items.Stack) *stackAnswer {
	out := &stackAnswer{Stream: st.Index, Found: s.Found, Frames: []frame{}}
	for i := range s.Calls {
		c := &s.Calls[i]
		f := frame{Sym: clean(callName(c)), Addr: hex16(c.Addr), Nth: int(c.Tag), How: c.How.String()}
		if c.Begin.Lo != 0 && v.rec.Timed && c.How != calls.Unseen {
			t := v.rec.rel(c.Begin.Lo)
			f.Begin = &t
		}
		if c.From != 0 {
			f.From = clean(v.s.KernelSymbol(c.From, c.Begin.Lo))
		}
		out.Frames = append(out.Frames, f)
	}
	if s.Found && len(s.Calls) > 0 {
		out.Entered, out.Whole = s.Way.String(), s.Way != calls.Unseen && s.Way != calls.Interrupted
	}
	return out
}
