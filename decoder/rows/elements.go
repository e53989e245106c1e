package rows

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// elementName names what n, of st, tells; "" if it is no element.
func elementName(n *flow.Note, st *Stream) string {
	switch n.Kind {
	case flow.NoteGap:
		switch n.Gap.Reason {
		case event.NoText:
			return "ADDR_NACC"
		case event.NoPath:
			return "I_RANGE_NOPATH"
		}
		return ""
	case flow.NoteTrap:
		return "EXCEPTION"
	case flow.NoteCut, flow.NoteTrackOn:
		return ""
	}
	e := &n.Event
	switch e.Kind {
	case event.Context:
		if e.Flags&event.FlagRestated != 0 {
			return "" // told before: a segment begins here
		}
	case event.Async, event.AsyncDisable:
		if e.Flags&event.FlagAbort != 0 && e.Detail == event.DetailNone {
			return "" // a transaction failed: a MEMTRANS says so
		}
		return "EXCEPTION"
	case event.Off:
		if e.Detail == event.DetailNoSync {
			return "NO_SYNC"
		}
		return "TRACE_ON"
	}
	w := detailElements[e.Detail]
	if own, ok := st.ElementNames[w]; ok {
		return own
	}
	return w
}

// detailElements is the element of each detail that has one.
var detailElements = map[event.Detail]string{
	event.DetailExceptionRet: "EXCEPTION_RET", event.DetailFunctionRet: "FUNCTION_RET",
	event.DetailPE: "PE_CONTEXT", event.DetailCR3: "PE_CONTEXT", event.DetailMode: "PE_CONTEXT",
	event.DetailTimestamp: "TIMESTAMP", event.DetailTimestampMarker: "SYNC_MARKER", event.DetailCycleCount: "CYCLE_COUNT",
	event.DetailTraceEvent: "EVENT", event.DetailInstrumentation: "INSTRUMENTATION",
	event.DetailSoftware: "SWTRACE", event.DetailHardware: "ITMTRACE", event.DetailStreamError: "SWTRACE",
	event.DetailLocalTimestamp: "ITMTRACE",
	event.DetailSTPSync:        "SW_SYNC", event.DetailDataSync: "SYNC_MARKER",
	event.DetailTxBegin: "MEMTRANS", event.DetailTxCommit: "MEMTRANS", event.DetailTxAbort: "MEMTRANS",
}

// elements lists a stream at the level element: what its trace says besides
// branches, interleaved with what was executed. The names are those of OpenCSD
// (ocsd_generic_trace_elem.h).
type elements struct {
	stream

	// Forwards, unread is the last gap for want of machine code, if nothing was
	// executed since. Backwards it is the last exception, if nothing was executed
	// before it, and between is the place of a row that may stand in front of it.
	unread  *flow.Note
	between place
}

// endOfTrace is the element behind all others of a stream. It is none of the rows
// that Options.Last counts.
const endOfTrace = "EO_TRACE"

// ran makes the row of a range.
func (l *elements) ran(b *flow.Batch, x *flow.Range) error {
	row := rangeRow(l.st, b, x)
	row.Kind, row.Element, row.N, row.Addr = KindElement, "INSTR_RANGE", int(x.N), x.End()
	if err := l.unreadBefore(nil); err != nil {
		return err
	}
	returns, backward := l.st.SilentReturn(x), l.m.o.Backward()
	if returns && backward {
		if err := l.bare("EXCEPTION_RET", row.Time); err != nil {
			return err
		}
	}
	if err := l.m.add(&row); err != nil {
		return err
	}
	if returns && !backward {
		return l.bare("EXCEPTION_RET", row.Time)
	}
	return nil
}

// end has nothing to do: the Maker lists the ends of all streams.
func (l *elements) end() error { return nil }

// bare makes the row of an element that says nothing but its name.
func (l *elements) bare(name string, t event.Time) error {
	return l.m.add(&Row{Kind: KindElement, Stream: l.st, Element: name, Time: t, Poke: -1})
}

// note makes the row of a note. Gaps are listed as at every level.
func (l *elements) note(n *flow.Note) error {
	t := n.Event.Time
	name := elementName(n, l.st)
	if err := l.stillUnread(n, name); err != nil {
		return err
	}
	gap, backward := n.Kind == flow.NoteGap, l.m.o.Backward()
	if gap && !backward || name == "" {
		if err := l.other(n); err != nil || name == "" {
			return err
		}
	}
	if gap {
		t = n.Gap.Time
	}
	err := l.m.add(&Row{
		Kind: KindElement, Stream: l.st, Element: name, Time: t, IP: n.IP, Poke: n.Poke, Verdict: n.Verdict, Note: n,
	})
	if err == nil && gap && backward {
		return l.other(n)
	}
	if err == nil && backward && name == "EXCEPTION" && n.Kind != flow.NoteTrackOff {
		c := *n
		l.unread, l.between = &c, l.m.queue.reserve()
	}
	return err
}

// stillUnread takes a note of a name. It lists a gap for want of machine code a
// second time in front of an exception that was taken from behind the gap. The
// code up to that exception is not known either. Backwards the exception
// comes first, and the gap settles whether there is such a row.
func (l *elements) stillUnread(n *flow.Note, name string) error {
	gap, backward := name == "ADDR_NACC", l.m.o.Backward()
	switch {
	case gap && !backward:
		c := *n
		l.unread = &c
	case gap:
		return l.unreadBefore(n)
	case n.Kind == flow.NoteTrackOff, n.Kind == flow.NoteGap:
		return l.unreadBefore(nil)
	case name == "EXCEPTION" && backward:
		return l.unreadBefore(nil) // the next exception is the one that waits
	case name == "EXCEPTION" && l.unread != nil:
		g := l.unread
		if l.unread = nil; unreadUpTo(g, n) {
			return l.notRead(g)
		}
	}
	return nil
}

// unreadBefore ends the wait. g is nil where something was executed, or may have
// been. Backwards, g is the gap in front of the exception that waits: it
// is listed a second time if it belongs there.
func (l *elements) unreadBefore(g *flow.Note) error {
	x := l.unread
	l.unread = nil
	if x == nil || !l.m.o.Backward() {
		return nil
	}
	return l.m.queue.fill(l.between, func() error {
		if g == nil || !unreadUpTo(g, x) {
			return nil
		}
		return l.notRead(g)
	})
}

// unreadUpTo reports whether the machine code between the gap g and the exception
// x, the next thing that states an address, is not known.
func unreadUpTo(g, x *flow.Note) bool {
	return x.Event.Flags&event.FlagHere == 0 && x.Event.From > g.Gap.IP && g.Gap.Off < x.Event.Off && g.Gap.End == x.Event.End
}

// notRead makes the other row of the gap g.
func (l *elements) notRead(g *flow.Note) error {
	return l.m.add(&Row{Kind: KindElement, Stream: l.st, Element: "ADDR_NACC", Time: g.Gap.Time, IP: g.IP, Poke: g.Poke, Note: g})
}
