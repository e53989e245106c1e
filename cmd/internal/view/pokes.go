package view

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/ptdecode/ptdecode/cmd/internal/marks"
	"github.com/ptdecode/ptdecode/cmd/internal/onepage"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// pokeIndex is all changes to the code, and how the CPUs crossed them.
type pokeIndex struct {
	v    *server
	list []marks.Mark // by time

	guests []guestPokes

	mu        sync.Mutex
	crossings map[int][]report.Crossing // nil: not decoded yet
	ready     chan struct{}             // closed when what is under way ends; nil: nothing is
	err       error                     // that it ended with
	waiting   int
	stop      context.CancelFunc
}

func newPokeIndex(v *server) *pokeIndex {
	x := &pokeIndex{v: v, list: marks.Of(v.s, v.rec.base, clean), guests: []guestPokes{}}
	for _, g := range decoder.Guests(v.s) {
		x.guests = append(x.guests, guestPokes{Guest: g.Meta().Guest, Pokes: marks.Of(g, v.rec.base, clean)})
	}
	return x
}

// guestPokes is the changes that a virtual machine made to its code. Their numbers are its own.
type guestPokes struct {
	Guest int32        `json:"guest"` // the process that runs it
	Total int          `json:"total"` // in the window
	Pokes []marks.Mark `json:"pokes"`
}

func hex16(v uint64) string { return fmt.Sprintf("%016x", v) }

// pokesAnswer is what /api/pokes answers.
type pokesAnswer struct {
	Total   int          `json:"total"` // in the window
	Pokes   []marks.Mark `json:"pokes"`
	Guests  []guestPokes `json:"guests"` // those of virtual machines
	Command string       `json:"command"`
}

// pokes reads a window, and returns the changes of which it shows a part.
func (r *request) pokes(v *server) (list []marks.Mark, from, until uint64, err error) {
	if from, until, err = r.window(v.rec); err != nil {
		return nil, 0, 0, err
	}
	return marks.Between(v.pokes.list, from, until), from, until, nil
}

// answerPokes answers /api/pokes: the changes of a window, thinned out where there are
// very many.
func (v *server) answerPokes(r *request) (any, error) {
	list, from, until, err := r.pokes(v)
	if err != nil {
		return nil, err
	}
	out := pokesAnswer{Total: len(list), Pokes: marks.Thinned(list), Guests: []guestPokes{}, Command: v.call("pokes", "--no-flow", "--time", v.rec.span(from, until))}
	for _, g := range v.pokes.guests {
		of := marks.Between(g.Pokes, from, until)
		out.Guests = append(out.Guests, guestPokes{g.Guest, len(of), marks.Thinned(of)})
	}
	if until == 0 {
		out.Command = v.call("pokes", "--no-flow")
	}
	return &out, nil
}

// pokeCounts is what /api/counts answers.
type pokeCounts struct {
	Total   int           `json:"total"`   // in the window
	Kinds   []marks.Count `json:"kinds"`   // the most frequent first
	Threads []marks.Count `json:"threads"` // that made them; at most 20
	Command string        `json:"command"`
}

// answerCounts answers /api/counts: how many changes of each kind, and by which threads.
func (v *server) answerCounts(r *request) (any, error) {
	list, from, until, err := r.pokes(v)
	if err != nil {
		return nil, err
	}
	list = (&marks.Wanted{From: from, Until: until}).Pick(list)
	out := pokeCounts{Total: len(list), Command: v.call("info")}
	out.Kinds, out.Threads = marks.Counts(list)
	out.Threads = out.Threads[:min(len(out.Threads), 20)]
	if until != 0 {
		out.Command = v.call("pokes", "--no-flow", "--time", v.rec.span(from, until))
	}
	return &out, nil
}

// listPage is how many changes a page of the list has, if the request does not say.
const listPage = 50

// answerList answers /api/list: a page of those changes of a window that are wanted.
func (x *pokeIndex) answerList(r *request) (any, error) {
	list, from, until, err := r.pokes(x.v)
	if err != nil {
		return nil, err
	}
	var number [3]uint64
	for i, name := range []string{"skip", "n", "tid"} {
		if number[i], err = r.number(name, []uint64{0, listPage, 0}[i], math.MaxInt32); err != nil {
			return nil, err
		}
	}
	if kind := r.query.Get("kind"); kind != "" && !slices.Contains(marks.Kinds(), kind) {
		return nil, badf("kind=%q: need one of %s", clean(kind), strings.Join(marks.Kinds(), ", "))
	}
	want := marks.Wanted{Kind: r.query.Get("kind"), Sym: r.query.Get("sym"), TID: int32(number[2]), From: from, Until: until}
	list = want.Pick(list)
	args := want.Args()
	if until != 0 {
		args = append(args, "--time", x.v.rec.span(from, until))
	}
	skip := min(int(number[0]), len(list))
	rows := marks.Rows(x.v.s, list[skip:min(skip+min(int(number[1]), marks.Most), len(list))], clean)
	return &struct {
		Total   int         `json:"total"`
		Skip    int         `json:"skip"` // how many lie before Pokes
		Pokes   []marks.Row `json:"pokes"`
		Command string      `json:"command"`
	}{len(list), skip, rows, x.v.call("pokes", args...)}, nil
}

// story is one change to the code and how each CPU crossed it.
type story struct {
	Poke     json.RawMessage `json:"poke"` // what pokes --poke N -o jsonl prints
	Mark     marks.Mark      `json:"mark"`
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
	at := marks.Find(v.pokes.list, int(n))
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
