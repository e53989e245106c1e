package step

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// print prints the stop for people.
func (p *Stop) print(w io.Writer) error {
	var b strings.Builder
	line := func(format string, args ...any) {
		s := terminal.Plain(fmt.Sprintf(format, args...))
		if r := []rune(s); len(r) > terminal.Columns {
			s = string(r[:terminal.Columns-3]) + "..."
		}
		b.WriteString(s + "\n")
	}
	at := "time not known"
	if p.Time != 0 {
		at = event.Seconds(p.Time)
		if p.Until != nil {
			at += fmt.Sprintf(", or up to %d ns later", *p.Until-p.Time)
		}
	}
	who := ""
	if p.TID != nil {
		who = fmt.Sprintf("; thread %d %s", *p.TID, p.Comm)
	}
	line("%s  %s%s", p.Stream, at, who)
	name := p.Sym
	if name == "" {
		name = p.Addr
	}
	line("%s  (%s)", name, p.Verdict)
	if p.SrcLine != "" {
		line("%s", strings.TrimRight(p.SrcLine+"  "+p.Source, " "))
	}
	line("%s", p.versions())
	for _, n := range some(p.Notes) {
		line("# %s", n)
	}
	b.WriteString("\n")
	p.codeLines(line)
	b.WriteString("\n")
	for _, g := range some(p.Gaps) {
		line("next: gap: %s", g)
	}
	line("next: %s", cmp.Or(p.NextSym, p.Next, "the trace ends here"))
	_, err := io.WriteString(w, b.String())
	return err
}

// mostNotes is how many notes of one place a screen has.
const mostNotes = 8

// some returns notes for a screen: all, or the first ones and the last one. Between two stops there may be thousands of gaps.
func some(notes []string) []string {
	n := len(notes)
	if n <= mostNotes {
		return notes
	}
	left := fmt.Sprintf("... %d more", n-mostNotes+1)
	return slices.Concat(notes[:mostNotes-2], []string{left, notes[n-1]})
}

// codeLines prints the code around the stop by line.
func (p *Stop) codeLines(line func(format string, args ...any)) {
	src := ""
	for _, l := range p.Code {
		mark := "  "
		if l.Here {
			mark = "=>"
		}
		poked := " "
		if l.Poked {
			poked = "*"
		}
		text := fmt.Sprintf("%s%s %s  %-20s  %s", mark, poked, l.Addr, l.Bytes, l.Insn)
		if at := beside(l.Src); l.Src != "" && l.Src != src && len(text)+2+len(at) <= terminal.Columns {
			text += fmt.Sprintf("%*s", terminal.Columns-len(text), at)
		}
		src = l.Src
		line("%s", text)
	}
}

// versions renders for which changes the code is this.
func (p *Stop) versions() string {
	s := fmt.Sprintf("epoch %d", p.Epoch)
	switch {
	case p.Before == nil && p.Since == 0:
		s += "; this code is the same at all times"
	case p.Before == nil:
		s += fmt.Sprintf("; this code is there from epoch %d on", p.Since)
	case p.Since+1 == *p.Before:
		s += fmt.Sprintf("; this code is there in epoch %d only", p.Since)
	default:
		s += fmt.Sprintf("; this code is there in epochs %d to %d", p.Since, *p.Before-1)
	}
	if n := len(p.Pokes); n > 0 {
		const most = 8
		s += "; changed by poke"
		for i, k := range p.Pokes {
			if i == most {
				s += fmt.Sprintf(" and %d more", n-most)
				break
			}
			s += fmt.Sprintf(" %d", k)
		}
	}
	return s
}

// keyHelp is what the keys do. Typed as lines they are the same.
const keyHelp = `n, p       the next instruction, and the previous one (also the arrows)
o          over a call: where it has returned to
c, C       the next call's first instruction, and the previous one's
k, K       the next instruction that a change touches, and the previous one
g TIME     go to a time, as flow prints it
poke N     go to the time of a change
cpu N      the same time on another CPU, as flow prints it: N@PID of a guest
q          end
A number in front repeats: 10 n.`
