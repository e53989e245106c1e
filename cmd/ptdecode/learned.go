package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/output"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore"
)

// dropped is a sink that drops what it is given, and can begin anew.
type dropped struct{}

func (dropped) Flow(*decoder.Batch) error { return nil }
func (dropped) Restart() bool             { return false }

// learned decodes the flow and prints what was learned of the code.
func (a *app) learned(c *cobra.Command, o *pokesFlags, p *pokeFilter, s *decoder.Session, w io.Writer) error {
	err := s.Flow(c.Context(), decoder.Query{Jobs: a.open.jobs, Progress: a.ui.progress}, dropped{})
	a.ui.done()
	if err != nil {
		return err
	}
	printed := 0
	list := s.Learned()
	for i := range list {
		l := &list[i]
		sym := s.KernelSymbol(l.Addr, l.Change.Lo)
		if !p.wants(l.Addr, len(l.Code), p.from, sym) {
			continue
		}
		printed++
		if o.asJSON {
			_, err = w.Write(l.AppendJSON(nil, sym))
		} else {
			_, err = io.WriteString(w, learnedLine(s, l, sym))
		}
		if err != nil {
			return err
		}
	}
	if printed == 0 {
		a.ui.say("nothing was learned of the code: the trace does not contradict it, or does not tell what lay there")
	}
	return a.whole(s, 0)
}

// learnedLine renders what was learned as a line.
func learnedLine(s *decoder.Session, l *kcore.Learned, sym string) string {
	if sym == "" {
		sym = "-"
	}
	line := fmt.Sprintf("%016x %s: %s: %x (%s)", l.Addr, sym, l.Why, l.Code, disasm(s, l.Code, l.Addr, l.Change.Lo, len(l.Code)))
	if l.Was != nil {
		line += fmt.Sprintf(" since %s to %s, before %x", event.Seconds(l.Change.Lo), event.Seconds(l.Change.Hi), l.Was)
	} else if l.Had != nil {
		line += fmt.Sprintf(", the images have %x (%s)", l.Had, disasm(s, l.Had, l.Addr, 0, len(l.Had)))
	}
	for i, b := range l.Others {
		if i == 0 {
			line += "; does the same:"
		}
		line = string(output.AppendSide([]byte(line+" "), b))
	}
	return line + fmt.Sprintf("  # visits for %d, against %d\n", l.For, l.Against)
}
