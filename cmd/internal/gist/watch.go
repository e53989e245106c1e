package gist

import (
	"math"
	"slices"

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
	return func(gaps uint64) *Object {
		j := &w.sum
		j.Gaps = gaps
		j.Threads = len(w.threads)
		if j.From > j.Until {
			j.From = 0
		}
		for i, st := range s.Streams() {
			if only == nil || slices.Contains(only, i) {
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
	to       decoder.Sink
	sum      Object
	verdicts [decoder.Ambiguous + 1]uint64 // instructions
	threads  map[int32]bool
}

func (w *watcher) forget() {
	w.sum = Object{From: math.MaxUint64, Verdicts: map[string]uint64{}}
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
		w.verdicts[b.Ranges[i].Verdict] += uint64(b.Ranges[i].N)
	}
	last := uint64(0) // before the first time that the trace states
	for i := range b.Stamps {
		t := b.Stamps[i].Time
		if t.Lo == last {
			continue
		}
		last = t.Lo
		w.sum.From, w.sum.Until = min(w.sum.From, t.Lo), max(w.sum.Until, t.Lo)
		if tid, _, ok := w.s.Running(b.Stream, t.Likely()); ok {
			w.threads[tid] = true
		}
	}
	return w.to.Flow(b)
}
