package stream

import (
	"cmp"
	"slices"
	"sort"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// pageBytes is how much of a stream a page is: the segments that begin in it are
// found together.
const pageBytes = 32 << 10

// timeReach is how far a sync point's time is looked for, on either side of a
// segment whose own sync points state none, bytes. Beyond it the moment is not
// bounded.
const timeReach = 16 << 20

// finding is what a stream remembers of the search for its segments. All that it
// holds can be found again.
type finding struct {
	mu      sync.Mutex
	f       *finder
	any     nearest // sync points
	timed   nearest // those that state a time
	untimed bool    // no sync point of the protocol states a time
	written uint64  // ns: all of the stream had been written by then; 0: not known
	ends    []int64 // by loss: how far it and those before it reach, bytes

	host knowledge // see Stream.Host

	spanned sync.Once
	span    event.Time // see Stream.Time

	pages []*page // those asked for last, the newest first
	held  int64   // bytes that pages hold
	most  int64   // bytes that they may hold
}

// knowledge is an answer that may not be known yet.
type knowledge uint8

const (
	hostUnknown knowledge = iota
	hostNo
	hostYes
)

// page is the segments that begin in a page of the stream.
type page struct {
	number int64
	segs   []event.Segment
}

// segmentSize is what a segment takes in memory, bytes.
const segmentSize = 80

// minPages is how many pages a stream holds whatever they take: one is read, and
// its neighbour is asked what lies beside it.
const minPages = 2

// page returns page number k. The caller holds mu.
func (d *finding) page(k int64) *page {
	i := slices.IndexFunc(d.pages, func(p *page) bool { return p.number == k })
	if i >= 0 {
		p := d.pages[i]
		copy(d.pages[1:i+1], d.pages[:i])
		d.pages[0] = p
		return p
	}
	p := &page{number: k, segs: d.find(k)}
	d.pages = slices.Insert(d.pages, 0, p)
	d.held += p.size()
	for len(d.pages) > minPages && d.held > d.most {
		last := len(d.pages) - 1
		d.held -= d.pages[last].size()
		d.pages[last] = nil
		d.pages = d.pages[:last]
	}
	return p
}

// size is what p takes in memory, bytes.
func (p *page) size() int64 { return int64(cap(p.segs))*segmentSize + 64 }

// find finds the segments that begin in page k.
func (d *finding) find(k int64) (segs []event.Segment) {
	st := d.f.st
	from, until := k*pageBytes, (k+1)*pageBytes
	s, ok := d.f.next(from, until)
	if !ok {
		return nil
	}
	if len(d.pages) > 0 {
		segs = make([]event.Segment, 0, len(d.pages[0].segs)+1) // about as many as in the page before
	}
	lo := uint64(0)
	if !s.Timed && !s.First && !d.untimed {
		if before, ok := d.timed.before(s.Off); ok && d.f.border(before.Off) > s.Off {
			lo = before.Time.Lo
		}
	}
	open := 0 // segments from here on have no upper bound yet
	for ok && s.Off < until {
		if s.Timed {
			lo = s.Time.Lo
			open = bound(segs, open, s.Time.Hi)
		}
		g := event.Segment{Stream: st.Index, Off: s.Off, Time: event.Time{Lo: lo, Hi: event.Always.Hi}, Host: s.Host, Starts: s.First}
		border := d.f.border(s.Off)
		if s, ok = d.f.next(s.Off+1, until); !ok {
			s, ok = d.any.after(until)
		}
		if !ok {
			s.Off = st.Size
		}
		g.End = min(s.Off, border)
		g.Ends = !ok || s.Off >= border
		segs = append(segs, g)
	}
	if ok && open < len(segs) && !d.untimed {
		d.boundAbove(segs[open:], s)
	}
	segs = d.cutAtLosses(d.capTimes(segs))
	if n := len(segs); n > 0 {
		segs[n-1].Last = !d.more(segs[n-1].Off + 1)
	}
	return segs
}

// bound gives the segments from open on the upper bound hi, ns, and returns how
// many are bounded then.
func bound(segs []event.Segment, open int, hi uint64) int {
	for ; open < len(segs); open++ {
		segs[open].Time.Hi = hi
	}
	return open
}

// boundAbove gives segs, which no sync point among them bounds above, what s, the
// one behind them, states, or else the next that states its time.
func (d *finding) boundAbove(segs []event.Segment, s event.SyncPoint) {
	if !s.Timed {
		ok := false
		if s, ok = d.timed.after(s.Off); !ok {
			return
		}
	}
	if d.f.border(segs[0].Off) > s.Off { // nothing behind a border bounds what lies before it
		bound(segs, 0, s.Time.Hi)
	}
}

// capTimes takes from each segment's time what lies behind the moment by which all
// of the stream had been written.
func (d *finding) capTimes(segs []event.Segment) []event.Segment {
	for i := range segs {
		if t := &segs[i].Time; d.written != 0 && t.Hi > d.written {
			t.Hi = max(d.written, t.Lo)
		}
	}
	return segs
}

// segmentFrom returns the first segment that begins at off or behind it. The caller
// holds mu.
func (d *finding) segmentFrom(off int64) (g event.Segment, ok bool) {
	for off < d.f.st.Size {
		s, ok := d.any.after(off)
		if !ok {
			return g, false
		}
		segs := d.page(s.Off / pageBytes).segs
		if i := firstFrom(segs, s.Off); i < len(segs) {
			return segs[i], true
		}
		off = (s.Off/pageBytes + 1) * pageBytes // all others of the page are lost
	}
	return g, false
}

// segmentBefore returns the last segment that begins before off. The caller holds mu.
func (d *finding) segmentBefore(off int64) (g event.Segment, ok bool) {
	for off > 0 {
		segs := d.page((off - 1) / pageBytes).segs
		if i := firstFrom(segs, off); i > 0 {
			return segs[i-1], true
		}
		s, ok := d.any.before((off - 1) / pageBytes * pageBytes)
		if !ok {
			return g, false
		}
		off = s.Off + 1
		if segs := d.page(s.Off / pageBytes).segs; firstFrom(segs, off) == 0 {
			off = s.Off / pageBytes * pageBytes // all others of the page before it are lost
		}
	}
	return g, false
}

// firstFrom returns the index of the first of segs that begins at off or behind it.
func firstFrom(segs []event.Segment, off int64) int {
	i, _ := slices.BinarySearchFunc(segs, off, func(g event.Segment, off int64) int { return cmp.Compare(g.Off, off) })
	return i
}

// cutAtLosses ends segments where bytes are missing: what follows the loss in the
// same segment does not continue it, and is passed over up to the next sync point.
// Segments that begin where the data has holes are left out.
func (d *finding) cutAtLosses(segs []event.Segment) []event.Segment {
	losses := d.f.st.Losses
	if len(losses) == 0 {
		return segs
	}
	segs = slices.DeleteFunc(segs, func(g event.Segment) bool {
		i := lossBehind(losses, g.Off)
		return i > 0 && d.ends[i-1] > g.Off
	})
	for k := range segs {
		g := &segs[k]
		if i := lossBehind(losses, g.Off); i < len(losses) && losses[i].Off <= g.End {
			g.End = losses[i].Off
		}
	}
	return segs
}

// more reports whether a segment begins at off or behind it.
func (d *finding) more(off int64) bool {
	for {
		s, ok := d.any.after(off)
		if !ok {
			return false
		}
		if i := lossBehind(d.f.st.Losses, s.Off); i == 0 || d.ends[i-1] <= s.Off {
			return true
		} else {
			off = d.ends[i-1]
		}
	}
}

// lossBehind returns the index of the first loss that begins behind off.
func lossBehind(losses []Loss, off int64) int {
	return sort.Search(len(losses), func(i int) bool { return losses[i].Off > off })
}
