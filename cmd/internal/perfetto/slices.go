package perfetto

import (
	"encoding/binary"

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

// slices is the parts of packets of a track's slices.
type slices struct {
	head       []byte // the sequence, and that its names count
	begin, end []byte // the type of the event, and its track
}

// newSlices returns the parts of a track's packets.
func newSlices(s *sequence, track uint64) slices {
	return slices{
		head:  uintField(uintField(nil, packetSequence, s.id), packetFlags, flagsNeeds),
		begin: uintField(uintField(nil, eventType, sliceBegin), eventTrack, track),
		end:   uintField(uintField(nil, eventType, sliceEnd), eventTrack, track),
	}
}

// open begins a packet of s in w.out. It returns where its length stands, and that of its event.
func (w *writer) open(s *slices, time uint64) (packet, event int) {
	b := append(w.out, tagPacket, 0, tagTimestamp)
	packet = len(w.out) + 1
	b = append(binary.AppendUvarint(b, time), s.head...)
	w.out = append(b, tagEvent, 0)
	return packet, len(w.out) - 1
}

// shut ends what is open: the length of what lies behind at is written there.
func (w *writer) shut(at int) {
	n := len(w.out) - at - 1
	if n < 1<<7 {
		w.out[at] = byte(n)
		return
	}
	body := append([]byte(nil), w.out[at+1:]...)
	w.out = append(binary.AppendUvarint(w.out[:at], uint64(n)), body...)
}

// sliceBegins writes that a call begins. name is the number of its name.
func (w *writer) sliceBegins(s *slices, time, name uint64) {
	packet, event := w.open(s, time)
	w.out = binary.AppendUvarint(append(append(w.out, s.begin...), tagName), name)
	w.shut(event)
	w.shut(packet)
	if len(w.out) >= writeBytes {
		w.flush()
	}
}

// sliceEnds writes that a call ends.
func (w *writer) sliceEnds(s *slices, time uint64, c *calls.Call) {
	packet, event := w.open(s, time)
	w.out = append(append(w.out, s.end...), tagNote, 0)
	at := len(w.out) - 1
	w.out = binary.AppendUvarint(append(w.out, w.notes.insns...), c.Insns)
	w.shut(at)
	w.out = append(append(w.out, w.notes.verdict(c.Verdict)...), w.notes.ended(c.Ended)...)
	w.shut(event)
	w.shut(packet)
	if len(w.out) >= writeBytes {
		w.flush()
	}
}

// callNotes is what stands at the end of slices.
type callNotes struct {
	insns    []byte                        // the name, and the tag of the number that follows
	verdicts [decoder.Ambiguous + 1][]byte // whole notes
	ways     [calls.AtEnd + 1][]byte       // the same of how a call ended
}

// newCallNotes returns notes.
func newCallNotes() (n callNotes) {
	n.insns = append(stringField(nil, annotationName, "instructions"), annotationUint<<3)
	var w writer
	for v := range n.verdicts {
		x := textNote("verdict", decoder.Verdict(v).String())
		n.verdicts[v] = w.annotate(nil, &x)
	}
	for i := range n.ways {
		x := textNote("ended", calls.Way(i).String())
		n.ways[i] = w.annotate(nil, &x)
	}
	return n
}

func (n *callNotes) verdict(v decoder.Verdict) []byte { return n.verdicts[v] }
func (n *callNotes) ended(w calls.Way) []byte         { return n.ways[w] }

// nameCache finds numbers of functions' names in the sequence that they were asked for last.
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
