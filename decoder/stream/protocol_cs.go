package stream

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// What the table of protocols has of CoreSight's in common.

// inPieces plans a stream piece by piece: what lies on both sides of a loss, or
// of a place where the trace unit began anew, does not continue each other.
// plan plans one piece, of size bytes.
func inPieces(st *Stream, data Bytes, plan func(src Bytes, size int64) ([]event.Segment, int64)) (segs []event.Segment, head int64) {
	head = st.Size
	from := int64(0)
	add := func(end int64) {
		part, _ := plan(stretchOf{data, from, end}, end-from)
		for _, g := range part {
			g.Stream, g.Index, g.Last = st.Index, len(segs), false
			g.Off, g.End = g.Off+from, g.End+from
			segs = append(segs, g)
		}
		from = end
	}
	for _, at := range st.starts() {
		if at > from && at < st.Size {
			add(at)
		}
	}
	if add(st.Size); len(segs) > 0 {
		segs[len(segs)-1].Last = true
		head = segs[0].Off
	}
	return segs, head
}

// starts returns the places at which the stream does not continue, ascending.
func (st *Stream) starts() []int64 {
	list := slices.Clone(st.Restarts)
	for _, l := range st.Losses {
		list = append(list, l.Off)
	}
	slices.Sort(list)
	return list
}

// stretchOf is the bytes [from, end) of a stream.
type stretchOf struct {
	of        Bytes
	from, end int64
}

// Bytes returns n bytes from off on, counted from the stretch's start (Bytes).
func (s stretchOf) Bytes(off, n int64) []byte {
	return s.of.Bytes(s.from+off, min(n, s.end-s.from-off))
}

// packetsOf lists packets of type P, of a protocol whose lexer is lx.
type packetsOf[P any] struct {
	lx interface {
		Reset(buf []byte, base int64)
		Next(*P) bool
	}
	fill  func([]P) int // reads as many as there are, fewer at the end; nil: Next does
	all   []P           // memory for read
	read  []P           // by fill, and not given yet
	p     P
	place func(*P) (off, size int64)
	kind  func(*P) (name string, bad bool)
	line  func(*P) string
	text  func(dst []byte, p *P, raw []byte) []byte
}

// packetsAtOnce is how many packets a lister reads at once: as many as fit the
// cache that is nearest.
const packetsAtOnce = 1024

// placed returns a packetsOf's fill of a lexer whose packets place tells where they
// lie.
func placed[P any](lx interface {
	Fill([]P) int
	Off() int64
}, place func(q []P, off int64)) func([]P) int {
	return func(q []P) int {
		off := lx.Off()
		n := lx.Fill(q)
		place(q[:n], off)
		return n
	}
}

// Reset begins with b (PacketLister).
func (l *packetsOf[P]) Reset(b []byte, off int64) {
	l.lx.Reset(b, off)
	l.read = l.read[:0]
}

// Next goes on to the next packet (PacketLister).
func (l *packetsOf[P]) Next() bool {
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

func (l *packetsOf[P]) Place() (int64, int64)             { return l.place(&l.p) }
func (l *packetsOf[P]) Kind() (string, bool)              { return l.kind(&l.p) }
func (l *packetsOf[P]) String() string                    { return l.line(&l.p) }
func (l *packetsOf[P]) AppendText(dst, raw []byte) []byte { return l.text(dst, &l.p, raw) }

// Memory is a stream that lies in memory.
type Memory []byte

// Bytes returns n bytes from off on (Bytes).
func (m Memory) Bytes(off, n int64) []byte {
	size := int64(len(m))
	if off < 0 || off >= size || n <= 0 {
		return nil
	}
	return m[off:min(off+n, size)]
}
