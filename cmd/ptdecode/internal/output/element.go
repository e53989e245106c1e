package output

import (
	"math"
	"strconv"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/flow"
)

// The level element: what a trace says besides branches, in order with what was
// executed, by the names that Arm's tools use for it.

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
	switch {
	case st.Software == SoftwareITM && (w == "SWTRACE" || w == "TIMESTAMP"):
		return "ITMTRACE"
	case st.Software == SoftwareSTM && w == "TIMESTAMP":
		return "SW_TIMESTAMP"
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

// elementFact is something that an element says.
type elementFact struct {
	key  string
	word string // what it is; "": v
	v    uint64
	addr bool // v is an address or another value of 64 bits
}

// elementFacts appends what the element r says.
func elementFacts(dst []elementFact, r *Row) []elementFact {
	word := func(k, s string) { dst = append(dst, elementFact{key: k, word: s}) }
	num := func(k string, v uint64) { dst = append(dst, elementFact{key: k, v: v}) }
	addr := func(k string, v uint64) { dst = append(dst, elementFact{key: k, v: v, addr: true}) }
	if r.Event == nil {
		if r.N == 0 {
			return dst
		}
		word("isa", isaName(r.Mode))
		addr("start", r.IP)
		addr("end", r.Addr)
		num("insns", uint64(r.N))
		if r.Verdict != flow.Certain {
			word("verdict", r.Verdict.String())
		}
		return dst
	}
	n := r.Event
	if n.Kind == flow.NoteGap {
		addr("ip", n.Gap.IP)
		word("reason", n.Gap.Reason.String())
		return dst
	}
	e := &n.Event
	switch e.Kind {
	case event.Async, event.AsyncDisable:
		if e.Detail == event.DetailException {
			num("number", e.Value)
		}
		if e.Flags&event.FlagHere == 0 {
			addr("from", e.From)
		} else if n.IP != 0 {
			addr("from", n.IP)
		}
		if e.HasIP() {
			addr("to", e.IP)
		}
		if n.Kind == flow.NoteTrap {
			word("trap", n.Trap.String())
		}
		return dst
	}
	return payloadFacts(dst, e)
}

// payloadFacts appends what a payload or a context says.
func payloadFacts(dst []elementFact, e *event.Event) []elementFact {
	word := func(k, s string) { dst = append(dst, elementFact{key: k, word: s}) }
	num := func(k string, v uint64) { dst = append(dst, elementFact{key: k, v: v}) }
	value := func(k string, v uint64) { dst = append(dst, elementFact{key: k, v: v, addr: true}) }
	switch e.Detail {
	case event.DetailPE:
		return peFacts(dst, e)
	case event.DetailTimestamp:
		value("value", e.Value)
		if e.Value2&1 != 0 {
			word("clock", "changed")
		}
		if n := e.Value2 >> 8 & 0xff; n > 0 {
			num("unknown", n)
		}
	case event.DetailLocalTimestamp:
		value("local", e.Value)
		num("delta", e.Value2&event.LTTicks)
		for _, f := range [...]struct {
			bit  uint64
			word string
		}{{event.LTDelayed, "delayed"}, {event.LTPacketDelayed, "packet-delayed"}, {event.SWOverflow, "overflow"}} {
			if e.Value2&f.bit != 0 {
				word(f.word, "yes")
			}
		}
	case event.DetailCycleCount:
		if e.Value2&1 != 0 {
			word("count", "unknown")
		} else {
			num("count", e.Value)
		}
	case event.DetailInstrumentation:
		value("value", e.Value)
		num("el", e.Value2)
	case event.DetailTraceEvent:
		num("events", e.Value)
	case event.DetailTxBegin:
		word("what", "begin")
	case event.DetailTxCommit:
		word("what", "commit")
	case event.DetailTxAbort:
		word("what", "fail")
	case event.DetailSoftware, event.DetailHardware:
		return softwareFacts(dst, e)
	case event.DetailSTPSync, event.DetailStreamError, event.DetailDataSync:
		word("what", e.Detail.String())
		num("value", e.Value)
	case event.DetailCR3:
		value("cr3", e.Value)
	}
	return dst
}

// peFacts appends what a context says.
func peFacts(dst []elementFact, e *event.Event) []elementFact {
	x := e.Value2
	if x&event.PEHasLevel != 0 {
		isa := "A32"
		if x&event.PE64 != 0 {
			isa = "A64"
		}
		dst = append(dst, elementFact{key: "el", v: x & event.PELevel}, elementFact{key: "state", word: isa},
			elementFact{key: "security", word: securities[x>>3&3]})
	}
	if x&event.PEHyp != 0 {
		dst = append(dst, elementFact{key: "mode", word: "hyp"})
	}
	if x&event.PEHasID != 0 {
		dst = append(dst, elementFact{key: "context", v: e.Value & math.MaxUint32})
	}
	if x&event.PEHasVMID != 0 {
		dst = append(dst, elementFact{key: "vmid", v: e.Value >> 32})
	}
	return dst
}

// securities names a security state by the bits NS and NSE.
var securities = [4]string{"secure", "non-secure", "root", "realm"}

// softwareFacts appends what software, or the hardware's watch on it, wrote.
func softwareFacts(dst []elementFact, e *event.Event) []elementFact {
	x := e.Value2
	num := func(k string, v uint64) { dst = append(dst, elementFact{key: k, v: v}) }
	if x&event.SWNoID == 0 {
		num("master", x>>event.SWMasterShift&0xffff)
		num("channel", x>>event.SWChannelShift&0xffff)
	}
	if size := x >> event.SWSizeShift & 0xff; size > 0 {
		num("bits", size)
		dst = append(dst, elementFact{key: "value", v: e.Value, addr: true})
	}
	for _, f := range [...]struct {
		bit  uint64
		word string
	}{
		{event.SWMarker, "marker"}, {event.SWTimestamped, "timestamped"}, {event.SWFlag, "flag"}, {event.SWTrigger, "trigger"},
		{event.SWOverflow, "overflow"}, {event.SWFrequency, "frequency"},
	} {
		if x&f.bit != 0 {
			dst = append(dst, elementFact{key: f.word, word: "yes"})
		}
	}
	if e.Detail == event.DetailHardware {
		dst = append(dst, elementFact{key: "source", word: "dwt"})
	}
	return dst
}

// element makes the row of a range, at the level element.
func (ln *lane) element(row Row, x *flow.Range) error {
	row.Kind, row.Word, row.N, row.Addr = RowElement, "INSTR_RANGE", int(x.N), rangeEnd(x)
	if err := ln.unreadBefore(nil); err != nil {
		return err
	}
	if ln.p.backward && returnsHere(ln.st, x) {
		if err := ln.bare("EXCEPTION_RET", row.Time); err != nil {
			return err
		}
	}
	if err := ln.p.row(&row); err != nil {
		return err
	}
	if !ln.p.backward && returnsHere(ln.st, x) {
		return ln.bare("EXCEPTION_RET", row.Time)
	}
	return nil
}

// endOfTrace is the element behind all others of a stream. It is none of the rows
// that Options.Last counts.
const endOfTrace = "EO_TRACE"

// bare makes the row of an element that says nothing but its name.
func (ln *lane) bare(word string, t event.Time) error {
	return ln.p.row(&Row{Kind: RowElement, Stream: ln.st, Word: word, Time: t, Poke: -1})
}

// noteElement makes the row of a note, at the level element. Gaps are told as
// in every level.
func (ln *lane) noteElement(n *flow.Note) error {
	t := n.Event.Time
	w := elementName(n, ln.st)
	if err := ln.stillUnread(n, w); err != nil {
		return err
	}
	if n.Kind == flow.NoteGap || w == "" {
		if err := ln.other(n); err != nil || w == "" {
			return err
		}
		t = n.Gap.Time
	}
	err := ln.p.row(&Row{Kind: RowElement, Stream: ln.st, Word: w, Time: t, IP: n.IP, Poke: n.Poke, Verdict: n.Verdict, Event: n})
	if err == nil && ln.p.backward && w == "EXCEPTION" && n.Kind != flow.NoteTrackOff {
		c := *n
		ln.unread, ln.slot = &c, ln.p.reserve()
	}
	return err
}

// stillUnread tells once more of machine code that is not known where the next
// thing that states an address is an exception, n, from behind it: up to there it
// is not known either. A gap that says no more than that is told once. w is the
// name of n. Backwards the exception comes first, and the gap settles whether
// there is such a line behind it.
func (ln *lane) stillUnread(n *flow.Note, w string) error {
	gap := w == "ADDR_NACC"
	switch {
	case gap && !ln.p.backward:
		c := *n
		ln.unread = &c
	case gap:
		return ln.unreadBefore(n)
	case n.Kind == flow.NoteTrackOff, n.Kind == flow.NoteGap:
		return ln.unreadBefore(nil)
	case w == "EXCEPTION" && ln.p.backward:
		return ln.unreadBefore(nil) // the next exception is the one that waits
	case w == "EXCEPTION" && ln.unread != nil:
		g := ln.unread
		if ln.unread = nil; unreadUpTo(g, n) {
			return ln.notRead(g)
		}
	}
	return nil
}

// unreadBefore ends the wait for what lies behind the gap or, backwards, before
// the exception: something that was executed, or may have been (nil), or,
// backwards, the gap g, of which a row is then made if it belongs there.
func (ln *lane) unreadBefore(g *flow.Note) error {
	x := ln.unread
	ln.unread = nil
	if x == nil || !ln.p.backward {
		return nil
	}
	ln.p.fill(ln.slot)
	var err error
	if g != nil && unreadUpTo(g, x) {
		err = ln.notRead(g)
	}
	if e := ln.p.filled(); err == nil {
		err = e
	}
	return err
}

// unreadUpTo reports whether the machine code between the gap g and the exception
// x, the next thing that states an address, is not known.
func unreadUpTo(g, x *flow.Note) bool {
	return x.Event.Flags&event.FlagHere == 0 && x.Event.From > g.Gap.IP && g.Gap.Off < x.Event.Off && g.Gap.End == x.Event.End
}

// notRead makes the other row of the gap g.
func (ln *lane) notRead(g *flow.Note) error {
	return ln.p.row(&Row{Kind: RowElement, Stream: ln.st, Word: "ADDR_NACC", Time: g.Gap.Time, IP: g.IP, Poke: g.Poke, Event: g})
}

// element appends r as "STREAM NAME KEY=VALUE ...".
func (t *textEncoder) element(dst []byte, r *Row) []byte {
	dst = append(append(dst, r.Stream.short()...), ' ')
	dst = append(dst, r.Word...)
	for _, f := range elementFacts(nil, r) {
		dst = append(append(append(dst, ' '), f.key...), '=')
		switch {
		case f.word != "":
			dst = append(dst, f.word...)
		case f.addr:
			dst = appendHex16(dst, f.v)
		default:
			dst = strconv.AppendUint(dst, f.v, 10)
		}
	}
	return append(dst, '\n')
}

// element appends what r says.
func (j *jsonEncoder) element(dst []byte, r *Row) []byte {
	dst = word(when(source(dst, r), r.Time), "name", r.Word)
	for _, f := range elementFacts(nil, r) {
		switch {
		case f.word != "":
			dst = word(dst, f.key, f.word)
		case f.addr:
			dst = hex(dst, f.key, f.v)
		default:
			dst = number(dst, f.key, f.v)
		}
	}
	if r.Event != nil {
		off := r.Event.Event.Off
		if r.Event.Kind == flow.NoteGap {
			off = r.Event.Gap.Off
		}
		dst = number(dst, "trace_off", uint64(off))
	}
	return dst
}
