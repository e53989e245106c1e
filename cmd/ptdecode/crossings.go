package main

import (
	"fmt"
	"io"
	"math"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// jsonCrossing is how a CPU crossed a poke.
type jsonCrossing struct {
	CPU       *int32        `json:"cpu,omitempty"`
	TID       *int32        `json:"tid,omitempty"` // a thread's own stream
	ID        string        `json:"id,omitempty"`  // trace ID, hex
	Old       int           `json:"old"`           // executions
	LastOld   *jsonSighting `json:"last_old,omitempty"`
	Traps     int           `json:"traps"`
	FirstTrap *jsonSighting `json:"first_trap,omitempty"`
	LastTrap  *jsonSighting `json:"last_trap,omitempty"`
	New       int           `json:"new"` // executions
	FirstNew  *jsonSighting `json:"first_new,omitempty"`
	Verdict   string        `json:"verdict"`
}

// jsonSighting is one execution.
type jsonSighting struct {
	Time    uint64  `json:"time"`            // ns; the lower bound
	Until   *uint64 `json:"until,omitempty"` // ns
	Verdict string  `json:"verdict"`
}

// sighting makes an object of an execution; nil if there was none.
func sighting(s *report.Sightings, x *report.Sighting) *jsonSighting {
	if s.N == 0 {
		return nil
	}
	j := &jsonSighting{Time: x.Time.Lo, Verdict: x.Verdict.String()}
	if x.Time.Hi != math.MaxUint64 && x.Time.Hi != x.Time.Lo {
		j.Until = &x.Time.Hi
	}
	return j
}

// crossingsJSON makes objects of how the CPUs crossed a poke.
func crossingsJSON(s *decoder.Session, list []report.Crossing) []jsonCrossing {
	out := []jsonCrossing{}
	for i := range list {
		c := &list[i]
		j := jsonCrossing{
			Old: c.Old.N, LastOld: sighting(&c.Old, &c.Old.Last),
			Traps: c.Traps.N, FirstTrap: sighting(&c.Traps, &c.Traps.First), LastTrap: sighting(&c.Traps, &c.Traps.Last),
			New: c.New.N, FirstNew: sighting(&c.New, &c.New.First), Verdict: c.Verdict().String(),
		}
		j.CPU, j.TID, j.ID = namedBy(s.Streams()[c.Stream])
		out = append(out, j)
	}
	return out
}

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
