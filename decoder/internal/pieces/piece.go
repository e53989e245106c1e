package pieces

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// Piece is a stretch of a batch with one time.
type Piece struct {
	Key    uint64 // when, ns; backwards counted back from the end of time
	Part   flow.Part
	Ranges [2]int // from, until, of the batch's Ranges
	Notes  [2]int
}

// Ran reports whether p is ranges, not a note.
func (p *Piece) Ran() bool { return p.Notes[0] == p.Notes[1] }

// Batch is a batch of which pieces are left.
type Batch struct {
	*flow.Batch
	Segs   []event.Segment // of its job
	Size   int64           // bytes that the batch takes
	Job    int             // which one, of the jobs of its stream
	Pieces []Piece
	Next   int // of Pieces

	// Steady says that its stamps' times count up. Then only the next piece is found ahead, and no more
	// than where it begins. Most of the time what is handed on has many.
	Steady bool

	open    int    // backwards: so many pieces, the last ones, say nothing of their time
	newest  uint64 // backwards: when its newest piece lies, ns, if not all are open
	settled int    // backwards: so many pieces have their keys
	back    bool
}

// Reuse has b be new batch f.
func (b *Batch) Reuse(f *flow.Batch, segs []event.Segment, size int64, steady bool) {
	*b = Batch{Batch: f, Segs: segs, Size: size, Pieces: b.Pieces[:0], Steady: steady}
	b.Begins(0, 0)
}

// Front returns the key of the next piece.
func (b *Batch) Front() uint64 { return b.Pieces[b.Next].Key }

// Ready reports whether the key of the next piece is known.
func (b *Batch) Ready() bool { return b.Next < b.Until() }

// Until returns up to where the keys of pieces are known.
func (b *Batch) Until() int {
	if b.back {
		return b.settled
	}
	return len(b.Pieces)
}

// at returns the piece of b that begins with a range and a note. Where it is ranges, its end is left open.
func (b *Batch) at(r, n int) (p Piece, ok bool) {
	p = Piece{Ranges: [2]int{r, r}, Notes: [2]int{n, n}}
	switch {
	case n < len(b.Batch.Notes) && b.Batch.Notes[n].At <= r:
		p.Key, p.Notes[1] = b.NoteBegan(n, b.Segs), n+1
	case r < len(b.Batch.Ranges):
		p.Key = b.Began(r, b.Segs)
	default:
		return p, false
	}
	return p, true
}

// Begins makes the piece at a range and a note the next one of b, which is steady.
func (b *Batch) Begins(r, n int) {
	b.Pieces = b.Pieces[:0]
	if p, ok := b.at(r, n); ok {
		b.Pieces = append(b.Pieces, p)
	}
}

// runsTo returns the range at which the next note behind p lies, or the end.
func (b *Batch) runsTo(p *Piece) int {
	if n := p.Notes[1]; n < len(b.Batch.Notes) {
		return min(len(b.Batch.Ranges), b.Batch.Notes[n].At)
	}
	return len(b.Batch.Ranges)
}

// Cut cuts b into all of its pieces. The key of each is what it says itself.
func (b *Batch) Cut() {
	b.Pieces = b.Pieces[:0]
	for p, ok := b.at(0, 0); ok; p, ok = b.at(p.Ranges[1], p.Notes[1]) {
		if p.Ran() {
			r, end := p.Ranges[0], b.runsTo(&p)
			stamp := b.Ranges[r].Stamp
			for r < end && b.Ranges[r].Stamp == stamp {
				r++
			}
			p.Ranges[1] = r
		}
		b.Pieces = append(b.Pieces, p)
	}
}
