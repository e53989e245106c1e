package perfetto

import (
	"io"
	"math"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of Perfetto's messages, by message (protos/perfetto/trace, v49: trace.proto,
// trace_packet.proto, track_event/track_event.proto, track_descriptor.proto,
// counter_descriptor.proto, debug_annotation.proto, interned_data/interned_data.proto).
const (
	tracePacket = 1

	packetTimestamp  = 8
	packetSequence   = 10
	packetEvent      = 11
	packetInterned   = 12
	packetFlags      = 13
	packetDefaults   = 59
	packetDescriptor = 60

	flagsCleared = 1 // SEQ_INCREMENTAL_STATE_CLEARED
	flagsNeeds   = 2 // SEQ_NEEDS_INCREMENTAL_STATE

	internedNames = 2  // EventName
	internedNotes = 3  // DebugAnnotationName
	internedTexts = 29 // InternedString, of annotations
	internedID    = 1
	internedName  = 2

	defaultsEvent = 11 // TrackEventDefaults
	defaultsTrack = 11

	descriptorUUID    = 1
	descriptorName    = 2
	descriptorParent  = 5
	descriptorCounter = 8
	counterUnitName   = 6

	eventAnnotations = 4
	eventType        = 9
	eventName        = 10
	eventTrack       = 11
	eventCounter     = 44 // double_counter_value
	eventFlows       = 47
	annotationNameID = 1
	annotationUint   = 3
	annotationString = 6
	annotationPtr    = 7
	annotationName   = 10
	annotationTextID = 17
)

// The types of an event.
const (
	sliceBegin = 1
	sliceEnd   = 2
	instant    = 3
	counter    = 4
)

// note is a value that is shown with an event.
type note struct {
	name string
	text string
	is   bool // text it is, not n
	n    uint64
	addr bool // n is an address
}

// textNote is text that is shown with an event.
func textNote(name, text string) note { return note{name: name, text: text, is: true} }

// trackEvent is a TrackEvent.
type trackEvent struct {
	kind  uint64
	time  uint64 // ns
	name  string
	track uint64
	notes []note
	flows []uint64
	value float64 // of a counter
}

// sequence is a sequence of packets, with its numbers of names.
type sequence struct {
	id    uint64
	track uint64 // of a thread: that of all its events, whose notes have names and texts by number; 0: it is no thread's
	names map[string]uint64
	turn  uint32 // how often it began numbering anew, in all sequences
}

// maxNames is how many names a sequence numbers before it begins anew.
const maxNames = 8192

// writer writes packets.
type writer struct {
	w                        io.Writer
	out, packet, part, inner []byte
	sequences                uint64
	turns                    uint32 // of sequences
	notes                    *callNotes
	err                      error
}

// writeBytes is how much is written at once, bytes.
const writeBytes = 256 << 10

func uintField(b []byte, f protowire.Number, v uint64) []byte {
	return protowire.AppendVarint(protowire.AppendTag(b, f, protowire.VarintType), v)
}

func bytesField(b []byte, f protowire.Number, v []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(b, f, protowire.BytesType), v)
}

// stringField appends text. Names of damaged files may be no UTF-8, which readers refuse.
func stringField(b []byte, f protowire.Number, v string) []byte {
	return protowire.AppendString(protowire.AppendTag(b, f, protowire.BytesType), strings.ToValidUTF8(v, "\uFFFD"))
}

// begin begins a sequence: that of a thread with a track, or 0.
func (w *writer) begin(track uint64) *sequence {
	w.sequences++
	return &sequence{id: w.sequences, track: track}
}

// put writes the packet.
func (w *writer) put() {
	w.out = bytesField(w.out, tracePacket, w.packet)
	if w.packet = w.packet[:0]; len(w.out) >= writeBytes {
		w.flush()
	}
}

// flush writes what was collected.
func (w *writer) flush() {
	if w.err == nil && len(w.out) > 0 {
		_, w.err = w.w.Write(w.out)
	}
	w.out = w.out[:0]
}

// describe describes a track, with a unit if it is a counter.
func (w *writer) describe(s *sequence, uuid, parent uint64, name, unit string) {
	d := stringField(uintField(w.part[:0], descriptorUUID, uuid), descriptorName, name)
	if parent != 0 {
		d = uintField(d, descriptorParent, parent)
	}
	if unit != "" {
		w.inner = stringField(w.inner[:0], counterUnitName, unit)
		d = bytesField(d, descriptorCounter, w.inner)
	}
	w.part = d
	w.packet = bytesField(uintField(w.packet, packetSequence, s.id), packetDescriptor, d)
	w.put()
}

// anew begins the numbers of s anew, and returns the flags of the packet that says so.
func (w *writer) anew(s *sequence) uint64 {
	w.turns++
	s.names, s.turn = map[string]uint64{}, w.turns
	return flagsNeeds | flagsCleared
}

// emit writes e.
func (w *writer) emit(s *sequence, e *trackEvent) {
	b := uintField(uintField(w.packet, packetTimestamp, e.time), packetSequence, s.id)
	flags, id, names := uint64(flagsNeeds), uint64(0), w.part[:0]
	if s.names == nil || e.name != "" && len(s.names) >= maxNames {
		if flags = w.anew(s); s.track != 0 {
			b, names = bytesField(b, packetDefaults, s.defaults()), append(names, noteNames()...)
		}
	}
	if e.name != "" {
		if id = s.names[e.name]; id == 0 {
			id = uint64(len(s.names)) + 1
			s.names[e.name] = id
			names = interned(names, internedNames, id, e.name)
		}
	}
	if w.part = names; len(names) > 0 {
		b = bytesField(b, packetInterned, names)
	}
	b = uintField(b, packetFlags, flags)
	p := uintField(w.part[:0], eventType, e.kind)
	if s.track == 0 {
		p = uintField(p, eventTrack, e.track)
	}
	if id != 0 {
		p = uintField(p, eventName, id)
	}
	if e.kind == counter {
		p = protowire.AppendFixed64(protowire.AppendTag(p, eventCounter, protowire.Fixed64Type), math.Float64bits(e.value))
	}
	for i := range e.notes {
		p = w.annotate(p, s, &e.notes[i])
	}
	for _, f := range e.flows {
		p = protowire.AppendFixed64(protowire.AppendTag(p, eventFlows, protowire.Fixed64Type), f)
	}
	w.part = p
	w.packet = bytesField(b, packetEvent, p)
	w.put()
}

// interned appends an entry of InternedData.
func interned(b []byte, f protowire.Number, id uint64, text string) []byte {
	return bytesField(b, f, stringField(uintField(nil, internedID, id), internedName, text))
}

// defaults returns TracePacketDefaults: which track events of s are on.
func (s *sequence) defaults() []byte {
	return bytesField(nil, defaultsEvent, uintField(nil, defaultsTrack, s.track))
}

// annotate appends a debug annotation of an event of s.
func (w *writer) annotate(p []byte, s *sequence, n *note) []byte {
	a, name, text := w.inner[:0], uint64(0), uint64(0)
	if s.track != 0 {
		name, text = noteID(n.name), textID(n.text)
	}
	if name != 0 {
		a = uintField(a, annotationNameID, name)
	} else {
		a = stringField(a, annotationName, n.name)
	}
	switch {
	case n.is && text != 0:
		a = uintField(a, annotationTextID, text)
	case n.is:
		a = stringField(a, annotationString, n.text)
	case n.addr:
		a = uintField(a, annotationPtr, n.n)
	default:
		a = uintField(a, annotationUint, n.n)
	}
	w.inner = a
	return bytesField(p, eventAnnotations, a)
}
