package stream

import (
	"fmt"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// What the table of protocols has of CoreSight's in common.

// rulesOf returns a row's Rules: those of its configuration.
func rulesOf[C any, P interface {
	*C
	Rules() isa.Rules
}](config func(st *Stream, near bool) C) func(*Stream) isa.Rules {
	return func(st *Stream) isa.Rules {
		c := config(st, false)
		return P(&c).Rules()
	}
}

// eventsOf returns a row's Events: the decoder that its package makes.
func eventsOf[C any, D Decoder](config func(st *Stream, near bool) C, newDecoder func(C, event.Segment) D) func(*Stream, bool) Decoder {
	return func(st *Stream, near bool) Decoder { return newDecoder(config(st, near), event.Segment{}) }
}

// registers are all that a decoder of messages is told.
func registers(st *Stream, _ bool) coresight.Config { return st.CoreSight() }

// packet is a pointer to a packet of type P.
type packet[P any] interface {
	*P
	End() int64
	String() string
	AppendText(dst, raw []byte) []byte
	AppendFields(dst []byte) []byte
}

// packetsOf lists packets of type P, of a protocol whose lexer is lx.
type packetsOf[P any, T packet[P]] struct {
	lx interface {
		Reset(buf []byte, base int64)
		Next(*P) bool
	}
	fill func([]P) int // reads as many as there are, fewer at the end; nil: Next does
	all  []P           // memory for read
	read []P           // by fill, and not given yet
	p    P
	head func(*P) (off int64, kind fmt.Stringer, bad bool)
}

// packetsAtOnce is how many packets a lister reads at once: as many as fit the
// cache that is nearest.
const packetsAtOnce = 1024

// placed returns a packetsOf's fill of a lexer whose packets must be told where they lie.
func placed[P any, T interface {
	*P
	PlaceAt(off int64) (end int64)
}](lx interface {
	Fill([]P) int
	Off() int64
}) func([]P) int {
	return func(q []P) int {
		off := lx.Off()
		n := lx.Fill(q)
		for i := range q[:n] {
			off = T(&q[i]).PlaceAt(off)
		}
		return n
	}
}

// Reset begins with b (PacketLister).
func (l *packetsOf[P, T]) Reset(b []byte, off int64) {
	l.lx.Reset(b, off)
	l.read = l.read[:0]
}

// Next goes on to the next packet (PacketLister).
func (l *packetsOf[P, T]) Next() bool {
	if l.fill == nil {
		return l.lx.Next(&l.p)
	}
	if len(l.read) == 0 {
		if l.all == nil {
			l.all = make([]P, packetsAtOnce)
		}
		l.read = l.all[:l.fill(l.all)]
	}
	if len(l.read) == 0 {
		return false
	}
	l.p, l.read = l.read[0], l.read[1:]
	return true
}

func (l *packetsOf[P, T]) Place() (off, size int64) {
	off, _, _ = l.head(&l.p)
	return off, T(&l.p).End() - off
}

func (l *packetsOf[P, T]) Kind() (string, bool) {
	_, kind, bad := l.head(&l.p)
	return kind.String(), bad
}

func (l *packetsOf[P, T]) String() string                 { return T(&l.p).String() }
func (l *packetsOf[P, T]) AppendFields(dst []byte) []byte { return T(&l.p).AppendFields(dst) }

// AppendText appends the packet's text form (PacketLister).
func (l *packetsOf[P, T]) AppendText(dst, raw []byte) []byte { return T(&l.p).AppendText(dst, raw) }

// Memory is a stream that lies in memory.
type Memory []byte

// Bytes returns n bytes from off on (event.Bytes).
func (m Memory) Bytes(off, n int64) []byte {
	size := int64(len(m))
	if off < 0 || off >= size || n <= 0 {
		return nil
	}
	return m[off:min(off+n, size)]
}
