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
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// alike is what trees are told of: each line once, in order.
type alike struct {
	name  string
	trees [3]*calls.Tree // with objects, with brief calls, with brief calls and OnEnd alone
	lines [3][]string
	rows  manyTold // of one more tree, with brief calls: OnRows alone
	steps manyTold // of one more: OnSteps alone
	n     int      // lines that were compared
}

// manyTold is what a tree tells, and what it should.
type manyTold struct {
	tree       *calls.Tree
	list, want []string
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
			x.tells(i, "begins", c)
		}
		if i == 2 {
			tree.OnBegin = nil
		}
		tree.OnEnd = func(c *calls.Call) { x.tells(i, "ends", c) }
		x.trees[i] = tree
	}
	t := &calls.Tree{Session: s, Brief: true}
	t.OnRows = func(rows *calls.Rows) {
		for i := range rows.N {
			sym, file, addr := t.Named(rows.Function[i])
			x.rows.list = append(x.rows.list, row(rows, i, rows.Ran[i].Stream, rows.Ran[i].TID, rows.Ran[i].Comm, sym, file, addr))
		}
	}
	x.rows.tree = t
	u := &calls.Tree{Session: s, Brief: true}
	u.OnSteps = func(r *calls.Rows) {
		ran := r.Ran[0]
		for i := range r.N {
			if r.Ended[i] != calls.InProgress {
				x.steps.list = append(x.steps.list, fmt.Sprint("ends", ran.Stream.Index, ran.TID, ran.Comm, r.Begin[i], r.Insns[i], r.Ended[i], r.Verdict[i]))
				continue
			}
			sym, file, addr := u.Named(r.Function[i])
			x.steps.list = append(x.steps.list, fmt.Sprint("begins", ran.Stream.Index, ran.TID, ran.Comm, r.Begin[i], r.Function[i], sym, file, addr))
		}
	}
	x.steps.tree = u
	return x
}

// stepOf is what a step should tell of a call.
func stepOf(what string, c *calls.Call) string {
	if what == "begins" {
		return fmt.Sprint(what, c.Stream.Index, c.TID, c.Comm, c.Begin.Likely(), c.Function, c.Sym, c.File, c.Addr)
	}
	at := c.End.Likely()
	if c.Ended == calls.AtEnd {
		at = c.End.Lo
	}
	return fmt.Sprint(what, c.Stream.Index, c.TID, c.Comm, at, c.Insns, c.Ended, c.Verdict)
}

// row is a row as text.
func row(r *calls.Rows, i int, st *decoder.Stream, tid int32, comm, sym, file string, addr uint64) string {
	return fmt.Sprint(sym, addr, file, r.Function[i], st.Index, tid, comm, r.From[i], r.How[i], r.Depth[i], r.Begin[i], r.BeginMax[i], r.End[i], r.EndMax[i], r.Ended[i],
		r.Self[i], r.Insns[i], r.Verdict[i], r.Total[i], r.Own[i])
}

// rowOf is what row should tell of a call.
func rowOf(c *calls.Call) string {
	total, self, ok := c.Took()
	if !ok {
		total, self = math.MaxUint64, math.MaxUint64
	}
	return fmt.Sprint(c.Sym, c.Addr, c.File, c.Function, c.Stream.Index, c.TID, c.Comm, c.From, c.How, c.Depth, c.Begin.Lo, c.Begin.Hi, c.End.Lo, c.End.Hi, c.Ended,
		c.Self, c.Insns, c.Verdict, total, self)
}

// tells notes what a tree tells.
func (x *alike) tells(i int, what string, c *calls.Call) {
	total, self, ok := c.Took()
	all, known := c.Total()
	s := fmt.Sprint(what, c.Sym, c.Addr, c.File, c.Function, c.Stream.Index, c.TID, c.Comm, c.From, c.How, c.Depth, c.Begin, c.End, c.Ended,
		c.Self, c.Ambiguous, c.Insns, c.Verdict, c.Ran, c.Gap, c.Cycles, c.Counted, c.Times, total, self, ok, all, known)
	if i < 2 {
		s += fmt.Sprint(" tag ", c.Tag)
	}
	if x.lines[i] = append(x.lines[i], s); i > 0 {
		return
	}
	if x.steps.want = append(x.steps.want, stepOf(what, c)); what == "ends" {
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
			return fmt.Errorf("%s: line %d:\n%s\nas brief calls\n%s", x.name, x.n+i, a[i], b[i])
		}
		if a[i][0] == 'b' {
			continue
		}
		if len(c) == 0 || len(c[0]) > len(a[i]) || a[i][:len(c[0])] != c[0] {
			return fmt.Errorf("%s: line %d:\n%s\nwithout OnBegin\n%s", x.name, x.n+i, a[i], c)
		}
		c = c[1:]
	}
	x.n += len(a)
	x.lines = [3][]string{a[:0], b[:0], nil}
	if err := x.rows.compare(x.name + ": row"); err != nil {
		return err
	}
	return x.steps.compare(x.name + ": step")
}

// compare compares as much as was told both ways: rows come many at once.
func (y *manyTold) compare(what string) error {
	n := min(len(y.list), len(y.want))
	for i := range n {
		if y.list[i] != y.want[i] {
			return fmt.Errorf("%s %d:\n%s\nas an object\n%s", what, y.n+i, y.list[i], y.want[i])
		}
	}
	y.list, y.want, y.n = y.list[n:], y.want[n:], y.n+n
	return nil
}

// errEnough ends a decoding.
var errEnough = errors.New("enough")

// TestBrief would catch a call that Tree.Brief tells otherwise: at another place among the others,
// with another field, with the Tag of another call, or not at all.
func TestBrief(t *testing.T) {
	n := 0
	for seed := range uint64(testsize.Of(t, 20, 600)) {
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
	for _, y := range []*manyTold{&x.rows, &x.steps} {
		if err == nil && len(y.list)+len(y.want) > 0 {
			err = fmt.Errorf("%s: %d rows or steps too many, %d are missing", x.name, len(y.list), len(y.want))
		}
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
