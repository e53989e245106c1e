package export

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// folded is stacks as flamegraph.pl and its like read: a line for each stack, the outermost
// call first, with semicolons between, and what it weighs. The thread's name stands in front.
type folded struct {
	calls.Tree
	job  *job
	time bool // it weighs ns, not instructions
	out  *bufio.Writer

	of    map[stackKey]uint64 // by what stacks end with, their number, from 1
	nodes []stackNode         // by number, from 1 on
	roots map[string]int      // numbers of threads' names: below zero
}

// stackKey is a stack: another one, and what is called there.
type stackKey struct {
	outer    int64 // number of the stack outside, or of the thread's name
	function int   // -1: those that were not seen
}

// stackNode is a stack and what it weighs.
type stackNode struct {
	outer  int64
	name   string
	weight uint64
}

// newFolded returns a sink that writes stacks weighed by instructions.
func newFolded(j *job, w io.Writer) (host.Sink, error) { return foldedOf(j, w, false), nil }

// newFoldedTime returns a sink that writes stacks weighed by time.
func newFoldedTime(j *job, w io.Writer) (host.Sink, error) { return foldedOf(j, w, true), nil }

// foldedOf returns a sink that writes stacks.
func foldedOf(j *job, w io.Writer, time bool) *folded {
	f := &folded{job: j, time: time, out: bufio.NewWriter(w)}
	f.Tree = calls.Tree{Session: j.session, OnBegin: f.began, OnEnd: f.ended, OnRestart: f.anew}
	f.From, f.Until = j.filter.Options.From, j.filter.Options.Until
	f.anew()
	return f
}

// anew forgets all.
func (f *folded) anew() bool {
	f.of, f.nodes, f.roots = map[stackKey]uint64{}, make([]stackNode, 1), map[string]int{}
	return true
}

// began gives a call the number of its stack.
func (f *folded) began(c *calls.Call) {
	c.Tag = f.stackUnder(c, c)
}

// stackUnder returns the number of the stack of c, under the name of the thread of the call in front.
func (f *folded) stackUnder(c, front *calls.Call) uint64 {
	k := stackKey{function: c.Function}
	switch up := c.Caller; {
	case up == nil:
		if k.outer = f.root(front); f.From != 0 && c.How == calls.Unseen {
			k.outer = int64(f.ending(stackKey{k.outer, -1}, filter.NotSeen))
		}
	case up.Comm == front.Comm:
		k.outer = int64(up.Tag)
	default: // the thread was called otherwise
		k.outer = int64(f.stackUnder(up, front))
	}
	name := c.Sym
	if name == "" {
		name = fmt.Sprintf("0x%x", c.Addr)
	}
	return f.ending(k, name)
}

// ending returns the number of a stack that ends with name.
func (f *folded) ending(k stackKey, name string) uint64 {
	n := f.of[k]
	if n == 0 {
		n = uint64(len(f.nodes))
		f.of[k] = n
		f.nodes = append(f.nodes, stackNode{outer: k.outer, name: name})
	}
	return n
}

// root returns the number of the name of c's thread.
func (f *folded) root(c *calls.Call) int64 {
	name := c.Comm
	if name == "" {
		name = c.Stream.Name
	}
	if f.roots[name] == 0 {
		f.roots[name] = -1 - len(f.roots)
	}
	return int64(f.roots[name])
}

// ended weighs a call.
func (f *folded) ended(c *calls.Call) {
	if !f.job.wants(c) {
		return
	}
	weight := c.Self
	if f.time {
		_, weight, _ = c.Took()
	} else if !f.job.ambiguous {
		weight -= c.Ambiguous
	}
	f.nodes[c.Tag].weight += weight
}

// stackName returns a name without what would end it in a line.
func stackName(s string) string { return strings.ReplaceAll(terminal.Plain(s), ";", ":") }

// Close writes the stacks, in the order of their names.
func (f *folded) Close() error {
	f.Tree.Close()
	names := make([]string, len(f.nodes))
	of := map[int]string{}
	for name, n := range f.roots {
		of[n] = stackName(name)
	}
	var lines []string
	for i := 1; i < len(f.nodes); i++ {
		n := &f.nodes[i]
		if n.outer < 0 {
			names[i] = of[int(n.outer)]
		} else {
			names[i] = names[n.outer]
		}
		names[i] += ";" + stackName(n.name)
		if n.weight > 0 {
			lines = append(lines, fmt.Sprintf("%s %d\n", names[i], n.weight))
		}
	}
	if f.time && len(lines) == 0 && f.job.executedAny() {
		f.job.host.Say("folded-time: nothing is written: %s", f.job.timeless("no call has a time"))
	}
	slices.Sort(lines)
	for _, l := range lines {
		if _, err := f.out.WriteString(l); err != nil {
			return err
		}
	}
	return f.out.Flush()
}
