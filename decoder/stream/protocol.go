package stream

import (
	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
)

// Protocol names a trace protocol.
type Protocol uint8

// The protocols. Each has a row in the table protocols.
const (
	IntelPT Protocol = iota
	ETMv4
	ETE
	ETMv3
	PTM
	STM
	ITM
	numProtocols
)

// protocol is all that a session needs to know of a trace protocol.
type protocol struct {
	name string // as info prints it
	sync string // what a segment begins with, for messages

	isa    isa.Decoder // of the text that it traces
	mode   isa.Mode    // until the trace states one, and of the kernel's text
	silent bool        // no packet tells of an exception return
	margin int64       // bytes behind a segment's end that its Buf should hold

	// points finds sync points in a stretch of the stream, of size bytes.
	points func(st *Stream, src Bytes, size int64) points
	// pieces: what lies on both sides of a loss, or of a place where the trace unit
	// began anew, does not continue each other.
	pieces bool
	// rules is how the stream's events are walked.
	rules func(st *Stream) isa.Rules
	// events makes a decoder of the stream; near asks for near upper bounds on
	// every event's time.
	events func(st *Stream, near bool) Decoder
	// packets makes what lists the stream's packets.
	packets func(st *Stream) PacketLister
	// lastMode returns the mode that buf, which begins with a packet, states
	// last, isa.ModeUnknown if it states none; nil: segments state theirs.
	lastMode func(buf []byte) isa.Mode
	// stamps returns what the first and the last timestamp of a segment of st say,
	// ns. What comes before the segment happened by first, what comes after it not
	// before last; 0: nothing says. last is asked for with all. nil: segments state
	// their times.
	stamps func(st *Stream, buf []byte, all bool) (first, last uint64)
}

// protocols is the table of protocols. A new one gets a row.
var protocols = [numProtocols]protocol{
	IntelPT: {
		name: "Intel PT", sync: "PSB", isa: x86.Decoder{}, mode: isa.Mode64, margin: ptMargin,
		points: pointsPT, rules: rulesPT, events: eventsPT, packets: packetsPT, lastMode: lastModePT,
	},
	ETMv4: {
		name: "ETMv4", sync: "A-Sync", isa: armISA{}, mode: isa.ModeA64, margin: etmv4.Margin,
		points: pointsV4, pieces: true, rules: rulesV4, events: eventsV4, packets: packetsV4, stamps: stampsV4,
	},
	ETE: {
		name: "ETE", sync: "A-Sync", isa: armISA{}, mode: isa.ModeA64, margin: etmv4.Margin, silent: true,
		points: pointsV4, pieces: true, rules: rulesV4, events: eventsV4, packets: packetsV4, stamps: stampsV4,
	},
	ETMv3: {
		name: "ETMv3", sync: "A-sync", isa: armISA{}, mode: isa.ModeT32, margin: etmv3.Margin,
		points: pointsV3, pieces: true, rules: rulesV3, events: eventsV3, packets: packetsV3,
	},
	PTM: {
		name: "PTM", sync: "A-sync", isa: armISA{}, mode: isa.ModeA32, margin: ptm.Margin,
		points: pointsPTM, rules: rulesPTM, events: eventsPTM, packets: packetsPTM,
	},
	STM: {
		name: "STM", sync: "Async", isa: armISA{}, mode: isa.ModeA64,
		points: pointsSTM, pieces: true, rules: noRules, events: eventsSTM, packets: packetsSTM,
	},
	ITM: {
		name: "ITM", sync: "Sync", isa: armISA{}, mode: isa.ModeT32,
		points: pointsITM, pieces: true, rules: noRules, events: eventsITM, packets: packetsITM,
	},
}

// String returns the protocol's name as info prints it.
func (p Protocol) String() string {
	if p < numProtocols {
		return protocols[p].name
	}
	return "?"
}

// ForUnit returns the protocol of a CoreSight trace source.
func ForUnit(p coresight.Protocol) Protocol {
	switch p {
	case coresight.ETMv4:
		return ETMv4
	case coresight.ETE:
		return ETE
	case coresight.ETMv3:
		return ETMv3
	case coresight.PTM:
		return PTM
	case coresight.STM:
		return STM
	case coresight.ITM:
		return ITM
	}
	return numProtocols
}

// of returns the row of st's protocol.
func (st *Stream) of() *protocol { return &protocols[st.Protocol] }

// Sync names what a segment of the stream begins with.
func (st *Stream) Sync() string { return st.of().sync }

// Margin is how many bytes behind a segment's end its Buf should hold.
func (st *Stream) Margin() int64 { return st.of().margin }

// Decoder returns what gives the stream's events; near asks for near upper
// bounds on every event's time.
func (st *Stream) Decoder(near bool) Decoder { return st.of().events(st, near) }

// SilentReturns reports whether no packet of the stream tells of an exception
// return: an executed ERET is one.
func (st *Stream) SilentReturns() bool { return st.of().silent }

// Decoder gives the events of one segment after another.
type Decoder interface {
	// Next gives the segment's next event; false at its end.
	Next(*event.Event) bool
	// Reset begins a segment.
	Reset(event.Segment)
}

// PacketLister gives the packets of a stream one by one, as text.
type PacketLister interface {
	// Reset begins with b, whose first byte lies at off in the stream and begins a packet.
	Reset(b []byte, off int64)
	// Next goes on to the next packet; false at the end.
	Next() bool
	// Place returns where the packet lies in the stream and its size, bytes.
	Place() (off, size int64)
	// Kind names the packet as its manual does; bad: it is no packet.
	Kind() (name string, bad bool)
	// String is the packet for people, on one line.
	String() string
	// AppendText appends the packet's text form, which can be read back; raw is
	// its bytes.
	AppendText(dst, raw []byte) []byte
}

// Packets returns what lists the stream's packets.
func (st *Stream) Packets() PacketLister { return st.of().packets(st) }
