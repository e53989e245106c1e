package wire

import "github.com/ptdecode/ptdecode/decoder/event"

// Course is how far a decoder of software's trace (STM, ITM) has come in its segment.
// Such trace says nothing of what ran: its events are an Off of DetailNoSync, those of
// its packets, and an End.
type Course struct {
	Segment      event.Segment
	begun, ended bool
}

// Next writes the next event to e and reports whether there was one. front goes to the
// first packet and returns where it lies, bytes. packet reads packets until one says
// something; it returns false behind the last. end returns where that was, bytes.
func (c *Course) Next(e *event.Event, front func() int64, packet func(e *event.Event) bool, end func() int64) bool {
	switch {
	case !c.begun:
		c.begun = true
		*e = event.Event{Kind: event.Off, Detail: event.DetailNoSync, Off: c.Segment.Off, End: front(), Time: event.Always}
		return true
	case c.ended:
		return false
	case packet(e):
		return true
	}
	c.ended = true
	off := end()
	*e = event.Event{Kind: event.End, Off: off, End: off, Time: event.Always}
	return true
}
