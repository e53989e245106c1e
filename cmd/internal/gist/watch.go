package gist

import (
	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/decoder"
)

// Watch has what q asks for counted on its way to where it goes. What it returns is called
// when the flow has ended, with how many gaps there were: it gives what Begin prints.
func Watch(s *decoder.Session, q *decoder.Query) func(gaps uint64) *Object {
	w := &watcher{s: s}
	w.forget()
	q.Sift = func(to decoder.Sink) decoder.Sink {
		w.to = to
		return w
	}
	only := q.Streams
	w.from, w.until = q.From, q.Until
	return func(gaps uint64) *Object {
		j := &w.sum
		j.Gaps = gaps
		j.Threads = len(w.threads)
		j.From, j.Until = filter.Within(s, only, w.from, w.until)
		for _, st := range s.Streams() {
			if own(st, only) {
				j.Streams++
				j.TraceBytes += st.Size - st.Head
			}
		}
		for v, n := range w.verdicts {
			if n > 0 {
				j.Verdicts[decoder.Verdict(v).String()] = n
				j.Instructions += n
			}
		}
		return j
	}
}

// watcher counts flow, and hands it on.
type watcher struct {
	s        *decoder.Session
	from     uint64 // decoder.Query
	until    uint64
	to       decoder.Sink
	sum      Object
	verdicts [decoder.Ambiguous + 1]uint64 // instructions
	threads  map[int32]bool
}

func (w *watcher) forget() {
	w.sum = Object{Verdicts: map[string]uint64{}}
	w.verdicts, w.threads = [decoder.Ambiguous + 1]uint64{}, map[int32]bool{}
}

// Restart begins anew, if the sink can (decoder.Restarter).
func (w *watcher) Restart() bool {
	r, ok := w.to.(decoder.Restarter)
	if !ok || !r.Restart() {
		return false
	}
	w.forget()
	return true
}

// Flow counts b.
func (w *watcher) Flow(b *decoder.Batch) error {
	for i := range b.Ranges {
		r := &b.Ranges[i]
		w.verdicts[r.Verdict] += uint64(r.N)
		if t := &b.Stamps[r.Stamp].Time; t.Lo < w.from || w.until != 0 && t.Hi > w.until {
			w.sum.Beside += uint64(r.N)
		}
	}
	last := uint64(0) // before the first time that the trace states
	for i := range b.Stamps {
		t := b.Stamps[i].Time
		if t.Lo == last {
			continue
		}
		last = t.Lo
		if tid, _, _, ok := w.s.Running(b.Stream, t.Stated()); ok {
			w.threads[tid] = true
		}
	}
	return w.to.Flow(b)
}
