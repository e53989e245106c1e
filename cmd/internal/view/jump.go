package view

import (
	"math"
	"slices"
	"strconv"

	"github.com/ptdecode/ptdecode/cmd/internal/items"
	"github.com/ptdecode/ptdecode/cmd/internal/marks"
	"github.com/ptdecode/ptdecode/decoder"
)

// seek decodes forwards from t, or ever farther backwards, until something is found.
func (v *server) seek(r *request, st *decoder.Stream, t uint64, s *items.Scan) (found bool, err error) {
	for reach := uint64(0); ; reach = farther(reach) {
		q, all := v.since(st, t, reach)
		s.Restart()
		if err := v.flow(r, q, s); err != nil {
			return false, err
		}
		if s.HasHit || all || !s.Back && s.Passed {
			return s.HasHit, nil
		}
	}
}

// jumped is where a jump leads.
type jumped struct {
	Stream  int    `json:"stream"`
	Step    *step  `json:"step"`          // null: there is none
	Nth     int    `json:"nth,omitempty"` // of an execution: its number among those of that moment, from 0
	Command string `json:"command"`
}

// answerJump answers /api/jump: the next call, or trap or change, or instruction that is not sure,
// of a stream behind a step, or the one before it.
func (v *server) answerJump(r *request) (any, error) {
	st, t, err := r.instant(v)
	if err != nil {
		return nil, err
	}
	k, err := items.ParseKey(r.query.Get("at"))
	if err != nil {
		return nil, badf("at: %s", clean(err.Error()))
	}
	wanted := items.Called
	switch what := r.query.Get("what"); what {
	case "call":
	case "unsure": // the first of such in a row
		wanted = func(before, it *items.Item) bool { return unsure(it) && (before == nil || !unsure(before)) }
	case "poke":
		crossings, err := v.pokes.crossed(r)
		if err != nil {
			return nil, err
		}
		wanted = marks.Changed(marks.Firsts(st.Index, v.pokes.list, crossings))
	default:
		return nil, badf("what=%q: need call, poke or unsure", clean(what))
	}
	back, err := r.way()
	if err != nil {
		return nil, err
	}
	s := items.NewScan(back, func(it *items.Item) bool { return it.Key == k }, wanted)
	found, err := v.seek(r, st, t, s)
	if err != nil || !found {
		return &jumped{Stream: st.Index}, err
	}
	steps := v.named(st, []items.Item{s.Hit})
	return &jumped{Stream: st.Index, Step: &steps[0], Command: v.stepsCall(st, []items.Item{s.Hit})}, nil
}

// way reads the parameter way: next, or previous.
func (r *request) way() (back bool, err error) {
	way := r.query.Get("way")
	if !slices.Contains([]string{"", "next", "previous"}, way) {
		return false, badf("way=%q: need next or previous", clean(way))
	}
	return way == "previous", nil
}

// sought is what is looked for: executions of the code at an address, or, of a change, the
// breakpoint exceptions that were taken for it; -1: executions.
type sought struct {
	addr uint64
	trap int
}

// is reports whether an item is what is looked for.
func (x sought) is(it *items.Item) bool {
	if x.trap >= 0 {
		return it.Note != nil && it.Note.Kind == decoder.NoteTrap && it.Note.Poke == x.trap
	}
	return it.Note == nil && it.Addr == x.addr
}

// answerExecution answers /api/execution: when code at an address is executed next after a
// moment, or was before it, on any CPU. With trap, the number of a change, breakpoint exceptions
// that were taken for that count in its place. The parameters of and nth name an execution at that
// moment, by its stream and its number: then it is the next one after it, or the one before.
func (v *server) answerExecution(r *request) (any, error) {
	addr, err := parseAddr(r.query.Get("addr"))
	if err != nil {
		return nil, err
	}
	t, err := r.number("time", 0, maxTime)
	if err != nil {
		return nil, err
	}
	back, err := r.way()
	if err != nil {
		return nil, err
	}
	var number [4]int
	for i, name := range []string{"stream", "of", "nth", "trap"} {
		n, err := r.number(name, math.MaxInt32, math.MaxInt32)
		if err != nil {
			return nil, err
		}
		number[i] = int(n)
	}
	only, of, nth, what := number[0], number[1], number[2], sought{addr, number[3]}
	if what.trap == math.MaxInt32 {
		what.trap = -1
	}
	if of != math.MaxInt32 && nth == math.MaxInt32 {
		return nil, badf("of=%d: need nth, too", of)
	}
	out, best := &jumped{Stream: -1}, items.Item{}
	for _, st := range v.s.Streams() {
		if only != math.MaxInt32 && st.Index != only {
			continue
		}
		// Of one moment, the executions of the first stream come first.
		from := items.Visit{At: t, Nth: nth}
		if of == math.MaxInt32 && back || of != math.MaxInt32 && st.Index > of {
			from.Nth = -1
		} else if of != st.Index {
			from.Nth = math.MaxInt32
		}
		s := items.Visits(back, from, v.rec.axis, what.is)
		found, err := v.seek(r, st, max(t, 1)-1, s)
		if err != nil {
			return nil, err
		}
		better := out.Stream < 0 || v.rec.axis(&s.Hit) < v.rec.axis(&best)
		if back {
			better = out.Stream < 0 || v.rec.axis(&s.Hit) >= v.rec.axis(&best)
		}
		if found && better {
			best, out.Stream, out.Nth = s.Hit, st.Index, s.Nth
		}
	}
	if out.Stream >= 0 {
		st := v.s.Streams()[out.Stream]
		steps := v.named(st, []items.Item{best})
		out.Step, out.Command = &steps[0], v.stepsCall(st, []items.Item{best})
	}
	return out, nil
}

// parseAddr reads an address.
func parseAddr(s string) (uint64, error) {
	addr, err := strconv.ParseUint(s, 16, 64)
	if err != nil {
		return 0, badf("addr=%q: need an address, hexadecimal", clean(s))
	}
	return addr, nil
}
