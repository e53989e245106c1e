package flow

// Where the code is another one throughout, as when boot rewrote it and the image is as it
// was built, contradictions lie a few targets apart and at many places. Between them wrong
// code passes by chance: it uses the same outcomes and comes to the same targets. One
// contradiction says nothing of that. Many do: behind each, flow is Ambiguous until it has
// got farther than they lie apart.
//
// One wrong site does not count so, however often the flow comes by.

const (
	roughLast   = 4       // contradictions that are looked at
	roughPlaces = 3       // places that they have to be at, at least
	roughBytes  = 1 << 10 // of trace in which they have to lie
	roughFar    = 512     // instructions that are Ambiguous behind the last
)

// rough is what the contradictions of a segment tell of its code.
type rough struct {
	known bool // from the first on: Config.Rough
	on    bool // some flow is Ambiguous
	n     int  // contradictions
	last  [roughLast]struct {
		ip  uint64
		off int64
	}
	left int // instructions that are Ambiguous yet, of what is handed on
}

// start begins a segment. Of where the code is known to be another one, its first
// instructions are in doubt too: a contradiction may lie directly before them.
func (r *rough) start() {
	*r = rough{known: r.known, on: r.known}
	if r.known {
		r.left = roughFar
	}
}

// contradicted takes a contradiction at ip, which the trace tells of at offset off. It reports
// whether what follows is in doubt.
func (r *rough) contradicted(ip uint64, off int64) bool {
	if r.known {
		return true
	}
	at := &r.last[r.n%roughLast]
	at.ip, at.off = ip, off
	if r.n++; r.n < roughLast || off-r.last[r.n%roughLast].off > roughBytes {
		return false
	}
	places := 0
	for i := range r.last {
		fresh := 1
		for k := range i {
			if r.last[k].ip == r.last[i].ip {
				fresh = 0
			}
		}
		places += fresh
	}
	yes := places >= roughPlaces
	r.on = r.on || yes
	return yes
}

// blur makes Ambiguous what of b is in doubt. It takes batches in the order in which they
// are handed on.
func (r *rough) blur(b *Batch) {
	k := 0
	notes := func(to int) {
		for ; k < len(b.Notes) && b.Notes[k].At <= to; k++ {
			n := &b.Notes[k]
			if n.rough {
				r.left = roughFar
			}
			if r.left > 0 && (n.Kind == NoteTrap || n.Kind == NoteCut) {
				n.Verdict = max(n.Verdict, Ambiguous)
			}
		}
	}
	for i := range b.Ranges {
		notes(i)
		if x := &b.Ranges[i]; r.left > 0 {
			x.Verdict = max(x.Verdict, Ambiguous)
			r.left -= int(x.N)
		}
	}
	notes(len(b.Ranges))
}
