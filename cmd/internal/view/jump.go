package view

import (
	"math"
	"slices"
	"strconv"

	"github.com/ptdecode/ptdecode/cmd/internal/items"
	"github.com/ptdecode/ptdecode/cmd/internal/marks"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// scan looks for the first item of a stream that is wanted, or for the last: a
// decoder.Sink. Items up to a place do not count, or from there on.
type scan struct {
	items.Walk
	wanted func(before, it *items.Item) bool
	back   bool
	passed bool // the place was come to
	place  func(*items.Item) bool
	was    items.Item // the instruction before
	ran    bool       // there is one
	hit    items.Item
	hasHit bool
	nth    int // of the last visit, among those of one moment: from 0
	hitNth int // that of hit
}

// Restart begins anew (decoder.Restarter).
func (s *scan) Restart() bool {
	s.passed, s.ran, s.hasHit, s.nth = false, false, false, 0
	return s.Walk.Restart()
}

// newScan returns a scan for what is wanted behind a place, or before it.
func newScan(back bool, place func(*items.Item) bool, wanted func(before, it *items.Item) bool) *scan {
	s := &scan{wanted: wanted, back: back, place: place}
	s.Walk.Each = s.next
	return s
}

// next looks at an item. It returns false where no more is wanted.
func (s *scan) next(it *items.Item) bool {
	at := !s.passed && s.place(it)
	if at {
		s.passed = true
		if s.back {
			return false
		}
	}
	if s.wanted(s.before1(), it) && (s.passed && !at || s.back) {
		s.hit, s.hasHit = *it, true
		if !s.back {
			return false
		}
	}
	if it.Note == nil {
		s.was, s.ran = *it, true
	}
	return true
}

// before1 returns the instruction before, nil if there is none.
func (s *scan) before1() *items.Item {
	if s.ran {
		return &s.was
	}
	return nil
}

// seek decodes forwards from t, or ever farther backwards, until something is found.
func (v *server) seek(r *request, st *decoder.Stream, t uint64, s *scan) (found bool, err error) {
	for reach := uint64(0); ; reach = farther(reach) {
		q, all := v.since(st, t, reach)
		s.Restart()
		if err := v.flow(r, q, s); err != nil {
			return false, err
		}
		if s.hasHit || all || !s.back && s.passed {
			return s.hasHit, nil
		}
	}
}

// execution is one of the code at an address, at a lower bound of its moment, ns.
type execution struct{ addr, at uint64 }

// firsts returns where a stream executed the new code of each change first.
func firsts(stream int, pokes []marks.Mark, crossings map[int][]report.Crossing) map[execution]int {
	out := map[execution]int{}
	for i := range pokes {
		for _, c := range crossings[pokes[i].Index] {
			if c.Stream == stream && c.New.N > 0 {
				out[execution{pokes[i].At, c.New.First.Time.Lo}] = pokes[i].Index
			}
		}
	}
	return out
}

// changed returns what reports whether an item is a trap, or where a change took effect: where
// it was settled, or where the new code ran first.
func changed(firsts map[execution]int) func(before, it *items.Item) bool {
	was := map[execution]items.Key{}
	return func(_, it *items.Item) bool {
		if it.Note != nil {
			return it.Note.Kind == decoder.NoteTrap || it.Note.Kind == decoder.NoteCut
		}
		x := execution{it.Addr, it.Time.Lo}
		if _, ok := firsts[x]; !ok {
			return false
		}
		if _, ok := was[x]; !ok {
			was[x] = it.Key // several may have one moment
		}
		return was[x] == it.Key
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
		wanted = changed(firsts(st.Index, v.pokes.list, crossings))
	default:
		return nil, badf("what=%q: need call, poke or unsure", clean(what))
	}
	back, err := r.way()
	if err != nil {
		return nil, err
	}
	s := newScan(back, func(it *items.Item) bool { return it.Key == k }, wanted)
	found, err := v.seek(r, st, t, s)
	if err != nil || !found {
		return &jumped{Stream: st.Index}, err
	}
	steps := v.named(st, []items.Item{s.hit})
	return &jumped{Stream: st.Index, Step: &steps[0], Command: v.stepsCall(st, []items.Item{s.hit})}, nil
}

// way reads the parameter way: next, or previous.
func (r *request) way() (back bool, err error) {
	way := r.query.Get("way")
	if !slices.Contains([]string{"", "next", "previous"}, way) {
		return false, badf("way=%q: need next or previous", clean(way))
	}
	return way == "previous", nil
}

// visit is a place among the executions of an instruction: a moment on the axis, and a
// number among those of that moment in a stream, from 0.
type visit struct {
	at  uint64
	nth int
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

// visits returns a scan for what is sought that follows v in a stream, or for the one before
// it. Several may have one moment: calls that no timing packet parts.
func (r *recording) visits(x sought, v visit, back bool) *scan {
	s := &scan{back: back}
	s.Walk.Each = func(it *items.Item) bool {
		at := r.axis(it)
		if x.is(it) {
			s.nth++
			if !s.ran || at != r.axis(&s.was) {
				s.nth = 0
			}
			s.was, s.ran = *it, true
			behind := at > v.at || at == v.at && s.nth > v.nth
			before := at < v.at || at == v.at && s.nth < v.nth
			if !back && behind || back && before {
				s.hit, s.hitNth, s.hasHit = *it, s.nth, true
			}
			if !back && behind {
				return false
			}
		}
		s.passed = s.passed || at > v.at
		return !back || !s.passed
	}
	return s
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
		from := visit{t, nth}
		if of == math.MaxInt32 && back || of != math.MaxInt32 && st.Index > of {
			from.nth = -1
		} else if of != st.Index {
			from.nth = math.MaxInt32
		}
		s := v.rec.visits(what, from, back)
		found, err := v.seek(r, st, max(t, 1)-1, s)
		if err != nil {
			return nil, err
		}
		better := out.Stream < 0 || v.rec.axis(&s.hit) < v.rec.axis(&best)
		if back {
			better = out.Stream < 0 || v.rec.axis(&s.hit) >= v.rec.axis(&best)
		}
		if found && better {
			best, out.Stream, out.Nth = s.hit, st.Index, s.hitNth
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
