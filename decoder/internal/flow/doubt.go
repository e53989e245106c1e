package flow

// How far back the code may have been wrong where the trace contradicts it.
//
// Where the trace states a target, the flow is where it says, whatever led there. Two
// things may still be wrong behind it: the return stack, and which outcomes lie before
// the target, since the trace unit may hold targets back. So the doubt goes back over a
// few stated targets. Farther back nothing need be held.
//
// A target counts once the flow has gone on from there. One at which code and trace contradict each other at
// once does not: what led there is as doubtful as that place.
//
// A target at which a flow still has outcomes in hand does not count. A flow that went
// astray and used too few of them has those in hand at each target that it passes. Nor does one that
// several cuts came to which were all refuted: each of them went on from what led to them (nothingSure).
//
// Where bytes are no packet the trace is damaged, and packets just before may be other ones
// than were sent: a few bytes are read wrongly until some are none. Doubt goes back over these.

// statedBack is how many stated targets the doubt goes back.
const statedBack = 4

// heldBack is how many the flow is held back over: the last one need not count.
const heldBack = statedBack + 1

// damaged is how far before bytes that are no packet others may be damaged, bytes. With one byte of a
// recording changed at random they lay at most 26 bytes behind it: 5,444 cases of Intel PT, 744 of ETMv4.
const damaged = 64

// reach says how far back from a gap what ran is in doubt.
type reach uint8

const (
	noDoubt        reach = iota
	sinceConfirmed       // as doubtFrom says
	nearBytes            // as that, but no farther than damage lies
)

// stretch is a part of a batch whose flow is not settled.
type stretch struct {
	*Batch
	from, to extent
	kept     extent // what lies before was in the batch before too
	stated   int    // targets that the trace stated in it, heldBack at most
}

// weight returns what s counts for Config.MaxUnconfirmed.
func (s *stretch) weight() int {
	return s.to.ranges - s.from.ranges + noteSize*(s.to.notes-s.from.notes)
}

// statesTarget reports whether the trace stated where the flow went behind r, and with that
// how many outcomes had been used. If all returns are stated, told is true; else one may
// have been.
func (r *Range) statesTarget(told bool) bool {
	return r.N == r.Block.N && r.flags&ahead == 0 && r.Block.targetStated(told)
}

// targetStated is Range.statesTarget for all of b. Where b's last instruction has a
// condition it is false, since that may not have held.
func (b *Block) targetStated(told bool) bool {
	p := b.lead & place
	return (p == toStated || p == toFar) && b.lead&mayFail == 0 && (b.lead&returns == 0 || told)
}

// backOver returns the index in s.Ranges behind the n-th stated target, counted from
// the end, or how many there are if there are fewer.
func (s *stretch) backOver(n int, told bool) (at, seen int) {
	for i := s.to.ranges - 1; i >= s.from.ranges; i-- {
		if s.Ranges[i].statesTarget(told) {
			if seen++; seen == n {
				return i + 1, seen
			}
		}
	}
	return s.from.ranges, seen
}

// doubtFrom returns where doubt begins that goes back from the end of list: at range at
// of its stretch i. It does not go back over a return to where an exception came from, behind which
// a target counts.
func doubtFrom(list []stretch, told bool) (i, at int) {
	left, last := statedBack, true
	for i = len(list) - 1; i >= 0; i-- {
		s := &list[i]
		for at = s.to.ranges - 1; at >= s.from.ranges; at-- {
			r := &s.Ranges[at]
			if r.flags&homeward != 0 && left < statedBack {
				return i, at + 1
			}
			if !last && r.statesTarget(told) {
				if left--; left == 0 {
					return i, at + 1
				}
			}
			last = false
		}
	}
	return 0, 0
}

// behindByte returns from where on the flow of list was led by the byte at off, or by later ones. It
// looks back to range at of stretch i. An event behind off may have ended even what the one before
// it led to.
func behindByte(list []stretch, i, at int, off int64) (int, int) {
	before := int64(-1) // where the last event before off is
	for k := len(list) - 1; k >= i; k-- {
		s, from := &list[k], list[k].from.ranges
		if k == i {
			from = max(from, at)
		}
		for n := s.to.ranges - 1; n >= from; n-- {
			switch o := s.Stamps[s.Ranges[n].Stamp].Off; {
			case o >= off || o == before:
			case before >= 0:
				return k, n + 1
			default:
				before = o
			}
		}
	}
	return i, at
}

// downgrade gives verdict v to the ranges of s in [from, to) that have a better one than
// Unconfirmed, and to the traps and cuts among them.
func (s *stretch) downgrade(from, to int, v Verdict) {
	from, to = max(from, s.from.ranges), min(to, s.to.ranges)
	for i := from; i < to; i++ {
		if r := &s.Ranges[i]; r.Verdict < Unconfirmed {
			r.Verdict = v
			s.Unwalk()
		}
	}
	for i := s.from.notes; i < s.to.notes; i++ {
		n := &s.Notes[i]
		if at := n.At; at >= from && (at < to || to == s.to.ranges) && (n.Kind == NoteTrap || n.Kind == NoteCut) && n.Verdict < Unconfirmed {
			n.Verdict = v
		}
	}
}

// tooLong gives the verdict Unconfirmed to what of list[k] was not settled within most,
// as Config.MaxUnconfirmed counts. The end of list settles it, and so do as many stated
// targets as the flow is held back over (heldBack).
func tooLong(list []stretch, k, most int, told bool) {
	s := &list[k]
	var ahead []int // where the targets behind lie, the nearest last, counted from the end of s
	end := 0
	for i := k + 1; i < len(list); i++ {
		o := &list[i]
		if o.stated > 0 && len(ahead) < heldBack {
			note := o.from.notes
			for j := o.from.ranges; j < o.to.ranges && len(ahead) < heldBack; j++ {
				for ; note < o.to.notes && o.Notes[note].At <= j; note++ {
				}
				if o.Ranges[j].statesTarget(told) {
					ahead = append(ahead, end+j+1-o.from.ranges+noteSize*(note-o.from.notes))
				}
			}
		}
		end += o.weight()
	}
	for i, j := 0, len(ahead)-1; i < j; i, j = i+1, j-1 {
		ahead[i], ahead[j] = ahead[j], ahead[i]
	}
	at, note := 0, s.to.notes // at counts down from the end of s
	for i := s.to.ranges - 1; i >= s.from.ranges; i-- {
		for ; note > s.from.notes && s.Notes[note-1].At > i; note-- {
			at -= noteSize
		}
		if s.Ranges[i].statesTarget(told) {
			ahead = append(ahead, at)
		}
		at--
		until := end
		if k := len(ahead); k >= heldBack {
			until = ahead[k-heldBack]
		}
		if until-at > most {
			s.downgrade(i, i+1, Unconfirmed)
		}
	}
}
