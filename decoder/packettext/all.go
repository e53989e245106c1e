package packettext

import "iter"

// All returns the packets that next gives, up to the first false: what a lexer has
// left.
func All[P any](next func(p *P) bool) iter.Seq[P] {
	return func(yield func(P) bool) {
		var p P
		for next(&p) {
			if !yield(p) {
				return
			}
		}
	}
}
