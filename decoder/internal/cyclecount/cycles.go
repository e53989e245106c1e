package cyclecount

import (
	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/pt"
)

// Cycles counts the cycles of a core, as far as the trace told of them up to a place in its
// stream. Only differences mean something. The flow has the counts of ETMv4 and ETE. Other
// protocols have them in packets of which the flow does not tell, so these are read once more.
type Cycles struct {
	Now uint64 // as of the place that was reached last

	st      *stream.Stream
	packets Counter // nil: the flow has the counts
	with    int64   // 1: a packet at a place tells of cycles that passed up to there, 0: of later ones
	begun   bool    // the bytes are read from next on
	from    int64   // place in the stream of what was lent, bytes
	next    int64   // place behind that
	packet  Counted
	has     bool // packet is the next one
}

// maxAtOnce is how many bytes are read at once, firstCYC how far from the first sync point the
// first CYC may lie.
const (
	maxAtOnce = 8 << 10
	firstCYC  = 64 << 10
)

// Of returns what counts the cycles of a stream, nil where its packets have none.
func Of(st *stream.Stream) *Cycles {
	if st.Guest != 0 {
		return nil
	}
	switch u := st.Unit.(type) {
	case pt.Config:
		y := &Cycles{st: st, packets: &PT{}}
		if !u.CYC {
			y.Reach(st.Head)
			if y.Reach(st.Head + firstCYC); y.Now == 0 {
				return nil
			}
			*y = Cycles{st: st, packets: &PT{}}
		}
		return y
	case coresight.Config:
		switch {
		case (u.Protocol == coresight.ETMv4 || u.Protocol == coresight.ETE) && u.V4.CycleCounts():
			return &Cycles{st: st}
		case u.Protocol == coresight.ETMv3 && u.V3.CycleAccurate():
			f := (&etmv3.Config{Trace: u}).Format()
			return &Cycles{st: st, with: 1, packets: &V3{Format: f}}
		case u.Protocol == coresight.PTM && u.V3.CycleAccurate():
			f := (&ptm.Config{Trace: u}).Format()
			return &Cycles{st: st, with: 1, packets: &PTM{Format: f}}
		}
	}
	return nil
}

// InFlow reports whether the flow has the counts. Then whoever takes flow adds them to Now.
func (y *Cycles) InFlow() bool { return y.packets == nil }

// Lost forgets the place: there is a gap.
func (y *Cycles) Lost() { y.begun = false }

// Skip leaves out what lies up to off, bytes.
func (y *Cycles) Skip(off int64) {
	y.Lost()
	y.Reach(off)
}

// Reach counts up to off, bytes.
func (y *Cycles) Reach(off int64) {
	if y.packets == nil {
		return
	}
	if off += y.with; !y.begun {
		y.begun, y.has, y.next = true, false, off-y.with
		y.packets.Lend(nil, y.next)
	}
	for {
		if !y.has && !y.packets.Next(&y.packet) {
			if y.next >= off || !y.reads(y.next) {
				return
			}
			continue
		}
		p := &y.packet
		if y.has = p.Off >= off; y.has {
			return
		}
		y.Now += p.Cycles
		if p.Bad && p.Off > y.from && p.End >= y.next {
			y.reads(p.Off) // it may go on behind what was read
		}
	}
}

// reads lends what follows in the stream from a place on, and reports whether something does.
func (y *Cycles) reads(from int64) bool {
	b := y.st.Data.Bytes(from, maxAtOnce)
	y.packets.Lend(b, from)
	y.from, y.next = from, from+int64(len(b))
	return len(b) > 0
}
