package export

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"

	"github.com/ptdecode/ptdecode/cmd/internal/counts"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// pair is two addresses of a profile.
type pair struct{ from, to uint64 }

// rangeProfile is counts of one file, in addresses of its own.
type rangeProfile struct {
	of       *object
	ranges   []counted // from the first instruction to the last
	branches []counted // from a branch that was taken to where it led; 0: out of the file
	entries  []counted // from 0, out of the file, to where a branch led
}

// counted is a pair and how often it was executed.
type counted struct {
	pair
	n uint64
}

// linkage is the branches that lead from one instruction of a program to another.
var linkage = isa.Set(isa.Jump, isa.Cond, isa.Call, isa.JumpInd, isa.CallInd, isa.Return, isa.JumpAbs)

// profileOf counts what was executed of one file; base is taken from addresses.
func (j *job) profileOf(base func(*object) uint64) (*rangeProfile, error) {
	o, x, err := j.one()
	if err != nil || x == nil {
		return &rangeProfile{}, err
	}
	off := base(x)
	of := func(space uint32, addr, seen uint64) (uint64, bool) {
		y := o.at(space, addr, seen)
		if y == nil || y != x && y.everywhere() != x.everywhere() {
			return 0, false
		}
		return y.vaddr(addr) - off, true
	}
	ranges, branches, entries := map[pair]uint64{}, map[pair]uint64{}, map[pair]uint64{}
	all := j.counter.All(0)
	for _, r := range all.Runs() {
		n := j.count(r.Count)
		from, ok := of(r.Space, r.From, r.Seen)
		last, in := of(r.Space, r.Last, r.Seen)
		if n > 0 && ok && in {
			ranges[pair{from, last}] += n
		}
	}
	for _, e := range all.Edges() {
		n := j.count(e.Count)
		from, ok := of(e.From.Space, e.From.LastIP(), e.Seen)
		if n == 0 || !e.Taken() || !linkage.Has(e.From.Class) {
			continue
		}
		switch to, in := of(e.From.Space, e.To, e.Seen); {
		case ok:
			branches[pair{from, to}] += n
		case in:
			entries[pair{0, to}] += n
		}
	}
	return &rangeProfile{x, sorted(ranges), sorted(branches), sorted(entries)}, nil
}

// sorted returns the pairs in order.
func sorted(m map[pair]uint64) (list []counted) {
	for p, n := range m {
		list = append(list, counted{p, n})
	}
	slices.SortFunc(list, func(a, b counted) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
	return list
}

// writeAutoFDO writes google/autofdo's text profile (its sample_reader.cc,
// TextSampleReaderWriter): ranges, addresses, branches, each behind their number. All
// addresses count from the file's first loadable segment, and a range ends with the
// address of its last instruction. Of the kernel and a module they count from where it
// lies. The comment that ends it names the file (simpleperf/cmd_inject.cpp, AOSP).
func writeAutoFDO(j *job, w io.Writer) error {
	out := bufio.NewWriter(w)
	p, err := j.listRanges(out, (*object).firstSegment)
	if err != nil {
		return err
	}
	fmt.Fprintln(out, 0)
	p.list(out, "%x->%x:%d\n", p.branches)
	if p.of != nil {
		if p.of.BuildID != "" {
			fmt.Fprintf(out, "// build_id: 0x%s\n", p.of.BuildID)
		}
		fmt.Fprintf(out, "// %s\n\n", terminal.Plain(p.of.File))
	}
	return out.Flush()
}

// listRanges writes what profiles of ranges begin with: the ranges, with addresses that
// count from what first says of a file.
func (j *job) listRanges(w io.Writer, first func(*object) uint64) (*rangeProfile, error) {
	p, err := j.profileOf(first)
	if err == nil {
		p.list(w, "%x-%x:%d\n", p.ranges)
	}
	return p, err
}

// list writes a list behind its length.
func (p *rangeProfile) list(w io.Writer, format string, all []counted) {
	fmt.Fprintln(w, len(all))
	for _, c := range all {
		fmt.Fprintf(w, format, c.from, c.to, c.n)
	}
}

// writeProfgen writes the unsymbolized profile of llvm-profgen: ranges and branches, each
// behind their number. Addresses count from the file's first executable segment, and a
// range ends with the address of its last instruction
// (llvm/tools/llvm-profgen/PerfReader.cpp, UnsymbolizedProfileReader).
func writeProfgen(j *job, w io.Writer) error {
	out := bufio.NewWriter(w)
	p, err := j.listRanges(out, (*object).firstCode)
	if err != nil {
		return err
	}
	inside := slices.DeleteFunc(slices.Clone(p.branches), func(c counted) bool { return c.to == 0 })
	p.list(out, "%x->%x:%d\n", inside)
	return out.Flush()
}

// runs is what profiles of ranges count.
var runs = counts.Options{Runs: true}
