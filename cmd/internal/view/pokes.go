package view

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/cmd/internal/onepage"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// pokeMark is one change to the code, as a mark on the axis.
type pokeMark struct {
	Index  int    `json:"index"` // as pokes prints it
	Time   uint64 `json:"time"`  // ns behind the base, as Begin and End
	Begin  uint64 `json:"begin"`
	End    uint64 `json:"end"`
	Kind   string `json:"kind"`
	Scheme string `json:"scheme"`
	Addr   string `json:"addr"`
	Symbol string `json:"sym,omitempty"`
	CPU    int    `json:"cpu"` // that made it; -1: not known
	TID    int32  `json:"tid,omitempty"`
	Comm   string `json:"comm,omitempty"`
	Valid  bool   `json:"valid"`

	at uint64 // Addr
}

// pokeIndex is all changes to the code, and how the CPUs crossed them.
type pokeIndex struct {
	v    *server
	list []pokeMark // by time

	guests []guestPokes

	mu        sync.Mutex
	crossings map[int][]report.Crossing // nil: not decoded yet
	ready     chan struct{}             // closed when what is under way ends; nil: nothing is
	err       error                     // that it ended with
	waiting   int
	stop      context.CancelFunc
}

func newPokeIndex(v *server) *pokeIndex {
	x := &pokeIndex{v: v, list: v.rec.marks(v.s), guests: []guestPokes{}}
	for _, g := range decoder.Guests(v.s) {
		x.guests = append(x.guests, guestPokes{Guest: g.Meta().Guest, Pokes: v.rec.marks(g)})
	}
	return x
}

// guestPokes is the changes that a virtual machine made to its code. Their numbers are its own.
type guestPokes struct {
	Guest int32      `json:"guest"` // the process that runs it
	Total int        `json:"total"` // in the window
	Pokes []pokeMark `json:"pokes"`
}

// marks returns the changes to the code of a machine, by time.
func (r *recording) marks(s *decoder.Session) []pokeMark {
	list := []pokeMark{}
	for k := range s.Pokes() {
		if k.Time < r.base {
			continue // a virtual machine's, long before the trace
		}
		list = append(list, pokeMark{
			Index: k.Index, Time: r.rel(k.Time), Begin: r.rel(k.Begin), End: r.rel(k.End),
			Kind: k.Kind.String(), Scheme: k.Scheme.String(), Addr: hex16(k.Addr), Symbol: clean(k.Symbol),
			CPU: k.CPU, TID: k.TID, Comm: clean(k.Comm), Valid: k.Broken == nil, at: k.Addr,
		})
	}
	slices.SortStableFunc(list, func(a, b pokeMark) int { return cmp.Compare(a.Time, b.Time) })
	return list
}

func hex16(v uint64) string { return fmt.Sprintf("%016x", v) }

// maxMarks is how many changes are sent at once.
const maxMarks = 4000

// pokesAnswer is what /api/pokes answers.
type pokesAnswer struct {
	Total   int          `json:"total"` // in the window
	Pokes   []pokeMark   `json:"pokes"`
	Guests  []guestPokes `json:"guests"` // those of virtual machines
	Command string       `json:"command"`
}

// pokes reads a window, and returns the changes in it.
func (r *request) pokes(v *server) (list []pokeMark, from, until uint64, err error) {
	if from, until, err = r.window(v.rec); err != nil {
		return nil, 0, 0, err
	}
	return between(v.pokes.list, from, until), from, until, nil
}

// answerPokes answers /api/pokes: the changes of a window, thinned out where there are
// very many.
func (v *server) answerPokes(r *request) (any, error) {
	list, from, until, err := r.pokes(v)
	if err != nil {
		return nil, err
	}
	out := pokesAnswer{Total: len(list), Pokes: thinned(list), Guests: []guestPokes{}, Command: v.call("pokes", "--no-flow", "--time", v.rec.span(from, until))}
	for _, g := range v.pokes.guests {
		of := between(g.Pokes, from, until)
		out.Guests = append(out.Guests, guestPokes{g.Guest, len(of), thinned(of)})
	}
	if until == 0 {
		out.Command = v.call("pokes", "--no-flow")
	}
	return &out, nil
}

// thinned returns as many of a list as are sent at once, from all over it.
func thinned(list []pokeMark) []pokeMark {
	if len(list) <= maxMarks {
		return list
	}
	thin := make([]pokeMark, 0, maxMarks)
	for i := range maxMarks {
		thin = append(thin, list[i*len(list)/maxMarks])
	}
	return thin
}

// find returns where in the list the change with a number is, -1 if it is not there.
func (x *pokeIndex) find(n int) int {
	return slices.IndexFunc(x.list, func(p pokeMark) bool { return p.Index == n })
}

// between returns those changes that lie in a window; until 0: all.
func between(all []pokeMark, from, until uint64) []pokeMark {
	lo, _ := slices.BinarySearchFunc(all, from, func(p pokeMark, t uint64) int { return cmp.Compare(p.Time, t) })
	for lo > 0 && all[lo-1].End >= from {
		lo--
	}
	hi := len(all)
	if until != 0 {
		hi, _ = slices.BinarySearchFunc(all, until+1, func(p pokeMark, t uint64) int { return cmp.Compare(p.Begin, t) })
	}
	return all[lo:max(lo, hi)]
}

// pokeCount is how many changes have something in common.
type pokeCount struct {
	Name string `json:"name"`
	TID  *int32 `json:"tid,omitempty"` // of a thread
	N    int    `json:"n"`
}

// pokeCounts is what /api/counts answers.
type pokeCounts struct {
	Total   int         `json:"total"`   // in the window
	Kinds   []pokeCount `json:"kinds"`   // the most frequent first
	Threads []pokeCount `json:"threads"` // that made them; at most 20
	Command string      `json:"command"`
}

// answerCounts answers /api/counts: how many changes of each kind, and by which threads.
func (v *server) answerCounts(r *request) (any, error) {
	list, from, until, err := r.pokes(v)
	if err != nil {
		return nil, err
	}
	type thread struct {
		comm string
		tid  int32
	}
	kinds, threads := map[string]int{}, map[thread]int{}
	for i := range list {
		kinds[list[i].Kind]++
		threads[thread{list[i].Comm, list[i].TID}]++
	}
	out := pokeCounts{Total: len(list), Kinds: []pokeCount{}, Threads: []pokeCount{}, Command: v.call("info")}
	if until != 0 {
		out.Command = v.call("pokes", "--no-flow", "--time", v.rec.span(from, until))
	}
	for name, n := range kinds {
		out.Kinds = append(out.Kinds, pokeCount{Name: name, N: n})
	}
	for k, n := range threads {
		out.Threads = append(out.Threads, pokeCount{k.comm, &k.tid, n})
	}
	most := func(a, b pokeCount) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name)) }
	slices.SortFunc(out.Kinds, most)
	slices.SortFunc(out.Threads, func(a, b pokeCount) int { return cmp.Or(most(a, b), cmp.Compare(*a.TID, *b.TID)) })
	out.Threads = out.Threads[:min(len(out.Threads), 20)]
	return &out, nil
}

// story is one change to the code and how each CPU crossed it.
type story struct {
	Poke     json.RawMessage `json:"poke"` // what pokes --poke N -o jsonl prints
	Mark     pokeMark        `json:"mark"`
	Previous *int            `json:"previous,omitempty"` // in time
	Next     *int            `json:"next,omitempty"`
	Before   *int            `json:"before,omitempty"` // of the same bytes
	After    *int            `json:"after,omitempty"`
	Old      []codeLine      `json:"old"`
	New      []codeLine      `json:"new"`
	Crossed  []crossed       `json:"crossed"`
	Command  string          `json:"command"`
}

// codeLine is an instruction at the place of a change.
type codeLine struct {
	Addr    string `json:"addr"`
	Bytes   string `json:"bytes"` // "": unknown
	Insn    string `json:"insn"`
	Changed bool   `json:"changed"` // the change lies in it
}

// crossed is what a CPU executed of a change, on the axis.
type crossed struct {
	Stream    int     `json:"stream"`
	Old       int     `json:"old"` // executions
	LastOld   *moment `json:"last_old,omitempty"`
	Traps     int     `json:"traps"`
	FirstTrap *moment `json:"first_trap,omitempty"`
	LastTrap  *moment `json:"last_trap,omitempty"`
	New       int     `json:"new"`
	FirstNew  *moment `json:"first_new,omitempty"`
	Verdict   string  `json:"verdict"`
}

// moment is the bounds of one execution, ns behind the base.
type moment = onepage.Moment

func (r *recording) moment(s *report.Sightings, x *report.Sighting) *moment {
	if s.N == 0 {
		return nil
	}
	m := &moment{Lo: r.rel(x.Time.Lo), Verdict: x.Verdict.String()}
	if x.Time.Hi != math.MaxUint64 {
		hi := r.rel(x.Time.Hi)
		m.Hi = &hi
	}
	return m
}

// answerPoke answers /api/poke.
func (v *server) answerPoke(r *request) (any, error) {
	n, err := r.number("n", math.MaxInt32, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	at := v.pokes.find(int(n))
	if at < 0 {
		return nil, badf("n=%q: there is no such change to the code", clean(r.query.Get("n")))
	}
	all, err := v.pokes.crossed(r)
	if err != nil {
		return nil, err
	}
	var info *decoder.PokeInfo
	for k := range v.s.Pokes() {
		if k.Index == int(n) {
			info = &k
			break
		}
	}
	if info == nil {
		return nil, badf("n=%d: there is no such change to the code", n)
	}
	return v.story(r.Context(), info, at, all[int(n)])
}

// story tells the story of k, at place at of the index.
func (v *server) story(ctx context.Context, k *decoder.PokeInfo, at int, crossings []report.Crossing) (*story, error) {
	list := v.pokes.list
	out := &story{Mark: list[at], Crossed: []crossed{}, Command: v.call("pokes", "--poke", fmt.Sprint(k.Index), "-o", "jsonl")}
	var b bytes.Buffer
	if err := v.h.Poke(ctx, &b, v.s, k); err != nil {
		return nil, err
	}
	out.Poke = bytes.TrimSpace(b.Bytes())
	if at > 0 {
		out.Previous = &list[at-1].Index
	}
	if at+1 < len(list) {
		out.Next = &list[at+1].Index
	}
	r := k.Range()
	for _, i := range v.s.Text().Between(r.Addr, int(r.Len), 0, event.MaxEpoch, nil) {
		switch p := v.s.Text().Poke(i); {
		case p.Mark() || p.Learned:
		case i < k.Index:
			out.Before = &i
		case i > k.Index && out.After == nil:
			out.After = &i
		}
	}
	out.Old = v.codeAround(k, event.Epoch(k.Index))
	out.New = v.codeAround(k, event.Epoch(k.Index)+1)
	for i := range crossings {
		c := &crossings[i]
		out.Crossed = append(out.Crossed, crossed{
			Stream: c.Stream, Verdict: c.Verdict().String(),
			Old: c.Old.N, LastOld: v.rec.moment(&c.Old, &c.Old.Last),
			Traps: c.Traps.N, FirstTrap: v.rec.moment(&c.Traps, &c.Traps.First), LastTrap: v.rec.moment(&c.Traps, &c.Traps.Last),
			New: c.New.N, FirstNew: v.rec.moment(&c.New, &c.New.First),
		})
	}
	return out, nil
}

// maxCode is how much of the code of a change is shown, bytes.
const maxCode = 64

// codeAround disassembles the place of k as of an epoch, and two instructions behind it.
func (v *server) codeAround(k *decoder.PokeInfo, at event.Epoch) []codeLine {
	r, out := k.Range(), []codeLine{}
	size, behind := min(r.Len, maxCode), 0
	report.Disassemble(v.s, r.Addr, size+32, at, k.Time, func(l *report.Line) bool {
		inside := l.Addr < r.Addr+size
		if !inside {
			behind++
		}
		if behind > 2 || l.Bytes == nil && !inside {
			return false
		}
		out = append(out, codeLine{hex16(l.Addr), hexBytes(l.Bytes), clean(l.Insn), inside})
		return true
	})
	return out
}

// crossed returns how the CPUs crossed all changes. It decodes the whole recording once,
// while some request waits for that.
func (x *pokeIndex) crossed(r *request) (map[int][]report.Crossing, error) {
	x.mu.Lock()
	if x.crossings != nil {
		defer x.mu.Unlock()
		return x.crossings, nil
	}
	if x.ready == nil {
		ctx, stop := context.WithCancel(context.WithoutCancel(r.Context()))
		ready := make(chan struct{}) // x has another, or none, where this one is given up
		x.ready, x.stop = ready, stop
		x.v.work.Go(func() { x.decode(&request{Request: r.WithContext(ctx)}, ready) })
	}
	x.waiting++
	ready := x.ready
	x.mu.Unlock()
	defer func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.waiting--; x.waiting == 0 && x.ready == ready {
			x.stop()
			x.ready = nil
		}
	}()
	select {
	case <-r.Context().Done():
		return nil, r.Context().Err()
	case <-ready:
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.crossings, x.err
}

// decoded returns the crossings, nil before they are known.
func (x *pokeIndex) decoded() map[int][]report.Crossing {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.crossings
}

// decode finds the crossings. What it gives counts only while ready is the channel of what is under
// way: another decode may have begun, or ended, once this one was given up.
func (x *pokeIndex) decode(r *request, ready chan struct{}) {
	by := map[int][]report.Crossing{}
	err := error(nil)
	if len(x.v.s.Streams()) > 0 {
		err = x.v.alone(r, func() error {
			by, _, err = (&report.Crossings{Session: x.v.s}).Decode(r.Context(), decoder.Query{Jobs: x.v.jobs})
			return err
		})
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.ready == ready {
		if x.ready, x.err = nil, err; err == nil {
			x.crossings = by
		}
	}
	close(ready)
}
