package story

import (
	"context"
	"fmt"
	"math"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// Trap is a breakpoint exception that was taken, as pokes --traps prints it.
type Trap struct {
	Type     string  `json:"type"`
	Guest    int32   `json:"guest,omitempty"` // as of a poke
	CPU      *int32  `json:"cpu,omitempty"`
	TID      *int32  `json:"tid,omitempty"` // the thread that ran, or whose own stream it is
	Comm     string  `json:"comm,omitempty"`
	ID       string  `json:"id,omitempty"`    // as of a poke
	Time     uint64  `json:"time,omitempty"`  // ns; the lower bound
	Until    *uint64 `json:"until,omitempty"` // ns; the upper bound
	IP       string  `json:"ip" schema:"hex16"`
	Sym      string  `json:"sym,omitempty"`
	Off      *uint64 `json:"off,omitempty"` // in sym, bytes
	DSO      string  `json:"dso,omitempty"`
	Kind     string  `json:"kind"`
	Verdict  string  `json:"verdict,omitempty" schema:"verdict"` // of Poke
	Poke     *int    `json:"poke,omitempty"`
	PokeTime *uint64 `json:"poke_time,omitempty"` // ns
	Delta    *int64  `json:"delta_ns,omitempty"`  // Time less PokeTime

	// What the handler did, as in a row of flow. Of a trap inside of a handler that is not known.
	Emulated  string  `json:"emulated,omitempty"`
	Resume    string  `json:"resume,omitempty" schema:"hex16"`
	ResumeSym string  `json:"resume_sym,omitempty"`
	ResumeOff *uint64 `json:"resume_off,omitempty"` // bytes
	EndSeen   *bool   `json:"end_seen,omitempty"`
}

// Traps is report.Traps. object makes an object of one of the list.
func (x *Source) Traps(ctx context.Context, q decoder.Query) (list []report.Trap, object func(t *report.Trap) *Trap, gaps uint64, err error) {
	var all []int
	for i := range x.Streams {
		all = append(all, i)
	}
	ends := map[trapKey][]rows.Row{}
	m := rows.New(x.Session, x.Streams, all, rows.Options{Level: rows.LevelBranch, Rare: true}, func(r *rows.Row) error {
		if r.Kind == rows.KindTrap {
			k := trapKey{r.Stream.Index, r.IP, r.Time, r.Poke}
			ends[k] = append(ends[k], r.Clone())
		}
		return nil
	})
	q.Jobs, q.Progress, q.Bounds, q.Merged = x.Jobs, x.Progress, true, true
	q.Sift = func(to decoder.Sink) decoder.Sink { return both{m, to} }
	if list, gaps, err = report.Traps(ctx, x.Session, q); err == nil {
		err = m.Close()
	}
	times := map[trapKey]int{}
	for i := range list {
		times[keyOf(&list[i])]++
	}
	return list, func(t *report.Trap) *Trap {
		j, k := newTrap(x.Session, t), keyOf(t)
		if tid, comm, _, ok := x.Session.Running(t.Stream, t.Time.Stated()); ok {
			j.TID, j.Comm = &tid, comm
		}
		if rs := ends[k]; len(rs) == times[k] { // else some are inside of handlers
			j.ends(m.Names(), &rs[0])
			ends[k], times[k] = rs[1:], times[k]-1
		}
		return j
	}, gaps, err
}

// trapKey tells a trap from others. A moment may have several that are alike.
type trapKey struct {
	stream int
	ip     uint64
	time   event.Time
	poke   int
}

func keyOf(t *report.Trap) trapKey { return trapKey{t.Stream, t.IP, t.Time, t.Poke} }

// both is a sink that gives two sinks all that it gets.
type both struct{ first, second decoder.Sink }

// Flow hands b on.
func (k both) Flow(b *decoder.Batch) error {
	if err := k.first.Flow(b); err != nil {
		return err
	}
	return k.second.Flow(b)
}

// ends adds what the handler of the trap r did.
func (j *Trap) ends(names *rows.Names, r *rows.Row) {
	j.Emulated = names.Emulated(r)
	if !r.HasAddr {
		j.EndSeen = new(bool)
		return
	}
	j.Resume = hex16(r.Addr)
	if p := names.At(r, r.Addr); p.Known {
		j.ResumeSym, j.ResumeOff = p.Sym, &p.Off
	}
}

// newTrap makes a Trap of t.
func newTrap(s *decoder.Session, t *report.Trap) *Trap {
	j := &Trap{Type: "trap", Guest: s.Meta().Guest, Time: t.Time.Lo, IP: hex16(t.IP), Kind: t.Kind.String()}
	if t.Time.Hi != math.MaxUint64 && t.Time.Hi != t.Time.Lo {
		j.Until = &t.Time.Hi
	}
	if name, off, dso, ok := s.Symbol(0, t.IP, t.Time.Likely()); ok {
		j.Sym, j.Off, j.DSO = name, &off, dso
	}
	j.CPU, j.TID, j.ID = NamedBy(s.Streams()[t.Stream])
	if t.Poke >= 0 {
		k := s.Text().Poke(t.Poke)
		j.Poke, j.PokeTime, j.Verdict = &t.Poke, &k.Time, t.Verdict.String()
		if delta := int64(t.Time.Lo - k.Time); t.Time.Lo != 0 {
			j.Delta = &delta
		}
	}
	return j
}

// Learned is what was learned of the code, as kcore.Learned writes it.
type Learned struct {
	Type    string   `json:"type"`
	Addr    string   `json:"addr" schema:"hex16"`
	Sym     string   `json:"sym,omitempty"`
	Kind    string   `json:"kind,omitempty"`
	Code    string   `json:"code" schema:"hex"`
	Was     string   `json:"was,omitempty" schema:"hex"`
	From    uint64   `json:"from,omitempty"`  // ns
	Until   uint64   `json:"until,omitempty"` // ns
	Had     string   `json:"had,omitempty" schema:"hex"`
	Others  []string `json:"others,omitempty" schema:"hex"`
	Either  bool     `json:"either,omitempty"` // others do not do the same everywhere
	For     int      `json:"visits_for"`
	Against int      `json:"visits_against"`
}

// Unlike says that the code is another one throughout, as kcore.ParseLearned reads it.
type Unlike struct {
	Type string `json:"type"`
}

// NamedBy returns what names st in an object: its CPU, or its thread, or its trace ID,
// whichever is the first to be known.
func NamedBy(st *decoder.Stream) (cpu, tid *int32, id string) {
	switch {
	case st.CPU >= 0:
		return &st.CPU, nil, ""
	case st.TID >= 0:
		return nil, &st.TID, ""
	}
	return nil, nil, st.ID
}

// CrossingLine renders how a CPU crossed a poke, for the line below the poke's.
func CrossingLine(s *decoder.Session, c *report.Crossing) string {
	line := "#   " + s.Streams()[c.Stream].Name + ": "
	at := func(ns uint64) string { return fmt.Sprintf("%d.%09d", ns/1e9, ns%1e9) }
	part := func(n int, what, when string, x *report.Sighting) {
		switch {
		case n > 0 && x.Time == event.Always:
			line += fmt.Sprintf("%d %s; ", n, what) // a trace without times
		case n > 0:
			line += fmt.Sprintf("%d %s %s %s; ", n, what, when, at(x.Time.Lo))
		}
	}
	part(c.Old.N, "old", "until", &c.Old.Last)
	switch first := c.Traps.First.Time; {
	case c.Traps.N > 1 && first == event.Always:
		line += fmt.Sprintf("%d traps; ", c.Traps.N)
	case c.Traps.N > 1:
		line += fmt.Sprintf("%d traps from %s to %s; ", c.Traps.N, at(first.Lo), at(c.Traps.Last.Time.Lo))
	default:
		part(c.Traps.N, "trap", "at", &c.Traps.First)
	}
	part(c.New.N, "new", "from", &c.New.First)
	return line + c.Verdict().String()
}
