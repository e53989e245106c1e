package view

import (
	"context"
	"encoding/json"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/ptdecode/ptdecode/decoder"
)

// overview is the histogram of the whole recording. It is decoded while somebody waits
// for it, once for all.
type overview struct {
	v       *server
	mu      sync.Mutex
	h       *histogram
	part    float64
	done    bool
	err     error
	waiting int
	stop    context.CancelFunc // nil: not under way
}

// The overview's buckets: so many at most, and how long the first are, ns.
const (
	maxBuckets  = 4096
	firstBucket = 64
)

// attach has the overview decoded until the function that it returns is called.
func (o *overview) attach(r *request) (detach func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting++
	if o.stop == nil && !o.done {
		// It goes on while any request waits, whichever came first.
		ctx, stop := context.WithCancel(context.WithoutCancel(r.Context()))
		o.stop, o.part, o.err = stop, 0, nil
		o.h = newHistogram(o.v, o.v.rec.From, 0, firstBucket, maxBuckets)
		h := o.h
		o.v.work.Go(func() { o.decode(ctx, r, h) })
	}
	return func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.waiting--; o.waiting == 0 && o.stop != nil {
			o.stop()
			o.stop = nil
		}
	}
}

// decode fills h.
func (o *overview) decode(ctx context.Context, r *request, h *histogram) {
	err := o.v.flow(&request{Request: r.WithContext(ctx)}, decoder.Query{Progress: func(done, total int64) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.h == h {
			o.part = float64(done) / float64(max(total, 1))
		}
	}}, &locked{&o.mu, h})
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.h != h || ctx.Err() != nil {
		return // given up
	}
	h.end()
	o.done, o.err, o.part, o.stop = err == nil, err, 1, nil
}

// locked is a histogram that others look at meanwhile.
type locked struct {
	mu *sync.Mutex
	h  *histogram
}

// Flow counts b.
func (l *locked) Flow(b *decoder.Batch) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.h.Flow(b)
}

// Restart begins anew (decoder.Restarter).
func (l *locked) Restart() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.h.Restart()
}

// look returns what there is between two moments.
func (o *overview) look(from, until uint64) (*density, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	d := o.h.density(from, until)
	d.Done, d.Part = o.done, o.part
	return d, o.err
}

// tick is how often what is decoded so far is sent.
const tick = 150 * time.Millisecond

// smallWindow is how much trace a window may have that is decoded for itself, bytes.
const smallWindow = 8 << 20

// answerDensity answers /api/density: a line of JSON for what is known now, and again
// when more is, until all of it is decoded. It ends with the request.
func (v *server) answerDensity(w http.ResponseWriter, hr *http.Request) {
	v.work.Add(1)
	defer v.work.Done()
	r := &request{Request: hr, query: hr.URL.Query()}
	from, until, err := r.window(v.rec)
	n, e := r.number("n", 1000, 4000)
	if err == nil {
		err = e
	}
	if err != nil {
		fail(w, hr, err)
		return
	}
	w.Header().Set("Content-Type", "application/x-ndjson")
	send := func(d *density) error {
		d.Command = v.summaryCall(from, until)
		if err := json.NewEncoder(w).Encode(d); err != nil {
			return err
		}
		return http.NewResponseController(w).Flush()
	}
	if v.ownWindow(from, until) {
		v.sendWindow(r, from, until, max(1, n), send)
		return
	}
	if v.rec.Bytes > 4*smallWindow && send(v.sampled(r, from, until)) != nil {
		return
	}
	defer v.whole.attach(r)()
	t := time.NewTicker(tick)
	defer t.Stop()
	for wait := time.After(20 * time.Millisecond); ; wait = nil {
		select {
		case <-hr.Context().Done():
			return
		case <-wait:
		case <-t.C:
		}
		d, err := v.whole.look(from, until)
		if err != nil {
			json.NewEncoder(w).Encode(map[string]string{"error": clean(err.Error())})
			return
		}
		if send(d) != nil || d.Done {
			return
		}
	}
}

// ownWindow reports whether a window is to be decoded for itself: it is a part of the
// recording, and has little trace.
func (v *server) ownWindow(from, until uint64) bool {
	if until == 0 || until-from >= v.rec.length()/2 {
		return false
	}
	return float64(until-from)/float64(v.rec.length())*float64(v.rec.Bytes) < smallWindow
}

// sendWindow decodes a window and sends it.
func (v *server) sendWindow(r *request, from, until, n uint64, send func(*density) error) {
	h := newHistogram(v, from, until, (until-from)/n+1, int(n)+1)
	q := decoder.Query{Bounds: true}
	if v.rec.Timed {
		q.From, q.Until = v.rec.base+from, v.rec.base+until
	}
	if err := v.flow(r, q, h); err != nil {
		if r.Context().Err() == nil {
			d := h.density(from, until)
			d.Part = 0
			send(d)
		}
		return
	}
	h.end()
	d := h.density(from, until)
	d.Done, d.Part = true, 1
	send(d)
}

// samples is how many places of a stream are looked at for its first picture.
const samples = 400

// sampled returns how much trace there is by time, from places all over the streams.
func (v *server) sampled(r *request, from, until uint64) *density {
	if until == 0 {
		until = v.rec.Until
	}
	h := newHistogram(v, from, until, (until-from)/samples+1, samples+1)
	for i, st := range v.s.Streams() {
		var before uint64
		step := max(1, st.Size/samples)
		for off := int64(0); off < st.Size && v.rec.Timed && r.Context().Err() == nil; off += step {
			g, ok := st.After(off)
			if !ok || g.Time.Lo == 0 || g.Time.Lo == math.MaxUint64 {
				continue
			}
			t := v.rec.rel(g.Time.Lo)
			if before != 0 && t >= before {
				h.spread(h.lanes[laneKey{i, 0}], before, t, &running{sure: uint64(step)})
			}
			before = t
		}
	}
	d := h.density(from, until)
	d.Of = "bytes"
	return d
}

// summaryCall is the command that counts what ran between two moments.
func (v *server) summaryCall(from, until uint64) string {
	if until == 0 || !v.rec.Timed {
		return v.call("summary")
	}
	return v.call("flow", "--time", v.rec.span(from, until), "-o", "none")
}
