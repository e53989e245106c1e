package export

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/ptdecode/ptdecode/cmd/internal/counts"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// lineAt is a line of a source file.
type lineAt struct {
	file string
	line int
}

// copyAt is one copy of what a compiler made of a line: where it was inlined, and in which
// function. Instructions of one copy are executed together, those of others besides.
type copyAt struct {
	lineAt
	in string
}

// jump is a conditional branch of a line.
type jump struct {
	lineAt
	at codeAt
}

// ways is how often a conditional branch was taken, and not.
type ways struct{ taken, passed uint64 }

// sourceCoverage is what was executed of source files.
type sourceCoverage struct {
	j         *job
	objects   *objects
	names     *counts.Names
	lines     map[copyAt]uint64
	functions map[lineAt]map[string]uint64 // by where they begin: entries of each
	jumps     map[jump]*ways
	seen      map[functionAt]bool
}

// functionAt is where a function begins in memory.
type functionAt struct {
	space uint32
	addr  uint64
}

// writeLcov writes lines, functions and branches that were executed as lcov and genhtml
// read them (lcov 1.16, geninfo(1), "FILES"). Of functions that were executed it also has
// the lines that were not.
func writeLcov(j *job, w io.Writer) error {
	c := &sourceCoverage{
		j: j, objects: j.newObjects(), names: counts.NewNames(j.session), lines: map[copyAt]uint64{}, functions: map[lineAt]map[string]uint64{},
		jumps: map[jump]*ways{}, seen: map[functionAt]bool{},
	}
	all := j.executed()
	type place struct {
		functionAt
		block counts.Range
	}
	executed, places := map[codeAt]uint64{}, map[codeAt]place{}
	for _, r := range all.Ranges() {
		n := j.count(r.Count)
		if n == 0 || !c.wanted(r.Block.Space, r.Block.Addr, r.Seen) {
			continue
		}
		a := r.Block.Addr
		for _, size := range r.Block.Lens[:r.Insns] {
			at := c.objects.code(r.Block.Space, a, r.Seen)
			executed[at] += n
			places[at] = place{functionAt{r.Block.Space, a}, r}
			a += uint64(size)
		}
	}
	for _, at := range slices.SortedFunc(maps.Keys(executed), codeAt.order) {
		p := places[at]
		c.ran(p.functionAt, executed[at], &p.block)
	}
	for _, e := range all.Edges() {
		if n := j.count(e.Count); n > 0 && e.From.Class == isa.Cond && c.wanted(e.From.Space, e.From.LastIP(), e.Seen) {
			c.went(&e, n)
		}
	}
	j.written = j.written || len(c.lines) > 0
	if len(j.leftOut) > 0 {
		j.empty, j.hint = "no source line is known of what was executed", host.NoLines
		if j.object != "" {
			j.empty += " of " + j.object
		}
	}
	return c.files(w)
}

// wanted reports whether --object leaves an address in.
func (c *sourceCoverage) wanted(space uint32, addr, time uint64) bool {
	if c.j.object == "" {
		return true
	}
	x := c.objects.at(space, addr, time)
	return x != nil && x.called(c.j.object)
}

// ran counts an instruction that was executed n times.
func (c *sourceCoverage) ran(at functionAt, n uint64, r *counts.Range) {
	frames := c.j.session.Lines(at.space, at.addr, r.Seen)
	if len(frames) == 0 {
		why := "no source line is known for them (DWARF)"
		if k := c.j.kernel; k != nil && !k.Lines && c.j.session.Kernel(at.addr) {
			why = k.Path + " has no DWARF, which tells source lines"
		}
		c.j.leaveOut(n, why)
		return
	}
	p := c.names.At(at.space, at.addr, r.Seen)
	c.line(at, r.Seen, n, p)
	if p.Sym == "" {
		return
	}
	if own := frames[len(frames)-1]; p.Off == 0 {
		k := lineAt{own.File, own.Line}
		if c.functions[k] == nil {
			c.functions[k] = map[string]uint64{}
		}
		c.functions[k][p.Sym] += n
	}
	begin := functionAt{at.space, at.addr - p.Off}
	if !c.seen[begin] {
		c.seen[begin] = true
		c.rest(begin, r, p)
	}
}

// line counts the lines of one instruction.
func (c *sourceCoverage) line(at functionAt, time, n uint64, p counts.Place) {
	in := fmt.Sprintf("%s %s", p.File, p.Sym)
	frames := c.j.session.Lines(at.space, at.addr, time)
	for i := len(frames) - 1; i >= 0; i-- {
		f := &frames[i]
		if f.Line > 0 {
			k := copyAt{lineAt{f.File, f.Line}, in}
			c.lines[k] = max(c.lines[k], n)
		}
		in += fmt.Sprintf(" %s:%d", f.File, f.Line)
	}
}

// rest adds the lines of a function that were not executed.
func (c *sourceCoverage) rest(begin functionAt, r *counts.Range, p counts.Place) {
	dec, _ := c.j.session.ISA()
	buf := make([]byte, dec.MaxLen())
	epoch := event.Epoch(0)
	if c.j.session.Kernel(begin.addr) {
		epoch = r.Block.Span.From
	}
	for a := begin.addr; a-begin.addr < 1<<20; {
		q := c.names.At(begin.space, a, r.Seen)
		var in isa.Insn
		have := c.j.session.Code(buf, begin.space, a, epoch)
		if q.Sym != p.Sym || q.File != p.File || dec.Decode(&in, buf[:have], a, r.Block.Mode) != isa.OK {
			return
		}
		c.line(functionAt{begin.space, a}, r.Seen, 0, q)
		a += uint64(in.Len)
	}
}

// went counts a conditional branch.
func (c *sourceCoverage) went(e *counts.Edge, n uint64) {
	at := e.From.LastIP()
	frames := c.j.session.Lines(e.From.Space, at, e.Seen)
	if len(frames) == 0 || frames[0].Line == 0 {
		return
	}
	k := jump{lineAt{frames[0].File, frames[0].Line}, c.objects.code(e.From.Space, at, e.Seen)}
	x := c.jumps[k]
	if x == nil {
		x = new(ways)
		c.jumps[k] = x
	}
	if e.Taken() {
		x.taken += n
	} else {
		x.passed += n
	}
}

// files writes the files in order of their names.
func (c *sourceCoverage) files(w io.Writer) error {
	lines := map[string]map[int]uint64{}
	for k, n := range c.lines {
		if lines[k.file] == nil {
			lines[k.file] = map[int]uint64{}
		}
		lines[k.file][k.line] += n
	}
	jumps := map[lineAt][]jump{}
	for k := range c.jumps {
		jumps[k.lineAt] = append(jumps[k.lineAt], k)
	}
	out := bufio.NewWriter(w)
	for _, file := range slices.Sorted(maps.Keys(lines)) {
		fmt.Fprintf(out, "TN:%s\nSF:%s\n", testName(c.j.partOf), terminal.Plain(file))
		order := slices.Sorted(maps.Keys(lines[file]))
		c.listFunctions(out, file, order)
		c.listJumps(out, file, order, jumps)
		hit := 0
		for _, l := range order {
			fmt.Fprintf(out, "DA:%d,%d\n", l, lines[file][l])
			if lines[file][l] > 0 {
				hit++
			}
		}
		fmt.Fprintf(out, "LF:%d\nLH:%d\nend_of_record\n", len(order), hit)
	}
	return out.Flush()
}

// listFunctions writes the functions that begin in a file.
func (c *sourceCoverage) listFunctions(out io.Writer, file string, order []int) {
	var counted []string
	for _, l := range order {
		at := c.functions[lineAt{file, l}]
		for _, name := range slices.Sorted(maps.Keys(at)) {
			fmt.Fprintf(out, "FN:%d,%s\n", l, terminal.Plain(name))
			counted = append(counted, fmt.Sprintf("FNDA:%d,%s\n", at[name], terminal.Plain(name)))
		}
	}
	for _, s := range counted {
		io.WriteString(out, s)
	}
	fmt.Fprintf(out, "FNF:%d\nFNH:%d\n", len(counted), len(counted))
}

// listJumps writes the conditional branches of a file: both ways of each.
func (c *sourceCoverage) listJumps(out io.Writer, file string, order []int, jumps map[lineAt][]jump) {
	found, hit := 0, 0
	for _, l := range order {
		list := jumps[lineAt{file, l}]
		slices.SortFunc(list, func(a, b jump) int { return a.at.order(b.at) })
		for i, k := range list {
			x := c.jumps[k]
			for way, n := range []uint64{x.taken, x.passed} {
				fmt.Fprintf(out, "BRDA:%d,%d,%d,%d\n", l, i, way, n)
				if found++; n > 0 {
					hit++
				}
			}
		}
	}
	if found > 0 {
		fmt.Fprintf(out, "BRF:%d\nBRH:%d\n", found, hit)
	}
}
