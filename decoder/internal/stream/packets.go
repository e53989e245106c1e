package stream

import (
	"math"
)

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
	// AppendFields appends the packet's fields as a JSON object, by their names.
	AppendFields(dst []byte) []byte
}

// longLister is a PacketLister that can go on in the middle of a segment. So a
// segment need not lie in memory as a whole.
type longLister interface {
	PacketLister
	// Continue goes on with b, whose first byte lies at off in the stream and follows
	// the last packet.
	Continue(b []byte, off int64)
	// Sync returns where in b a packet begins for certain, whatever lies before b; ok is
	// false where none does.
	Sync(b []byte) (at int, ok bool)
	// Extend says that the packet, which is none, reaches to end in the stream.
	Extend(end int64)
}

// What is listed at once, bytes: so much at least, if the stream holds it, and of
// a longLister so much at most.
const (
	minListed = 1 << 20
	maxListed = 4 << 20
)

// packetRoom is more than a packet of a longLister takes, bytes.
const packetRoom = 64

// EachPacket gives the stream's packets from its first sync point on. A packet is
// lent until the next, with its bytes; of bytes that are no packet it may be the
// first packetRoom only.
func (st *Stream) EachPacket(yield func(k PacketLister, raw []byte) bool) {
	newListing(st, maxListed).all(minListed, yield)
}

// listing is a stream whose packets are listed.
type listing struct {
	st   *Stream
	k    PacketLister
	long longLister // k, if it is one
	most int64      // bytes that are listed at once, of a longLister
	buf  []byte
	kept []byte // bytes of one packet, while the stream is asked for more
}

func newListing(st *Stream, most int64) *listing {
	l := &listing{st: st, k: st.Packets(), most: math.MaxInt64}
	if l.long, _ = l.k.(longLister); l.long != nil {
		l.most = most
	}
	return l
}

// all is EachPacket for stretches of at least so many bytes, which begin at sync
// points.
func (l *listing) all(least int64, yield func(k PacketLister, raw []byte) bool) {
	for g, ok := l.st.After(0); ok; {
		from, to := g.Off, l.st.Size
		if g, ok = l.st.After(from + least); ok {
			to = g.Off
		}
		if !l.stretch(from, to, yield) {
			return
		}
	}
}

// stretch lists the packets of [from, to), piece by piece.
func (l *listing) stretch(from, to int64, yield func(k PacketLister, raw []byte) bool) bool {
	b := l.bytes(from, min(to-from, l.most))
	for l.k.Reset(b, from); ; l.long.Continue(b, from) {
		whole := l.long == nil || int64(len(b)) < l.most || from+int64(len(b)) >= to
		end, ok := l.piece(b, from, to, whole, yield)
		if !ok || whole || end >= to {
			return ok
		}
		from = end
		b = l.bytes(from, min(to-from, l.most))
	}
}

// piece lists the packets of b, which lies at from, and returns where the last of
// them ends. Unless b is whole, it leaves out those that may be cut at b's end.
func (l *listing) piece(b []byte, from, to int64, whole bool, yield func(k PacketLister, raw []byte) bool) (end int64, ok bool) {
	stop := int64(math.MaxInt64)
	if !whole {
		stop = from + int64(len(b)) - packetRoom
	}
	for end = from; end < stop && l.k.Next(); {
		off, size := l.k.Place()
		raw := b[off-from:]
		if off+size > stop {
			if _, bad := l.k.Kind(); bad {
				l.kept = append(l.kept[:0], raw...) // b need not outlast sync
				raw = l.kept
				l.long.Extend(l.sync(off+1, to))
				_, size = l.k.Place()
			}
		}
		if !yield(l.k, raw[:min(size, int64(len(raw)))]) {
			return end, false
		}
		end = off + size
	}
	return end, true
}

// sync returns where in [from, to) a packet begins for certain, else to.
func (l *listing) sync(from, to int64) int64 {
	for from < to {
		b := l.st.Data.Bytes(from, min(to-from, l.most))
		whole := int64(len(b)) < l.most || from+int64(len(b)) >= to
		at, ok := l.long.Sync(b)
		switch {
		case ok && (whole || at+packetRoom < len(b)):
			return from + int64(at)
		case whole:
			return to
		case ok:
			from += int64(at) // what begins there may go on behind b
		default:
			from += int64(len(b) - packetRoom)
		}
	}
	return to
}

// bytes returns n bytes of the stream from off on, until it is called again.
func (l *listing) bytes(off, n int64) []byte {
	if f, ok := l.st.Data.(*File); ok {
		l.buf = f.Into(l.buf, off, n)
		return l.buf
	}
	return l.st.Data.Bytes(off, n)
}
