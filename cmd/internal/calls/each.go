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
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// list prints each call as it ends. It is a decoder.Sink. What it printed stays, so it does not begin anew.
type list struct {
	t    *table // says which calls are asked for
	tree calls.Tree
	w    *bufio.Writer
	json *json.Encoder // nil: lines
	err  error         // of a write; rows.ErrEnough: as many calls were printed as were asked for
}

// newList returns a list for t's calls, printed to w.
func newList(t *table, w io.Writer) *list {
	l := &list{t: t, w: bufio.NewWriter(w)}
	l.tree = calls.Tree{Session: t.s, OnEnd: l.prints}
	if t.o.format == "jsonl" {
		l.json = json.NewEncoder(l.w)
		l.json.SetEscapeHTML(false)
	}
	return l
}

// Flow takes flow, and hands on the lines of what ended in it.
func (l *list) Flow(b *decoder.Batch) error {
	for i := range b.Notes {
		if b.Notes[i].Kind == decoder.NoteGap {
			l.t.gaps++
		}
	}
	if err := l.tree.Flow(b); err != nil {
		return err
	}
	if err := l.w.Flush(); err != nil {
		return err
	}
	return l.err
}

// Close ends the calls that are in progress.
func (l *list) Close() error {
	l.tree.Close()
	l.t.tree.Unmatched = l.tree.Unmatched
	if l.err != nil && l.err != rows.ErrEnough {
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
		l.err = rows.ErrEnough
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
	s += terminal.Fit(nameIn(c.Sym, c.Addr, c.File), terminal.Rest(l.t.o.width, s))
	const around, least = len("  ()"), 10 // terminal.Fit leaves as many columns
	left := terminal.Rest(l.t.o.width, s) - around
	if l.t.o.width == 0 {
		left = 0 // any
	} else if left < least {
		return s
	}
	return s + "  (" + terminal.Fit(l.about(c), left) + ")"
}

// about says who called c, where it ran, and what is unusual about it.
func (l *list) about(c *calls.Call) string {
	words := []string{c.How.String()}
	if c.Caller != nil {
		caller := nameOf(c.Caller.Sym, c.Caller.Addr)
		switch c.How {
		case calls.Called:
			words[0] = "< " + caller
		case calls.Interrupted:
			words[0] = "interrupts " + caller
		default:
			words = append(words, "< "+caller)
		}
	}
	words = append(words, c.Stream.Name)
	if c.TID >= 0 {
		words = append(words, strings.TrimSpace(fmt.Sprintf("tid %d %s", c.TID, c.Comm)))
	}
	switch c.Ended {
	case calls.Returned:
	case calls.InGap:
		words = append(words, "ended in a gap")
	default:
		words = append(words, c.Ended.String())
	}
	if c.Verdict != decoder.Certain {
		words = append(words, c.Verdict.String())
	}
	if p := paceOf(c); p.counted > 0 {
		words = append(words, plural.Count(p.cycles, "cycle"))
	}
	if c.Gap && c.Ended != calls.InGap {
		words = append(words, "gap in it")
	}
	return strings.Join(words, ", ")
}
