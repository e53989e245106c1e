package view

import (
	"context"
	"encoding/json"
	"net/http"
	"sync"
	"time"

	"github.com/ptdecode/ptdecode/decoder"
)

// overview is a histogram that is decoded while somebody waits for it: that of the whole
// recording once for all, or of a window.
type overview struct {
	v       *server
	q       decoder.Query
	fresh   func() *histogram
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
	firstBucket = 1
)

// newOverview returns the overview of the whole recording.
func newOverview(v *server) *overview {
	return &overview{v: v, fresh: func() *histogram { return newHistogram(v, v.rec.From, 0, firstBucket, maxBuckets) }}
}

// ofWindow returns the overview of a window, with about n buckets.
func (v *server) ofWindow(from, until, n uint64) (*overview, error) {
	q, err := v.within(from, until)
	return &overview{v: v, q: q, fresh: func() *histogram { return newHistogram(v, from, until, (until-from)/n+1, int(n)+1) }}, err
}

// attach has the overview decoded until the function that it returns is called.
func (o *overview) attach(r *request) (detach func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting++
	if o.stop == nil && !o.done {
		// It goes on while any request waits, whichever came first.
		ctx, stop := context.WithCancel(context.WithoutCancel(r.Context()))
		o.stop, o.part, o.err = stop, 0, nil
		o.h = o.fresh()
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
	q := o.q
	q.Progress = func(done, total int64) {
		o.mu.Lock()
		defer o.mu.Unlock()
		if o.h == h {
			o.part = float64(done) / float64(max(total, 1))
		}
	}
	err := o.v.flow(&request{Request: r.WithContext(ctx)}, q, &locked{&o.mu, h})
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

// How much trace a window may have that is decoded for itself, bytes, and how much a
// recording may have that is decoded as a whole for any larger window.
const (
	smallWindow    = 8 << 20
	smallRecording = 256 << 20
)

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
	o := v.whole
	if err == nil && v.ownWindow(from, until) {
		o, err = v.ofWindow(from, until, max(1, n))
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
	if v.traceIn(from, until) > 4*smallWindow && !o.complete() {
		err = sampler{v}.sampled(r, from, until, send)
	}
	if err == nil {
		err = o.follow(r, from, until, send)
	}
	if err != nil && hr.Context().Err() == nil {
		json.NewEncoder(w).Encode(map[string]string{"error": clean(err.Error())})
	}
}

// complete reports whether all of o is decoded.
func (o *overview) complete() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.done
}

// follow sends what o knows between two moments, again and again until it is complete.
func (o *overview) follow(r *request, from, until uint64, send func(*density) error) error {
	defer o.attach(r)()
	t := time.NewTicker(tick)
	defer t.Stop()
	for wait := time.After(20 * time.Millisecond); ; wait = nil {
		select {
		case <-r.Context().Done():
			return r.Context().Err()
		case <-wait:
		case <-t.C:
		}
		d, err := o.look(from, until)
		if err != nil {
			return err
		}
		if send(d) != nil || d.Done {
			return nil
		}
	}
}

// traceIn returns about how much trace a window has, bytes.
func (v *server) traceIn(from, until uint64) float64 {
	if until == 0 {
		return float64(v.rec.Bytes)
	}
	return float64(min(until, v.rec.Until)-min(from, until, v.rec.Until)) / float64(max(1, v.rec.length())) * float64(v.rec.Bytes)
}

// ownWindow reports whether a window is to be decoded for itself: it is a part of the
// recording, and has little trace, or less than is decoded as a whole.
func (v *server) ownWindow(from, until uint64) bool {
	if until == 0 || until-from >= v.rec.length()/2 {
		return false
	}
	return v.rec.Bytes > smallRecording || v.traceIn(from, until) < smallWindow
}

// summaryCall is the command that counts what ran between two moments.
func (v *server) summaryCall(from, until uint64) string {
	if until == 0 || !v.rec.Timed {
		return v.call("summary")
	}
	return v.call("summary", "--time", v.rec.span(from, until))
}
