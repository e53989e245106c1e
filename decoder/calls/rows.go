package calls

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder"
)

// Rows is calls that have ended, as columns, for Tree.OnRows. Tree.OnSteps uses some of the
// columns for another purpose. Row i is element i of each column, and the first N rows
// count. The columns say most of what a Call says, under the same names unless it is said
// otherwise. Numbers are uint64.
type Rows struct {
	N                            int             // calls
	Begin, BeginMax, End, EndMax numbers         // the lower and the upper bound of Begin and of End, ns
	Total, Own                   numbers         // total and self of Call.Took, ns; math.MaxUint64 where they are not known
	From                         numbers         // an address
	Depth                        numbers         // calls
	Insns, Self                  numbers         // instructions
	Ran                          [maxRows]*ranIn // the fields Stream, TID and Comm of a Call; many rows share one, so it is not changed
	Function                     [maxRows]uint32 // a number; Tree.Named tells the function
	How, Ended                   [maxRows]Way
	Verdict                      [maxRows]decoder.Verdict
}

// numbers is a column. It is longer than rows are, as values of one row would share a set of the processor's
// cache if it were a power of two.
type numbers [maxRows + 8]uint64

// Takes appends row i of from to r. It panics if r is full, at 256 rows.
func (r *Rows) Takes(from *Rows, i int) {
	z := r.N
	r.Begin[z], r.BeginMax[z], r.End[z], r.EndMax[z] = from.Begin[i], from.BeginMax[i], from.End[i], from.EndMax[i]
	r.Total[z], r.Own[z], r.From[z], r.Depth[z] = from.Total[i], from.Own[i], from.From[i], from.Depth[i]
	r.Insns[z], r.Self[z], r.Ran[z], r.Function[z] = from.Insns[i], from.Self[i], from.Ran[i], from.Function[i]
	r.How[z], r.Ended[z], r.Verdict[z] = from.How[i], from.Ended[i], from.Verdict[i]
	r.N++
}

// ranIn is where a call ran and on whose behalf, as Call has it.
type ranIn struct {
	Stream *decoder.Stream
	TID    int32
	Comm   string
}

// maxRows is how many rows wait at most, maxRan in how many places they ran.
const (
	maxRows = 256
	maxRan  = 1 << 14
)

// rowsOf is the rows of a Tree.
type rowsOf struct {
	*Rows // those that wait
	t     *Tree
	ranPlaces
}

// ranPlaces is where calls ran, each once.
type ranPlaces struct {
	all  map[ranIn]*ranIn
	last *ranIn // that was asked for last
}

// Named returns the symbol, the file and the address of the function with a number, as a
// Call has them. It is for OnRows and OnSteps, which are given numbers only.
func (t *Tree) Named(function uint32) (sym, file string, addr uint64) { return t.SoFar()(function) }

// SoFar returns a function that does what Named does, for the functions that the flow came
// to so far. Any goroutine may call what it returns.
func (t *Tree) SoFar() func(function uint32) (sym, file string, addr uint64) {
	list := t.functions
	return func(function uint32) (sym, file string, addr uint64) {
		f := list[function]
		return f.Sym, f.File, f.Addr
	}
}

// stands returns what stands for x.
func (r *ranPlaces) stands(x ranIn) *ranIn {
	if r.last != nil && *r.last == x {
		return r.last
	}
	p := r.all[x]
	if p == nil {
		p = new(ranIn)
		if *p = x; r.all == nil || len(r.all) >= maxRan {
			r.all = map[ranIn]*ranIn{}
		}
		r.all[x] = p
	}
	r.last = p
	return p
}

// added makes room for what follows the newest row.
func (r *rowsOf) added() {
	if r.N++; r.N == maxRows {
		r.handsOn()
	}
}

// handsOn hands on the rows that wait.
func (r *rowsOf) handsOn() {
	if r != nil && r.N > 0 {
		r.Rows = r.t.OnRows(r.Rows)
		r.N = 0
	}
}

// call adds a call that ended, which is an object.
func (r *rowsOf) call(c *Call) {
	i := r.N & (maxRows - 1)
	r.Begin[i], r.BeginMax[i], r.End[i], r.EndMax[i] = c.Begin.Lo, c.Begin.Hi, c.End.Lo, c.End.Hi
	r.From[i], r.Depth[i], r.Insns[i], r.Self[i] = c.From, uint64(c.Depth), c.Insns, c.Self
	r.Ran[i], r.Function[i], r.How[i], r.Ended[i], r.Verdict[i] = r.stands(ranIn{c.Stream, c.TID, c.Comm}), uint32(c.Function), c.How, c.Ended, c.Verdict
	var ok bool
	if r.Total[i], r.Own[i], ok = c.Took(); !ok {
		r.Total[i], r.Own[i] = math.MaxUint64, math.MaxUint64
	}
	r.added()
}

// ranBy has the thread of c know what stands for it, and returns that.
func (r *ranPlaces) ranBy(c *cpu) *ranIn {
	th := c.thread
	if th.ran == nil || th.ran.Stream != c.st {
		th.ran = r.stands(ranIn{c.st, th.tid, th.comm})
	}
	return th.ran
}

// ends adds x, the innermost brief call of c, which ended and took a time, ns.
func (r *rowsOf) ends(c *cpu, x *brief, how Way, took uint64) {
	r.ranBy(c)
	i, depth := r.N&(maxRows-1), c.top.Depth+c.briefs.n
	if c.top.hidden {
		depth--
	}
	r.Begin[i], r.BeginMax[i], r.End[i], r.EndMax[i] = x.now.Lo, x.now.Hi, c.last.Lo, c.last.Hi
	r.Total[i], r.Own[i], r.From[i], r.Depth[i] = took, took-min(took, x.inside), x.from, uint64(depth)
	r.Insns[i], r.Self[i] = x.self+x.insns, x.self
	r.Ran[i], r.Function[i], r.How[i], r.Ended[i], r.Verdict[i] = c.thread.ran, uint32(x.Function), x.how, how, x.verdict
	r.added()
}
