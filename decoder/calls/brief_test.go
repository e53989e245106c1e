package calls_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// alike is what trees are told of: each line once, in order.
type alike struct {
	name  string
	trees [3]*calls.Tree // with objects, with brief calls, with brief calls and OnEnd alone
	lines [3][]line
	rows  manyTold[rowLine]  // of one more tree, with brief calls: OnRows alone
	steps manyTold[stepLine] // of one more: OnSteps alone
	n     int                // lines that were compared
}

// line is what a tree told of a call as it began or ended.
type line struct {
	ends                        bool
	sym, file, comm             string
	addr, from                  uint64
	function, stream, depth     int
	tid                         int32
	how, ended                  calls.Way
	verdict                     decoder.Verdict
	begin, end, all             event.Time
	self, ambiguous, insns      uint64
	ran, gap, counted           bool
	cycles, times, total, alone uint64
	took, known                 bool
	tag                         uint64
}

// rowLine is what a tree told of a call in a row.
type rowLine struct {
	sym, file, comm              string
	addr, function, from, depth  uint64
	stream                       int
	tid                          int32
	how, ended                   calls.Way
	verdict                      decoder.Verdict
	begin, beginMax, end, endMax uint64
	self, insns, total, own      uint64
}

// stepLine is what a tree told of a call that began or ended, in one of many steps.
type stepLine struct {
	ends             bool
	sym, file, comm  string
	addr, function   uint64
	stream           int
	tid              int32
	at, insns, ended uint64
	verdict          decoder.Verdict
}

// manyTold is what a tree tells, and what it should.
type manyTold[Line comparable] struct {
	tree       *calls.Tree
	list, want []Line
	n          int // that were compared
}

// newAlike returns trees over s.
func newAlike(name string, s *decoder.Session) *alike {
	x := &alike{name: name}
	for i := range x.trees {
		tree := &calls.Tree{Session: s, Brief: i > 0}
		n := uint64(0)
		tree.OnBegin = func(c *calls.Call) {
			n++
			c.Tag = n
			x.tells(i, false, c)
		}
		if i == 2 {
			tree.OnBegin = nil
		}
		tree.OnEnd = func(c *calls.Call) { x.tells(i, true, c) }
		x.trees[i] = tree
	}
	t := &calls.Tree{Session: s, Brief: true}
	kept := new(calls.Rows)
	t.OnRows = func(rows *calls.Rows) *calls.Rows {
		for i := range rows.N {
			x.rows.list = append(x.rows.list, row(t, rows, i))
		}
		rows, kept = kept, rows
		return rows
	}
	x.rows.tree = t
	u := &calls.Tree{Session: s, Brief: true}
	u.OnSteps = func(r *calls.Rows) {
		ran := r.Ran[0]
		for i := range r.N {
			y := stepLine{stream: ran.Stream.Index, tid: ran.TID, comm: ran.Comm, at: r.Begin[i]}
			if r.Ended[i] != calls.InProgress {
				y.ends, y.insns, y.ended, y.verdict = true, r.Insns[i], uint64(r.Ended[i]), r.Verdict[i]
			} else {
				y.function = uint64(r.Function[i])
				y.sym, y.file, y.addr = u.Named(r.Function[i])
			}
			x.steps.list = append(x.steps.list, y)
		}
	}
	x.steps.tree = u
	return x
}

// stepOf is what a step should tell of a call.
func stepOf(ends bool, c *calls.Call) stepLine {
	y := stepLine{ends: ends, stream: c.Stream.Index, tid: c.TID, comm: c.Comm, at: c.Begin.Likely()}
	if !ends {
		y.function, y.sym, y.file, y.addr = uint64(c.Function), c.Sym, c.File, c.Addr
		return y
	}
	y.at, y.insns, y.ended, y.verdict = c.End.Likely(), c.Insns, uint64(c.Ended), c.Verdict
	if c.Ended == calls.AtEnd {
		y.at = c.End.Lo
	}
	return y
}

// row is row i of r.
func row(t *calls.Tree, r *calls.Rows, i int) rowLine {
	ran := r.Ran[i]
	y := rowLine{function: uint64(r.Function[i]), from: r.From[i], depth: r.Depth[i], stream: ran.Stream.Index, tid: ran.TID, comm: ran.Comm,
		how: r.How[i], ended: r.Ended[i], verdict: r.Verdict[i], begin: r.Begin[i], beginMax: r.BeginMax[i], end: r.End[i], endMax: r.EndMax[i],
		self: r.Self[i], insns: r.Insns[i], total: r.Total[i], own: r.Own[i]}
	y.sym, y.file, y.addr = t.Named(r.Function[i])
	return y
}

// rowOf is what row should tell of a call.
func rowOf(c *calls.Call) rowLine {
	total, self, ok := c.Took()
	if !ok {
		total, self = math.MaxUint64, math.MaxUint64
	}
	return rowLine{sym: c.Sym, file: c.File, addr: c.Addr, function: uint64(c.Function), from: c.From, depth: uint64(c.Depth),
		stream: c.Stream.Index, tid: c.TID, comm: c.Comm, how: c.How, ended: c.Ended, verdict: c.Verdict,
		begin: c.Begin.Lo, beginMax: c.Begin.Hi, end: c.End.Lo, endMax: c.End.Hi, self: c.Self, insns: c.Insns, total: total, own: self}
}

// tells notes what a tree tells.
func (x *alike) tells(i int, ends bool, c *calls.Call) {
	y := line{ends: ends, sym: c.Sym, file: c.File, comm: c.Comm, addr: c.Addr, from: c.From, function: c.Function, stream: c.Stream.Index,
		depth: c.Depth, tid: c.TID, how: c.How, ended: c.Ended, verdict: c.Verdict, begin: c.Begin, end: c.End, self: c.Self,
		ambiguous: c.Ambiguous, insns: c.Insns, ran: c.Ran, gap: c.Gap, counted: c.Counted, cycles: c.Cycles, times: c.Times, tag: c.Tag}
	y.total, y.alone, y.took = c.Took()
	y.all, y.known = c.Total()
	if x.lines[i] = append(x.lines[i], y); i > 0 {
		return
	}
	if x.steps.want = append(x.steps.want, stepOf(ends, c)); ends {
		x.rows.want = append(x.rows.want, rowOf(c))
	}
}

// Flow gives b to the trees and compares.
func (x *alike) Flow(b *decoder.Batch) error {
	for _, t := range x.trees {
		if err := t.Flow(b); err != nil {
			return err
		}
	}
	if err := x.rows.tree.Flow(b); err != nil {
		return err
	}
	if err := x.steps.tree.Flow(b); err != nil {
		return err
	}
	if err := x.compare(); err != nil || len(x.steps.list)+len(x.steps.want) == 0 {
		return err
	}
	return fmt.Errorf("%s: behind step %d %d steps are too many, %d are missing", x.name, x.steps.n, len(x.steps.list), len(x.steps.want))
}

// compare compares what the trees told.
func (x *alike) compare() error {
	a, b, c := x.lines[0], x.lines[1], x.lines[2]
	if len(a) != len(b) {
		return fmt.Errorf("%s: %d lines, %d of brief calls, behind line %d", x.name, len(a), len(b), x.n)
	}
	for i := range a {
		if a[i] != b[i] {
			return fmt.Errorf("%s: line %d:\n%+v\nas brief calls\n%+v", x.name, x.n+i, a[i], b[i])
		}
		if !a[i].ends {
			continue
		}
		y := a[i]
		if y.tag = 0; len(c) == 0 || c[0] != y {
			return fmt.Errorf("%s: line %d:\n%+v\nwithout OnBegin\n%+v", x.name, x.n+i, y, c)
		}
		c = c[1:]
	}
	if len(c) > 0 {
		return fmt.Errorf("%s: behind line %d, without OnBegin too many:\n%+v", x.name, x.n, c)
	}
	x.n += len(a)
	x.lines = [3][]line{a[:0], b[:0], x.lines[2][:0]}
	if err := x.rows.compare(x.name + ": row"); err != nil {
		return err
	}
	return x.steps.compare(x.name + ": step")
}

// compare compares as much as was told both ways: rows come many at once.
func (y *manyTold[Line]) compare(what string) error {
	n := min(len(y.list), len(y.want))
	for i := range n {
		if y.list[i] != y.want[i] {
			return fmt.Errorf("%s %d:\n%+v\nas an object\n%+v", what, y.n+i, y.list[i], y.want[i])
		}
	}
	y.list, y.want, y.n = append(y.list[:0], y.list[n:]...), append(y.want[:0], y.want[n:]...), y.n+n
	return nil
}

// errEnough ends a decoding.
var errEnough = errors.New("enough")

// TestBrief would catch a call that Tree.Brief tells otherwise: at another place among the others,
// with another field, with the Tag of another call, or not at all.
func TestBrief(t *testing.T) {
	n := 0
	for seed := range uint64(testsize.Of(t, 20, 200, 600)) {
		r := sim.Simulate(sim.Draw(seed + 50_000))
		x := newAlike(fmt.Sprint("seed ", seed+50_000), simSession(t, r))
		n += x.all(t, 0)
	}
	for _, name := range testsize.Some(t, []string{"kprobes", "ftrace", "tracepoints", "tracepoints-coarse"}, 1) {
		s, err := decoder.Open(decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", name, "perf.data")})
		if err != nil {
			t.Fatal(err)
		}
		n += newAlike(name, s).all(t, testsize.Of(t, 60_000, 0))
		s.Close()
	}
	if n < 10_000 {
		t.Errorf("%d calls began or ended", n)
	}
}

// all decodes and compares, as far as so many lines; 0: all. It returns how many these were.
func (x *alike) all(t *testing.T, most int) int {
	t.Helper()
	err := x.trees[0].Session.Flow(context.Background(), decoder.Query{Merged: true, Bounds: true}, enough{x, most})
	if err == nil {
		err = x.end()
	}
	if err != nil && !errors.Is(err, errEnough) {
		t.Error(err)
	}
	return x.n
}

// TestBriefByHand would catch what TestBrief would, in flow that recordings seldom have. It comes three times, each time
// later: from the second on the tree knows its blocks.
func TestBriefByHand(t *testing.T) {
	n := 0
	for i := range handCases {
		x := &handCases[i]
		if x.threads == nil {
			x.threads = []uint64{0}
		}
		s := x.session(t)
		for _, cuts := range []uint64{0, ^uint64(0), 1 << 2, 1 << 3, 1 << 4, 1 << 5, 1 << 6} {
			y, all := newAlike(fmt.Sprintf("%s, batches end as %b says", x.name, cuts), s), handBlocks{}
			for round := range 3 {
				for _, b := range x.batches(all, cuts) {
					if b == nil {
						continue
					}
					for i := range b.Stamps {
						st := &b.Stamps[i]
						later := uint64(round) * 1_000_000
						if st.Off += int64(round) * 1000; st.Time.Lo != 0 {
							st.Time.Lo, st.Time.Hi = st.Time.Lo+later, st.Time.Hi+later
						}
					}
					if err := y.Flow(b); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := y.end(); err != nil {
				t.Fatal(err)
			}
			n += y.rows.n
		}
	}
	if n < 10_000 {
		t.Errorf("%d rows were compared", n)
	}
}

// end ends the flow and compares.
func (x *alike) end() error {
	for _, tree := range x.trees {
		tree.Close()
	}
	x.rows.tree.Close()
	x.steps.tree.Close()
	err := x.compare()
	if n, m := len(x.rows.list)+len(x.steps.list), len(x.rows.want)+len(x.steps.want); err == nil && n+m > 0 {
		err = fmt.Errorf("%s: %d rows or steps too many, %d are missing", x.name, n, m)
	}
	return err
}

// enough ends a comparison after most lines.
type enough struct {
	*alike
	most int
}

// Flow compares b.
func (e enough) Flow(b *decoder.Batch) error {
	if err := e.alike.Flow(b); err != nil {
		return err
	}
	if e.most > 0 && e.n > e.most {
		return errEnough
	}
	return nil
}
