package main

import (
	"fmt"
	"io"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// namedBy returns what names st in an object: its CPU, or its thread, or its trace
// ID, whichever is the first to be known.
func namedBy(st *decoder.Stream) (cpu, tid *int32, id string) {
	switch {
	case st.CPU >= 0:
		return &st.CPU, nil, ""
	case st.TID >= 0:
		return nil, &st.TID, ""
	}
	return nil, nil, st.ID
}

// printCrossing prints how a CPU crossed a poke, as a line below the poke's.
func printCrossing(w io.Writer, s *decoder.Session, c *report.Crossing) error {
	line := "#   " + s.Streams()[c.Stream].Name + ": "
	part := func(n int, what, when string, x *report.Sighting) {
		switch {
		case n > 0 && x.Time == event.Always:
			line += fmt.Sprintf("%d %s; ", n, what) // a trace without times
		case n > 0:
			line += fmt.Sprintf("%d %s %s %s; ", n, what, when, seconds(x.Time.Lo))
		}
	}
	part(c.Old.N, "old", "until", &c.Old.Last)
	switch first := c.Traps.First.Time; {
	case c.Traps.N > 1 && first == event.Always:
		line += fmt.Sprintf("%d traps; ", c.Traps.N)
	case c.Traps.N > 1:
		line += fmt.Sprintf("%d traps from %s to %s; ", c.Traps.N, seconds(first.Lo), seconds(c.Traps.Last.Time.Lo))
	default:
		part(c.Traps.N, "trap", "at", &c.Traps.First)
	}
	part(c.New.N, "new", "from", &c.New.First)
	_, err := fmt.Fprintf(w, "%s%s\n", line, c.Verdict())
	return err
}
