package recording

import (
	"math"
	"slices"
	"strconv"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/process"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// Guest is a virtual machine and the recording that was made inside of it.
type Guest struct {
	PID       int32  // of the process that runs it
	Recording string // a perf.data file or directory
	HasOffset bool
	Offset    int64 // ns: what its clock's times lack of the host's; if not HasOffset, it is found
}

// String returns how messages call the guest.
func (g *Guest) String() string { return GuestName(g.PID) }

// GuestName is how messages and streams call the virtual machine of a process.
func GuestName(pid int32) string { return "guest" + strconv.Itoa(int(pid)) }

// Within makes r, read of what was recorded inside a virtual machine, the recording of
// that machine on host: the trace is the host's, and streams are what of it is r's.
// Of the machine's own threads it is not known on which CPU of the host they ran.
func (r *Recording) Within(host *Recording, streams []*stream.Stream) {
	r.Streams = streams
	r.Meta.PT = host.Meta.PT
	r.Filters, r.WrittenBy, r.Converts = host.Filters, host.WrittenBy, host.Converts
	r.Processes = process.New("", nil)
	r.Warnings = slices.DeleteFunc(r.Warnings, func(w Warning) bool { return w.noTrace })
	if !host.Converts {
		for i := range r.Pokes {
			r.Pokes[i].Begin, r.Pokes[i].End = 0, math.MaxUint64
		}
	}
}

// Shift adds ns to all times of records.
func (r *Recording) Shift(ns int64) {
	add := func(t *uint64) {
		switch {
		case *t == math.MaxUint64 || *t == 0:
		case ns < 0 && *t < uint64(-ns):
			*t = 0
		case ns > 0 && *t > math.MaxUint64-uint64(ns):
			*t = math.MaxUint64
		default:
			*t += uint64(ns)
		}
	}
	both := func(t *event.Time) { add(&t.Lo); add(&t.Hi) }
	for i := range r.Pokes {
		p := &r.Pokes[i]
		add(&p.Time)
		add(&p.Begin)
		add(&p.End)
	}
	for i := range r.Ksymbols {
		add(&r.Ksymbols[i].Time)
	}
	for i := range r.Lost {
		both(&r.Lost[i])
	}
	if r.Taken != nil {
		both(r.Taken)
	}
	add(&r.CompleteTo)
}
