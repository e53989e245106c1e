package calls

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// list prints each call as it ends. It is a decoder.Sink: a table that counts nothing. What it printed stays, so it does not
// begin anew.
type list struct {
	t    *table
	w    *bufio.Writer
	json *json.Encoder // nil: lines
	err  error         // of a write; decoder.ErrStop: as many calls were printed as were asked for
}

// newList returns a list of the calls that t would count, printed to w.
func newList(t *table, w io.Writer) *list {
	l := &list{t: t, w: bufio.NewWriter(w)}
	t.tree.OnEnd = l.prints
	if t.o.format == "jsonl" {
		l.json = json.NewEncoder(l.w)
		l.json.SetEscapeHTML(false)
	}
	return l
}

// Flow takes flow, and hands on the lines of what ended in it.
func (l *list) Flow(b *decoder.Batch) error {
	if err := l.t.Flow(b); err != nil {
		return err
	}
	if err := l.w.Flush(); err != nil {
		return err
	}
	return l.err
}

// Close ends the calls that are in progress.
func (l *list) Close() error {
	if err := l.t.Close(); err != nil {
		return err
	}
	if l.err != nil && l.err != decoder.ErrStop {
		return l.err
	}
	return l.w.Flush()
}

// prints prints a call, if it is asked for.
func (l *list) prints(c *calls.Call) {
	if l.err != nil || l.t.o.filters && !l.t.wants(c) {
		return
	}
	if l.json != nil {
		x := objectOf(c)
		l.err = l.json.Encode(&x)
	} else {
		if l.t.listed == 0 {
			fmt.Fprintf(l.w, "%14s %8s %9s %8s %8s  function\n", "begin", "total", "within", "self", "insns")
		}
		_, l.err = fmt.Fprintln(l.w, l.line(c))
	}
	if l.t.listed++; l.err == nil && l.t.listed == l.t.o.first {
		l.err = decoder.ErrStop
	}
}

// line returns the line of a call.
func (l *list) line(c *calls.Call) string {
	begin, took, off, own := "-", "-", "-", "-"
	if c.How != calls.Unseen && c.Begin.Lo != 0 {
		begin = stamp(c.Begin.Lo)
	}
	if total, self, ok := c.Took(); ok {
		took, off, own = short(total, 1), give(offBy(c, total)), short(self, 1)
	}
	s := fmt.Sprintf("%14s %8s %9s %8s %8d  ", begin, took, off, own, c.Insns)
	d, doubt := doubts(c), ""
	if len(d) > 0 {
		doubt = d[0]
	}
	name, all := nameIn(c.Sym, c.Addr, c.File), terminal.Plain(strings.Join(append(d, about(c)...), ", "))
	const around, least = len("  ()"), 10 // terminal.Fit leaves as many columns
	if l.t.o.width == 0 {
		return s + name + "  (" + all + ")"
	}
	rest := terminal.Rest(l.t.o.width, s)
	if doubt != "" {
		rest = max(rest-around-len(doubt), least)
	}
	s += terminal.Fit(name, rest)
	switch left := terminal.Rest(l.t.o.width, s) - around; {
	case left >= max(least, len(doubt)+len(", …")):
		return s + "  (" + terminal.Fit(all, left) + ")"
	case doubt != "":
		return s + "  (" + doubt + ")"
	}
	return s
}

// doubts says what puts in doubt what ran in c, the worst first.
func doubts(c *calls.Call) (words []string) {
	if c.Verdict != decoder.Certain {
		words = append(words, c.Verdict.String())
	}
	switch {
	case c.Ended == calls.InGap:
		words = append(words, "ended in a gap")
	case c.Gap:
		words = append(words, "gap in it")
	}
	return words
}

// about says how c ended, who called it, and where it ran. What is usual is left out.
func about(c *calls.Call) (words []string) {
	if c.Ended != calls.Returned && c.Ended != calls.InGap {
		words = append(words, c.Ended.String())
	}
	words = append(words, entered(c), c.Stream.Name)
	if c.TID >= 0 {
		words = append(words, strings.TrimSpace(fmt.Sprintf("tid %d %s", c.TID, c.Comm)))
	}
	if p := paceOf(c); p.counted > 0 {
		words = append(words, plural.Count(p.cycles, "cycle"))
	}
	return words
}

// entered says how c was entered, and by whom.
func entered(c *calls.Call) string {
	if c.Caller == nil {
		return c.How.String()
	}
	caller := nameOf(c.Caller.Sym, c.Caller.Addr)
	switch c.How {
	case calls.Called:
		return "< " + caller
	case calls.Interrupted:
		return "interrupts " + caller
	}
	return c.How.String() + ", < " + caller
}
