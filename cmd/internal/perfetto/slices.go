package perfetto

import (
	"encoding/binary"
	"math/bits"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// Nearly all packets begin or end a call. So these two are written without a trackEvent, from
// parts that are made once. Their bytes are those that emit would write.

// Bytes that begin a field: its number, and the type of what follows.
const (
	tagPacket    = tracePacket<<3 | 2
	tagTimestamp = packetTimestamp << 3
	tagEvent     = packetEvent<<3 | 2
	tagName      = eventName << 3
	tagNote      = eventAnnotations<<3 | 2
)

// slices is what packets of a track's slices begin with, for the time of the last one.
type slices struct {
	time       uint64 // ns
	head       []byte // behind the time: the sequence, and that its names count
	track      []byte // behind the type of the event
	begin, end opening
}

// opening is what a packet begins with, up to the first byte that differs from packet to packet.
type opening struct {
	b     [maxOpening]byte
	n     int
	event int // where the length of the event stands; that of the packet is at 1
	note  int // where the length of the first note stands
}

// maxOpening is how long an opening is at most, bytes; what follows is as long at most.
const maxOpening = 96

// newSlices returns the beginnings of a track's packets.
func newSlices(s *sequence, track uint64) slices {
	x := slices{head: uintField(uintField(nil, packetSequence, s.id), packetFlags, flagsNeeds), track: uintField(nil, eventTrack, track)}
	x.at(0)
	return x
}

// goesTo has s begin packets of a time, ns.
func (s *slices) goesTo(time uint64) {
	if sizeOf(time) == sizeOf(s.time) {
		n := binary.PutUvarint(s.begin.b[timeAt:], time)
		s.time = time
		copy(s.end.b[timeAt:], s.begin.b[timeAt:timeAt+n])
		return
	}
	s.at(time)
}

// timeAt is where the time stands in an opening.
const timeAt = 3

// sizeOf returns how many bytes v has in a packet.
func sizeOf(v uint64) int { return (bits.Len64(v|1) + 6) / 7 }

// at makes the beginnings, for a time, ns.
func (s *slices) at(time uint64) {
	s.time = time
	for _, o := range []struct {
		*opening
		kind uint64
	}{{&s.begin, sliceBegin}, {&s.end, sliceEnd}} {
		b := append(o.b[:0], tagPacket, 0, tagTimestamp)
		b = append(binary.AppendUvarint(b, time), s.head...)
		b = append(b, tagEvent, 0)
		o.event = len(b) - 1
		b = append(uintField(b, eventType, o.kind), s.track...)
		if o.kind == sliceBegin {
			b = append(b, tagName)
		} else {
			b = append(b, tagNote, 0)
			o.note = len(b) - 1
			b = append(b, instructionsNote...)
		}
		o.n = len(b)
	}
}

// open begins a packet in w.out with o. It returns where that is, and what follows in it.
func (w *writer) open(o *opening) (packet int, more []byte) {
	packet = len(w.out)
	if cap(w.out)-packet < 2*maxOpening {
		w.out = append(make([]byte, 0, max(2*cap(w.out), writeBytes+4*maxOpening)), w.out...)
	}
	b := w.out[packet : packet+2*maxOpening]
	*(*[maxOpening]byte)(b) = o.b
	return packet, b[o.n:]
}

// shut ends a packet that begins at a place with o and has n bytes behind that.
func (w *writer) shut(packet int, o *opening, n int) {
	n += o.n
	w.out = w.out[:packet+n]
	if b := w.out[packet:]; n < 1<<7 { // mostly
		b[1], b[o.event] = byte(n-2), byte(n-o.event-1)
	} else {
		w.long(packet + o.event)
		w.long(packet + 1)
	}
	if len(w.out) >= writeBytes {
		w.flush()
	}
}

// long writes the length of what lies behind a place there.
func (w *writer) long(at int) {
	n := len(w.out) - at - 1
	if n < 1<<7 {
		w.out[at] = byte(n)
		return
	}
	body := append([]byte(nil), w.out[at+1:]...)
	w.out = append(binary.AppendUvarint(w.out[:at], uint64(n)), body...)
}

// putVarint is binary.PutUvarint, quicker where a number has one or two bytes.
func putVarint(b []byte, v uint64) int {
	switch {
	case v < 1<<7:
		b[0] = byte(v)
		return 1
	case v < 1<<14:
		b[1], b[0] = byte(v>>7), byte(v)|1<<7
		return 2
	}
	return binary.PutUvarint(b, v)
}

// sliceBegins writes that a call begins. name is the number of its name.
func (w *writer) sliceBegins(s *slices, time, name uint64) {
	if time != s.time {
		s.goesTo(time)
	}
	packet, b := w.open(&s.begin)
	w.shut(packet, &s.begin, putVarint(b, name))
}

// sliceEnds writes that a call ends.
func (w *writer) sliceEnds(s *slices, time uint64, c *calls.Call) {
	if time != s.time {
		s.goesTo(time)
	}
	o := &s.end
	packet, b := w.open(o)
	n := putVarint(b, c.Insns)
	w.out[:packet+o.n][packet+o.note] = byte(o.n - o.note - 1 + n)
	n += copy(b[n:], w.notes[c.Verdict][c.Ended])
	w.shut(packet, o, n)
}

// instructionsNote is the name of a note, and the tag of the number that follows.
var instructionsNote = append(stringField(nil, annotationName, "instructions"), annotationUint<<3)

// callNotes is the notes at the end of slices: of a verdict, and of how a call ended.
type callNotes [decoder.Ambiguous + 1][calls.AtEnd + 1][]byte

// newCallNotes returns notes.
func newCallNotes() *callNotes {
	var n callNotes
	var w writer
	for v := range n {
		for i := range n[v] {
			verdict, ended := textNote("verdict", decoder.Verdict(v).String()), textNote("ended", calls.Way(i).String())
			n[v][i] = w.annotate(w.annotate(nil, &verdict), &ended)
		}
	}
	return &n
}

// nameCache finds numbers of functions' names in the sequence that they were asked for last. Each stream has one, as
// streams take turns.
type nameCache []struct{ turn, id uint64 }

// find returns the number of a function's name in s, 0 if it is not here.
func (n nameCache) find(function int, s *sequence) uint64 {
	if function < len(n) && n[function].turn == s.turn {
		return n[function].id
	}
	return 0
}

// keep keeps a number.
func (n *nameCache) keep(function int, s *sequence, id uint64) {
	for len(*n) <= function {
		*n = append(*n, struct{ turn, id uint64 }{})
	}
	(*n)[function] = struct{ turn, id uint64 }{s.turn, id}
}
