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
	tagNoteName  = annotationNameID << 3
	tagNoteUint  = annotationUint << 3
)

// slices is what packets of a thread's slices begin with, for the time of the last one.
type slices struct {
	time       uint64 // ns
	head       []byte // behind the time: the sequence, and that its names count
	begin, end opening
}

// opening is what a packet begins with, up to the first byte that differs from packet to packet.
type opening struct {
	b     [maxOpening]byte
	n     int // bytes
	event int // where the length of the event stands; that of the packet is at 1
}

// How long the parts of a packet are at most, bytes. All of it is so short that a length is one byte.
const (
	maxOpening = 32 // with ten bytes of time, five of the sequence
	maxNotes   = 16
	maxPacket  = maxOpening + binary.MaxVarintLen64 + maxNotes
)

// newSlices returns the beginnings of a thread's packets.
func newSlices(s *sequence) slices {
	x := slices{head: uintField(uintField(nil, packetSequence, s.id), packetFlags, flagsNeeds)}
	x.at(0)
	return x
}

// goesTo has s begin packets of a time, ns.
func (s *slices) goesTo(time uint64) {
	if sizeOf(time) != sizeOf(s.time) {
		s.at(time)
		return
	}
	s.time = time
	for i := timeAt; ; i++ { // as binary.PutUvarint
		b := byte(time)
		if time >>= 7; time > 0 {
			b |= 1 << 7
		}
		s.begin.b[i&(maxOpening-1)], s.end.b[i&(maxOpening-1)] = b, b
		if time == 0 {
			return
		}
	}
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
		if b = uintField(b, eventType, o.kind); o.kind == sliceBegin {
			b = append(b, tagName)
		} else {
			b = append(b, tagNote, 0, tagNoteName, noteInstructions, tagNoteUint)
		}
		o.n = len(b)
	}
}

// beginning makes the packet of a call that begins. name is the number of its name. It returns how long that is, bytes.
func (s *slices) beginning(b *[maxPacket]byte, name uint64) int {
	o := &s.begin
	n := o.number(b, name)
	b[1], b[o.event&(maxOpening-1)] = byte(n-2), byte(n-o.event-1)
	return n
}

// ending makes the packet of a call that ends. It returns how long that is, bytes.
func (s *slices) ending(b *[maxPacket]byte, insns uint64, of *notes) int {
	o := &s.end
	n := o.number(b, insns)
	b[(o.n-4)&(maxOpening-1)] = byte(n - o.n + 3)
	binary.LittleEndian.PutUint64(b[n:], of[0])
	binary.LittleEndian.PutUint64(b[n+8:], of[1])
	n += notesBytes
	b[1], b[o.event&(maxOpening-1)] = byte(n-2), byte(n-o.event-1)
	return n
}

// number begins a packet with o, up to the end of a number, and returns how long that is, bytes.
func (o *opening) number(b *[maxPacket]byte, v uint64) int {
	binary.LittleEndian.PutUint64(b[0:], binary.LittleEndian.Uint64(o.b[0:]))
	binary.LittleEndian.PutUint64(b[8:], binary.LittleEndian.Uint64(o.b[8:]))
	binary.LittleEndian.PutUint64(b[16:], binary.LittleEndian.Uint64(o.b[16:]))
	binary.LittleEndian.PutUint64(b[24:], binary.LittleEndian.Uint64(o.b[24:]))
	n := o.n & (maxOpening - 1)
	switch {
	case v < 1<<7:
		b[n] = byte(v)
		return n + 1
	case v < 1<<14:
		b[n], b[n+1] = byte(v)|1<<7, byte(v>>7)
		return n + 2
	}
	return n + binary.PutUvarint(b[n:], v)
}

// sliceBegins writes that a call begins. name is the number of its name.
func (w *writer) sliceBegins(s *slices, time, name uint64) {
	if time != s.time {
		s.goesTo(time)
	}
	b := (*[maxPacket]byte)(w.room(maxPacket))
	w.wrote(s.beginning(b, name))
}

// sliceEnds writes that a call ends.
func (w *writer) sliceEnds(s *slices, time, insns uint64, verdict decoder.Verdict, ended calls.Way) {
	if time != s.time {
		s.goesTo(time)
	}
	b := (*[maxPacket]byte)(w.room(maxPacket))
	w.wrote(s.ending(b, insns, &w.notes[verdict][ended]))
}

// room makes room for n bytes behind w.out, and returns it.
func (w *writer) room(n int) []byte {
	at := len(w.out)
	if cap(w.out)-at < n {
		w.out = append(make([]byte, 0, max(2*cap(w.out), writeBytes+n)), w.out...)
	}
	return w.out[at:cap(w.out)]
}

// wrote takes n bytes that were written to room.
func (w *writer) wrote(n int) {
	if w.out = w.out[:len(w.out)+n]; len(w.out) >= writeBytes {
		w.flush()
	}
}

// nameCache finds numbers of functions' names in the sequence that they were asked for last. Each stream has one, as
// streams take turns.
type nameCache []struct{ turn, id uint32 }

// find returns the number of a function's name in s, 0 if it is not here.
func (n nameCache) find(function int, s *sequence) uint64 {
	if function < len(n) && n[function].turn == s.turn {
		return uint64(n[function].id)
	}
	return 0
}

// keep keeps a number.
func (n *nameCache) keep(function int, s *sequence, id uint64) {
	for len(*n) <= function {
		*n = append(*n, struct{ turn, id uint32 }{})
	}
	(*n)[function] = struct{ turn, id uint32 }{s.turn, uint32(id)}
}
