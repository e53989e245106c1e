package story

import (
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Print prints a whole poke for people, in 80 columns.
func (p *Poke) Print(w io.Writer) error {
	var b strings.Builder
	line := func(name, format string, args ...any) {
		wrap(&b, fmt.Sprintf("%-9s ", name), fmt.Sprintf(format, args...))
	}
	sym := p.Sym
	if sym == "" {
		sym = "no symbol"
	}
	of := ""
	if p.Guest != 0 {
		of = fmt.Sprintf(" of guest%d", p.Guest)
	}
	wrap(&b, "", fmt.Sprintf("poke %d%s: %s at %s, %s", p.Index, of, p.Kind, p.Addr, sym))
	line("when", "%s%s", event.Seconds(p.Time), p.bounds())
	line("by", "%s", p.maker())
	line("scheme", "%s; batch %d", p.scheme(), p.Batch)
	line("old", "%s", bytesOf(p.Old))
	line("new", "%s", bytesOf(p.New))
	if !p.Valid {
		line("break", "the code was %s, the record says %s: it changed without a record", p.Have, p.Want)
	}
	code(&b, fmt.Sprintf("code before (epoch %d)", p.Index), p.Before)
	code(&b, fmt.Sprintf("code after (epoch %d)", p.Index+1), p.After)
	p.printPath(&b)
	p.printCPUs(&b)
	p.printThreads(&b)
	_, err := io.WriteString(w, b.String())
	return err
}

// wrap writes s behind a prefix, with further lines below it.
func wrap(b *strings.Builder, prefix, s string) {
	col := len(prefix)
	indent := strings.Repeat(" ", max(2, col))
	b.WriteString(prefix)
	start := true
	for _, word := range strings.Fields(terminal.Plain(s)) {
		if !start && col+1+len(word) > terminal.Columns {
			in := min(len(indent), max(2, terminal.Columns-len(word))) // a long name stands further left
			b.WriteString("\n" + indent[:in])
			col, start = in, true
		}
		if !start {
			b.WriteByte(' ')
			col++
		}
		b.WriteString(word)
		col, start = col+len(word), false
	}
	b.WriteByte('\n')
}

// bounds renders between which moments CPUs may have gone over.
func (p *Poke) bounds() string {
	if p.Begin == nil {
		return ""
	}
	begin, end := *p.Begin, *p.End
	switch {
	case begin == 0 && end == math.MaxUint64:
		return ", in effect at a time that is not known"
	case begin == 0:
		return ", in effect until " + event.Seconds(end)
	case end == math.MaxUint64:
		return ", in effect from " + event.Seconds(begin) + " on"
	}
	return fmt.Sprintf(", in effect from %s to %s", event.Seconds(begin), event.Seconds(end))
}

// maker renders who made the poke.
func (p *Poke) maker() string {
	who := "not recorded"
	switch {
	case p.TID != 0 && p.Comm != "":
		who = fmt.Sprintf("%s, thread %d", p.Comm, p.TID)
	case p.TID != 0:
		who = fmt.Sprintf("thread %d", p.TID)
	}
	if p.TID != 0 && p.PID != 0 {
		who += fmt.Sprintf(" of process %d", p.PID)
	}
	if p.CPU != nil {
		who += fmt.Sprintf(", on CPU %d", *p.CPU)
	}
	return who
}

// scheme renders how the bytes were changed.
func (p *Poke) scheme() string {
	if p.Under != "" {
		return p.Scheme + " under " + p.Under
	}
	return p.Scheme
}

// bytesOf renders the bytes of one side.
func bytesOf(hex string) string {
	const most = 64 // digits
	switch {
	case hex == "":
		return "nothing"
	case len(hex) > most:
		return fmt.Sprintf("%s... (%d bytes)", hex[:most], len(hex)/2)
	}
	return hex
}

// mostLines is how many lines of code are printed of one side.
const mostLines = 24

// code prints one side of the code.
func code(b *strings.Builder, title string, list []Line) {
	fmt.Fprintf(b, "\n%s\n", title)
	for i, l := range list {
		if i == mostLines {
			fmt.Fprintf(b, "  ... %d more; -o jsonl has them\n", len(list)-i)
			break
		}
		mark := " "
		if l.Poked {
			mark = "*"
		}
		if l.Bytes == "" {
			fmt.Fprintf(b, "%s %s  not known\n", mark, l.Addr)
			continue
		}
		prefix := fmt.Sprintf("%s %s  %-20s  ", mark, l.Addr, l.Bytes)
		wrap(b, prefix, l.Insn)
	}
	if len(list) == 0 {
		b.WriteString("  not known\n")
	}
}

// pathEnds says what lies outside of the outermost frame.
var pathEnds = map[string]string{
	endUser:   "entered from user space",
	endSwitch: "another thread ran on this CPU before: calls outside are not known",
	endGap:    "a gap comes before: outer calls are not known",
	endStart:  "the trace begins here: calls outside are not known",
	endLimit:  "calls outside were not looked for",
}

// printPath prints from which code the poke was made.
func (p *Poke) printPath(b *strings.Builder) {
	switch {
	case !p.flow:
		return
	case p.Path == nil:
		fmt.Fprintf(b, "\nmade from\n  not known: %s\n", p.pathless)
		return
	}
	where := "where its record was written"
	if p.Path.At == "time" {
		where = "where the flow was at about its time"
	}
	fmt.Fprintf(b, "\nmade from (%s; calls, innermost first)\n", where)
	for _, f := range p.Path.Frames {
		name := f.Sym
		if name == "" {
			name = f.Addr
		}
		if f.Interrupted {
			name += "  interrupted"
		}
		if f.Verdict != "certain" {
			name += "  " + f.Verdict
		}
		time := strings.TrimSuffix(event.Seconds(f.Time), " s")
		if f.Time == 0 {
			time = "-" // before the first time that its segment of trace states
		}
		fmt.Fprintf(b, "  %11s  %s\n", time, terminal.Plain(name))
	}
	wrap(b, "  ", pathEnds[p.Path.End])
}

// seen prints how often a CPU executed something, and once when.
func seen(b *strings.Builder, n int, what, when string, x *Sighting) {
	if n == 0 {
		return
	}
	at := "" // a trace without times
	if x.Time != 0 {
		at = ", " + when + " " + event.Seconds(x.Time)
		if x.Until != nil {
			at += fmt.Sprintf(" (or up to %d ns later)", *x.Until-x.Time)
		}
	}
	wrap(b, fmt.Sprintf("    %-9s ", what), fmt.Sprintf("%d%s, %s", n, at, x.Verdict))
}

// printCPUs prints how each CPU crossed the poke.
func (p *Poke) printCPUs(b *strings.Builder) {
	b.WriteString("\nCPUs\n")
	switch {
	case !p.flow:
		b.WriteString("  not looked for: no trace was decoded\n")
	case len(p.CPUs)+len(p.Unseen) == 0:
		b.WriteString("  the trace shows no CPU that executed this code\n")
	}
	for i := range p.CPUs {
		c := &p.CPUs[i]
		fmt.Fprintf(b, "  %s: %s\n", terminal.Plain(c.name), c.Verdict)
		seen(b, c.Old, "old code", "last", c.LastOld)
		seen(b, c.Traps, "traps", "first", c.FirstTrap)
		if c.Traps > 1 && c.LastTrap.Time != c.FirstTrap.Time {
			seen(b, c.Traps, "traps", "last", c.LastTrap)
		}
		seen(b, c.New, "new code", "first", c.FirstNew)
		p.printUnseen(b, c.name, nil)
	}
	p.printUnseen(b, "", p.CPUs)
}

// mostThreads is how many threads are printed.
const mostThreads = 16

// printThreads prints who ran through the poke's site.
func (p *Poke) printThreads(b *strings.Builder) {
	if len(p.Threads) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%-26s %10s %10s %10s %10s\n", "threads", "old", "traps", "new", "unsure")
	for i, t := range p.Threads {
		if i == mostThreads {
			fmt.Fprintf(b, "  ... %d more; -o jsonl has them\n", len(p.Threads)-i)
			return
		}
		name := "not known"
		if t.TID != nil {
			name = fmt.Sprintf("%d %s", *t.TID, t.Comm)
		}
		fmt.Fprintf(b, "  %-24s %10d %10d %10d %10d\n", terminal.Plain(name), t.Old, t.Traps, t.New, t.Unsure)
	}
}
