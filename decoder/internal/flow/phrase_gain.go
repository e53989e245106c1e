package flow

// gain tells whether phrases pay. To make one costs as much as to follow some tens of bytes
// of trace. Where the trace seldom says the same again, none is looked for in a while.
type gain struct {
	made  int // phrases, since the last judgement
	bytes int // of trace that they led over meanwhile when they were met again
	rest  int // how often yet none is looked for
	last  int // how long the newest rest was, if none paid behind it
}

const (
	gainTrial = 256  // phrases made from one judgement to the next
	gainLeast = 12   // bytes for each of them, or they do not pay; traces that repeat give over 25
	restLeast = 64   // the first rest, in look-ups; while it lasts, one comes each queueEvents events
	restMost  = 4096 // each is twice the one before, up to this
)

// nowhere is a phrase that leads nowhere.
var nowhere phrase

// paid counts p as made. After a trial of phrases it judges whether they paid.
func (g *gain) paid(p *phrase) {
	g.bytes -= int(p.used) // which it leads over now, and passPhrases counts
	if g.made++; g.made < gainTrial {
		return
	}
	g.rest = 0
	if g.bytes < gainLeast*gainTrial {
		g.rest = min(max(2*g.last, restLeast), restMost)
	}
	g.last, g.made, g.bytes = g.rest, 0, 0
}

// rest reports whether no phrase is to be looked for now, and counts that. Then events are
// pulled as if there were none.
func (ps *phrases) rest(events *queue) bool {
	if ps == nil || ps.gain.rest == 0 {
		return false
	}
	ps.gain.rest--
	events.vain = vainMost
	return true
}
