package view

import (
	"math"

	"github.com/ptdecode/ptdecode/cmd/internal/items"
	"github.com/ptdecode/ptdecode/decoder"
)

// threads finds what a thread executed, on whatever CPU.
type threads struct{ *server }

// nearest is what a thread executed next to a moment.
type nearest struct {
	jumped
	Far int64 `json:"far"` // ns from the moment to the step, less than 0 where it ran before; 0: it may have run then
}

// answerThread answers /api/thread: the instruction of a thread that is nearest to a moment. Of several that may have
// run then it is the last. With way, only what ran up to it counts, or behind it.
func (v threads) answerThread(r *request) (any, error) {
	tid, err := r.number("tid", math.MaxUint64, math.MaxInt32)
	if err != nil {
		return nil, err
	}
	if tid == math.MaxUint64 {
		return nil, badf("need tid, the number of a thread")
	}
	t, err := r.number("time", 0, maxTime)
	if err != nil {
		return nil, err
	}
	if _, err := r.way(); err != nil {
		return nil, err
	}
	out := &nearest{jumped: jumped{Stream: -1}}
	if !v.rec.Timed {
		return out, nil
	}
	f := nearestOf{threads: v, r: r, tid: int32(tid), t: t, nearest: out}
	for _, way := range []struct {
		skip string // by the parameter way
		look func(*decoder.Stream, *items.Stints) error
	}{{"next", f.last}, {"previous", f.next}} {
		for _, st := range v.s.Streams() {
			x := items.StintsOf(v.s, st, f.tid, v.rec.base+t)
			if r.query.Get("way") == way.skip {
				continue
			}
			if err := way.look(st, &x); err != nil {
				return nil, err
			}
		}
	}
	if out.Stream >= 0 {
		st := v.s.Streams()[out.Stream]
		steps := v.named(st, []items.Item{f.best})
		out.Step, out.Command = &steps[0], v.stepsCall(st, []items.Item{f.best})
	}
	return out, nil
}

// nearestOf looks for what a thread executed next to t.
type nearestOf struct {
	threads
	r   *request
	tid int32
	t   uint64
	*nearest
	best items.Item
}

// off returns how far from t the nearest is by now, ns; ok is false where there is none yet.
func (f *nearestOf) off() (ns uint64, ok bool) { return uint64(max(f.Far, -f.Far)), f.Stream >= 0 }

// take takes an item, if it is nearer than what there is.
func (f *nearestOf) take(st *decoder.Stream, it *items.Item, far int64) {
	off, ok := f.off()
	if now := uint64(max(far, -far)); !ok || now < off || now == off && far == f.Far && it.Time.Lo > f.best.Time.Lo {
		f.best, f.Stream, f.Far = *it, st.Index, far
	}
}

// last looks for the last that the thread executed on a stream by then.
func (f *nearestOf) last(st *decoder.Stream, x *items.Stints) error {
	if x.Last == 0 {
		return nil
	}
	from, ran := f.rec.rel(x.Last), items.RanBy(f.s, st.Index, f.tid)
	s := items.NewScan(true, func(it *items.Item) bool { return it.Note == nil && f.rec.axis(it) > from }, func(_, it *items.Item) bool { return ran(it) })
	found, err := f.seek(f.r, st, from, s)
	if found {
		end := s.Hit.Time.Lo
		if s.Hit.Time.Hi != math.MaxUint64 {
			end = s.Hit.Time.Hi
		}
		f.take(st, &s.Hit, -int64(f.t-min(f.t, f.rec.rel(end))))
	}
	return err
}

// next looks for the first behind that, no farther than what there is.
func (f *nearestOf) next(st *decoder.Stream, x *items.Stints) error {
	off, ok := f.off()
	if x.Next == 0 || ok && off == 0 {
		return nil
	}
	q, _ := f.since(st, max(1, f.rec.rel(x.Next)), 0)
	if q.Until = x.Until; ok {
		q.Until = min(q.Until, f.rec.base+f.t+off)
	}
	if q.Until == math.MaxUint64 {
		q.Until = 0
	}
	w, ran := &items.Walk{}, items.RanBy(f.s, st.Index, f.tid)
	w.Each = func(it *items.Item) bool {
		if at := f.rec.axis(it); at <= f.t || !ran(it) {
			return true
		}
		f.take(st, it, int64(f.rec.axis(it)-f.t))
		return false
	}
	w.Restart()
	return f.flow(f.r, q, w)
}
