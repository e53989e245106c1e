package view

import (
	"encoding/hex"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
)

// recording is what the page is told first. All times that the page is given, and gives,
// are ns behind Base: a browser's numbers hold 53 bits, not 64.
type recording struct {
	Name     string       `json:"name"`
	Kind     string       `json:"kind"`
	Host     string       `json:"host,omitempty"`
	Kernel   string       `json:"kernel,omitempty"`
	Base     string       `json:"base"`  // ns, decimal: the recording's clock
	From     uint64       `json:"from"`  // of the first sync point, ns behind Base
	Until    uint64       `json:"until"` // of the last one
	Timed    bool         `json:"timed"` // else a place is an offset in the trace, bytes
	Bytes    int64        `json:"bytes"` // of trace
	Streams  []streamInfo `json:"streams"`
	Pokes    int          `json:"pokes"`
	Warnings []warning    `json:"warnings"`
	Command  string       `json:"command"`

	base   uint64 // ns
	bisect []bool // by stream: a moment is found without decoding all that lies before
}

// streamInfo is one trace source.
type streamInfo struct {
	Index int    `json:"index"`
	Name  string `json:"name"`  // as messages have it: cpu0, tid12, id10
	Label string `json:"label"` // for people
	CPU   int32  `json:"cpu"`   // -1: not known
	TID   int32  `json:"tid"`   // -1: a CPU's
	Guest int32  `json:"guest,omitempty"`
	Bytes int64  `json:"bytes"`
}

// warning is what the recording lacks.
type warning struct {
	What string `json:"what"`
	Hint string `json:"hint,omitempty"`
}

// gather tells what the page is told first.
func (v *server) gather() *recording {
	m := v.s.Meta()
	r := &recording{Name: clean(v.s.Name()), Kind: clean(m.Kind), Command: v.call("info"), Streams: []streamInfo{}, Warnings: []warning{}}
	lo, hi := uint64(math.MaxUint64), uint64(0)
	for _, st := range v.s.Streams() {
		label := st.Name
		if st.CPU >= 0 {
			label = "CPU " + strconv.Itoa(int(st.CPU))
		} else if st.TID >= 0 {
			label = "thread " + strconv.Itoa(int(st.TID))
		} else if st.Core != "" {
			label = st.Core + " (" + st.Name + ")"
		}
		if st.Guest != 0 {
			label += " of guest " + strconv.Itoa(int(st.Guest)) // the process that runs it
		}
		r.Streams = append(r.Streams, streamInfo{st.Index, clean(st.Name), clean(label), st.CPU, st.TID, st.Guest, st.Size})
		if st.Guest == 0 { // else they are the host's bytes
			r.Bytes += st.Size
		}
		t := st.Time()
		r.bisect = append(r.bisect, t.Lo != 0 && st.Protocol.Stamps == nil || st.Size > smallRecording)
		if t.Lo != 0 {
			lo, hi = min(lo, t.Lo), max(hi, t.Lo)
			if t.Hi != math.MaxUint64 {
				hi = max(hi, t.Hi)
			}
		}
	}
	if r.Timed = lo <= hi; r.Timed {
		r.base = lo
		for k := range v.s.Pokes() {
			r.base = min(r.base, k.Begin, k.Time)
		}
		r.From, r.Until = lo-r.base, max(lo+1, hi)-r.base
	} else {
		for _, st := range r.Streams {
			r.Until = max(r.Until, uint64(st.Bytes))
		}
	}
	r.Base = strconv.FormatUint(r.base, 10)
	for _, w := range v.s.Warnings() {
		r.Warnings = append(r.Warnings, warning{clean(w.What), clean(w.Hint)})
	}
	return r
}

// sinkFunc is a decoder.Sink.
type sinkFunc func(b *decoder.Batch) error

// Flow calls f.
func (f sinkFunc) Flow(b *decoder.Batch) error { return f(b) }

// length is how long the trace is, ns or bytes.
func (r *recording) length() uint64 { return r.Until - r.From }

// rel makes a time of the recording's clock one behind its base; before it is 0.
func (r *recording) rel(ns uint64) uint64 { return ns - min(ns, r.base) }

// clean makes of a name what JSON and a page can hold, and not more than a page needs.
func clean(s string) string {
	const most = 4096
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strings.ToValidUTF8(s, "\ufffd")
}

// answerRecording answers /api/recording.
func (v *server) answerRecording(*request) (any, error) {
	r := *v.rec
	r.Pokes = len(v.pokes.list)
	return &r, nil
}

// request is a request with its query.
type request struct {
	*http.Request
	query url.Values
}

// number reads a parameter that is a number of 0 or more; absent if it is not there.
func (r *request) number(name string, absent, most uint64) (uint64, error) {
	s := r.query.Get(name)
	if s == "" {
		return absent, nil
	}
	n, err := strconv.ParseUint(s, 10, 64)
	if err != nil || n > most {
		return 0, badf("%s=%q: need a number from 0 to %d", name, clean(s), most)
	}
	return n, nil
}

// maxTime is the latest moment that can be asked for, ns behind the base.
const maxTime = 1 << 62

// window reads from and until, ns behind the base; the whole recording without them.
func (r *request) window(rec *recording) (from, until uint64, err error) {
	if from, err = r.number("from", 0, maxTime); err != nil {
		return 0, 0, err
	}
	if until, err = r.number("until", 0, maxTime); err != nil {
		return 0, 0, err
	}
	if until < from && (until != 0 || r.query.Get("until") != "") {
		return 0, 0, badf("until=%d is before from=%d", until, from)
	}
	return from, until, nil
}

// stream reads the parameter stream.
func (r *request) stream(v *server) (*decoder.Stream, error) {
	list := v.s.Streams()
	n, err := r.number("stream", 0, math.MaxInt32)
	if err != nil || int(n) >= len(list) {
		return nil, badf("stream=%q: the recording has %d, counted from 0", clean(r.query.Get("stream")), len(list))
	}
	return list[n], nil
}

// instant reads the parameters stream and time, ns behind the base.
func (r *request) instant(v *server) (st *decoder.Stream, at uint64, err error) {
	if st, err = r.stream(v); err == nil {
		at, err = r.number("time", 0, maxTime)
	}
	return st, at, err
}

// hexBytes renders code.
func hexBytes(b []byte) string { return hex.EncodeToString(b) }
