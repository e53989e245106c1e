package view

import (
	"fmt"
	"io"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/onepage"
)

// writeSVG draws s.
func (v exporter) writeSVG(w io.Writer, s *story) error {
	m := &s.Mark
	p := &onepage.Picture{
		Index: m.Index, Begin: m.Begin, Time: m.Time, End: m.End, Command: s.Command,
		Title:   fmt.Sprintf("poke %d: %s, %s (%s)", m.Index, orAddr(m.Symbol, m.Addr), m.Kind, m.Scheme),
		Old:     firstLine(s.Old),
		New:     firstLine(s.New),
		Seconds: func(t uint64) string { return strings.Split(v.rec.span(t, t), ",")[0] },
	}
	if m.Comm != "" {
		p.By = fmt.Sprintf(" by %s, thread %d", m.Comm, m.TID)
	}
	for i := range s.Crossed {
		c := &s.Crossed[i]
		p.Rows = append(p.Rows, onepage.Row{
			Name: v.rec.Streams[c.Stream].Label, Old: c.Old, Traps: c.Traps, New: c.New,
			LastOld: c.LastOld, FirstTrap: c.FirstTrap, LastTrap: c.LastTrap, FirstNew: c.FirstNew,
		})
	}
	return p.Write(w)
}

func orAddr(sym, addr string) string {
	if sym == "" {
		return addr
	}
	return sym
}

// firstLine is the first instruction of code.
func firstLine(lines []codeLine) string {
	if len(lines) == 0 {
		return "is not known"
	}
	return lines[0].Insn
}
