package stream

import (
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Points finds the sync points of a stretch of a stream at which segments begin.
// Offsets count from the stretch's start, bytes.
type Points interface {
	// First returns where the first one lies; the stretch's size if there is none.
	First() int64
	// Next returns the first one in [from, until); ok is false if there is none.
	Next(from, until int64) (s event.SyncPoint, ok bool)
}

// finder finds sync points anywhere in a stream, piece by piece. Nothing of
// a protocol of CoreSight goes on behind a border: a loss, or a place where the
// trace unit began anew.
type finder struct {
	st      *Stream
	data    event.Bytes
	borders []int64 // between the pieces, ascending
	piece   Points  // of [from, end), looked at last
	from    int64
	end     int64
}

// newFinder returns a finder of st's sync points.
func newFinder(st *Stream) *finder {
	f := &finder{st: st, data: st.Data}
	if file, ok := st.Data.(*File); ok {
		f.data = &pieces{f: file}
	}
	if !st.Protocol.Pieces {
		return f
	}
	for _, at := range st.starts() {
		if at > 0 && at < st.Size && (len(f.borders) == 0 || at > f.borders[len(f.borders)-1]) {
			f.borders = append(f.borders, at)
		}
	}
	return f
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

// next returns the first sync point in [from, until).
func (f *finder) next(from, until int64) (s event.SyncPoint, ok bool) {
	for until = min(until, f.st.Size); from < until; from = f.end {
		f.open(from)
		if s, ok = f.piece.Next(from-f.from, min(until, f.end)-f.from); ok {
			s.Off += f.from
			return s, true
		}
	}
	return s, false
}

// open makes the piece that holds off the one that is looked at.
func (f *finder) open(off int64) {
	if f.piece != nil && f.from <= off && off < f.end {
		return
	}
	f.from, f.end = 0, f.border(off)
	if i := sort.Search(len(f.borders), func(i int) bool { return f.borders[i] > off }); i > 0 {
		f.from = f.borders[i-1]
	}
	f.piece = f.st.Protocol.Points(f.st, stretchOf{f.data, f.from, f.end}, f.end-f.from)
}

// border returns the first border behind off, or the stream's end.
func (f *finder) border(off int64) int64 {
	i := sort.Search(len(f.borders), func(i int) bool { return f.borders[i] > off })
	if i == len(f.borders) {
		return f.st.Size
	}
	return f.borders[i]
}

// stretchOf is the bytes [from, end) of a stream.
type stretchOf struct {
	of        event.Bytes
	from, end int64
}

// Bytes returns n bytes from off on, counted from the stretch's start (event.Bytes).
func (s stretchOf) Bytes(off, n int64) []byte {
	return s.of.Bytes(s.from+off, min(n, s.end-s.from-off))
}

// pieces reads a file in large pieces; what it gives is lent until the next call.
type pieces struct {
	f   *File
	buf []byte
	off int64 // of buf
}

// pieceBytes is how much of a file is read at once.
const pieceBytes = 256 << 10

// Bytes returns n bytes from off on.
func (p *pieces) Bytes(off, n int64) []byte {
	if off < p.off || off+n > p.off+int64(len(p.buf)) {
		from := off
		if off < p.off { // it may be read backwards
			from = max(0, off+n-pieceBytes)
		}
		p.buf, p.off = p.f.Into(p.buf, from, max(off+n-from, pieceBytes)), from
	}
	at := min(off-p.off, int64(len(p.buf)))
	return p.buf[at:min(at+n, int64(len(p.buf)))]
}

// listed is the Points of a protocol that finds all segments of a stretch at
// once, of which each is long.
type listed struct {
	size int64
	list []listedPoint
}

// listedPoint is where a segment begins and how its time is bounded, ns.
type listedPoint struct {
	off    int64
	lo, hi uint64
}

// newListed returns the points at which segs begin, the segments of a stretch of
// size bytes.
func newListed(segs []event.Segment, size int64) *listed {
	l := &listed{size: size, list: make([]listedPoint, 0, len(segs))}
	for i := range segs {
		g := &segs[i]
		hi := event.Always.Hi
		if i > 0 {
			hi = segs[i-1].Time.Hi
		}
		l.list = append(l.list, listedPoint{g.Off, g.Time.Lo, hi})
	}
	return l
}

// First returns where the first one lies (Points).
func (l *listed) First() int64 {
	if len(l.list) == 0 {
		return l.size
	}
	return l.list[0].off
}

// Next returns the first one in [from, until) (Points).
func (l *listed) Next(from, until int64) (s event.SyncPoint, ok bool) {
	i := sort.Search(len(l.list), func(i int) bool { return l.list[i].off >= from })
	if i == len(l.list) || l.list[i].off >= until {
		return s, false
	}
	p := &l.list[i]
	return event.SyncPoint{Off: p.off, Time: event.Time{Lo: p.lo, Hi: p.hi}, Timed: true, First: i == 0}, true
}
