package flow

// Where the code is another one throughout, as when boot rewrote it and the image is as it
// was built, contradictions lie a few targets apart and at many places. Between them wrong
// code passes by chance: it uses the same outcomes and comes to the same targets. One
// contradiction says nothing of that. Who decodes knows it of a whole recording: Config.Rough. Then
// flow is Ambiguous behind each, until it has got farther than they lie apart.

const roughFar = 512 // instructions that are Ambiguous behind a contradiction

// rough is what is in doubt where the code is another one throughout.
type rough struct {
	on   bool // it is: Config.Rough
	left int  // instructions that are Ambiguous yet, of what is handed on
}

// start begins a segment. Its first instructions are in doubt too: a contradiction may lie directly
// before them.
func (r *rough) start() { r.left = roughFar }

// blur makes Ambiguous what of b is in doubt. It takes batches in the order in which they
// are handed on.
func (r *rough) blur(b *Batch) {
	b.Unwalk()
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
