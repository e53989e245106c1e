package hot

import "github.com/ptdecode/ptdecode/cmd/internal/counts"

// sourceLine is a line of a source file.
type sourceLine struct {
	file string
	line int
}

// sourceLines returns an entry for each source line, by the line that each instruction is
// written in: for what was inlined that is not where it was called. A line was executed as
// often as that instruction of it which was executed most.
func (l *list) sourceLines() (all []*entry) {
	by := map[sourceLine]*entry{}
	for _, r := range l.counter.All(0).Ranges() {
		a := r.Block.Addr
		for _, size := range r.Block.Lens[:r.Insns] {
			var k sourceLine
			if frames := l.s.Lines(r.Block.Space, a, r.Seen); len(frames) > 0 {
				k = sourceLine{frames[0].File, frames[0].Line}
			}
			e := by[k]
			if e == nil {
				e = &entry{Type: "line", Sym: l.names.At(r.Block.Space, a, r.Seen).Sym, File: k.file, Line: k.line, addr: a, Addr: address(a), at: map[uint64]counts.Count{}}
				if k == (sourceLine{}) {
					e.Sym = ""
				}
				by[k], all = e, append(all, e)
			}
			if k == (sourceLine{}) {
				l.unlined += r.N + r.Ambiguous
			}
			n := e.at[a]
			n.N, n.Ambiguous = n.N+r.N, n.Ambiguous+r.Ambiguous
			e.at[a] = n
			e.Executions, e.Ambiguous = max(e.Executions, n.N), max(e.Ambiguous, n.Ambiguous)
			e.Instructions, e.AmbiguousI = e.Instructions+r.N, e.AmbiguousI+r.Ambiguous
			e.Time += r.Time.Nanoseconds() / float64(r.Insns)
			a += uint64(size)
		}
	}
	return all
}
