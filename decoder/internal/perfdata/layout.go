package perfdata

import (
	"encoding/binary"
	"math/bits"
)

// Ident is who, when and where of a record: its sample_id. Which fields are
// stated follows from the event's attributes; Has says so.
type Ident struct {
	Time     uint64 // ns of the recording's clock
	ID       uint64 // the event's id on that CPU or thread
	StreamID uint64
	PID      int32 // -1 when not stated
	TID      int32 // -1 when not stated
	CPU      int32 // -1 when not stated
	Has      uint64
}

// HasTime reports whether Time is stated.
func (d *Ident) HasTime() bool { return d.Has&SampleTime != 0 }

// noIdent states nothing.
var noIdent = Ident{PID: -1, TID: -1, CPU: -1}

// idPositions is where an event's id stands: bytes from the body's start in a
// SAMPLE, bytes from the record's end elsewhere; -1 where there is none.
type idPositions struct {
	sample, other int
}

// trailerBits are the fields of a sample_id, in the order of their layout
// except that IDENTIFIER is last (kernel/events/core.c,
// __perf_event__output_id_sample).
const trailerBits = SampleTID | SampleTime | SampleID | SampleStreamID | SampleCPU | SampleIdentifier

// place computes where ids stand in this event's records.
func (a *Attr) place() {
	st := a.SampleType
	a.idLen = 0
	if a.Has(AttrSampleIDAll) {
		a.idLen = 8 * bits.OnesCount64(st&trailerBits)
	}
	a.pos = idPositions{-1, -1}
	switch {
	case st&SampleIdentifier != 0:
		a.pos.sample = 0
		if a.idLen > 0 {
			a.pos.other = 8
		}
	case st&SampleID != 0:
		a.pos.sample = 8 * bits.OnesCount64(st&(SampleIP|SampleTID|SampleTime|SampleAddr))
		if a.idLen > 0 {
			a.pos.other = 8 + 8*bits.OnesCount64(st&(SampleStreamID|SampleCPU))
		}
	}
}

// events finds the event of a record and reads its sample_id.
type events struct {
	attrs   []*Attr
	byID    map[uint64]*Attr
	tries   []idPositions // the distinct places where ids stand
	lastID  uint64
	last    *Attr
	anyTime bool
}

func newEvents(attrs []*Attr) *events {
	e := &events{attrs: attrs, byID: map[uint64]*Attr{}}
	for _, a := range attrs {
		for _, id := range a.IDs {
			if e.byID[id] == nil {
				e.byID[id] = a
			}
		}
		e.anyTime = e.anyTime || a.HasTime()
		seen := false
		for _, t := range e.tries {
			seen = seen || t == a.pos
		}
		if !seen {
			e.tries = append(e.tries, a.pos)
		}
	}
	return e
}

// lookup returns the event that owns id, nil if none does.
func (e *events) lookup(id uint64) *Attr {
	if e.last != nil && e.lastID == id {
		return e.last
	}
	a := e.byID[id]
	if a != nil {
		e.lastID, e.last = id, a
	}
	return a
}

// writerOf returns the event that wrote the kernel record with this body. A record
// whose id is 0 was made by perf record itself and has the first event's
// layout (tools/perf/util/evlist.c, evlist__event2evsel).
func (e *events) writerOf(t Type, body []byte) *Attr {
	if len(e.attrs) == 0 {
		return nil
	}
	if len(e.attrs) == 1 {
		return e.attrs[0]
	}
	for _, p := range e.tries {
		at := p.sample
		if t != TypeSample {
			if p.other < 0 {
				continue
			}
			at = len(body) - p.other
		}
		if at < 0 || at+8 > len(body) {
			continue
		}
		if a := e.lookup(binary.LittleEndian.Uint64(body[at:])); a != nil && a.pos == p {
			return a
		}
	}
	return e.attrs[0]
}

// ident reads the sample_id of a kernel record. n is how many bytes at the
// end of the body it takes (0 for a SAMPLE, whose fields stand in its body).
// ok is false when the body is too short for the layout.
func (e *events) ident(t Type, body []byte) (a *Attr, d Ident, n int, ok bool) {
	d = noIdent
	if t >= firstUserType {
		return nil, d, 0, true
	}
	a = e.writerOf(t, body)
	if a == nil {
		return nil, d, 0, true
	}
	if t == TypeSample {
		ok = a.sampleIdent(body, &d)
		return a, d, 0, ok
	}
	n = a.idLen
	if n == 0 {
		return a, d, 0, true
	}
	if len(body) < n {
		return a, d, n, false
	}
	a.trailer(body[len(body)-n:], &d)
	return a, d, n, true
}

// trailer reads the sample_id at b, which is a.idLen bytes long.
func (a *Attr) trailer(b []byte, d *Ident) {
	st := a.SampleType & trailerBits
	d.read(b, st)
	if st&SampleIdentifier != 0 { // the last
		d.ID = binary.LittleEndian.Uint64(b[a.idLen-8:])
	}
}

// sampleIdent reads the fixed fields at the start of a SAMPLE's body.
func (a *Attr) sampleIdent(b []byte, d *Ident) bool {
	if len(b) < a.identLen(TypeSample) {
		return false
	}
	st := a.SampleType
	if st&SampleIdentifier != 0 { // the first
		d.ID = binary.LittleEndian.Uint64(b)
		b = b[8:]
	}
	d.read(b, st&(trailerBits|SampleIP|SampleAddr))
	return true
}

// read reads the fields of st at b but for the identifier, which stands first
// in a SAMPLE and last elsewhere. IP and ADDR are passed over.
func (d *Ident) read(b []byte, st uint64) {
	le := binary.LittleEndian
	d.Has = st & trailerBits
	if st&SampleIP != 0 {
		b = b[8:]
	}
	if st&SampleTID != 0 {
		d.PID, d.TID = int32(le.Uint32(b)), int32(le.Uint32(b[4:]))
		b = b[8:]
	}
	if st&SampleTime != 0 {
		d.Time = le.Uint64(b)
		b = b[8:]
	}
	if st&SampleAddr != 0 {
		b = b[8:]
	}
	if st&SampleID != 0 {
		d.ID = le.Uint64(b)
		b = b[8:]
	}
	if st&SampleStreamID != 0 {
		d.StreamID = le.Uint64(b)
		b = b[8:]
	}
	if st&SampleCPU != 0 {
		d.CPU = int32(le.Uint32(b))
	}
}
