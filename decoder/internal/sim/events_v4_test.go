package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/coresight/etmv4"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// tell returns what e says: of the flow all but where targets lie.
func (e *elemV4) tell() string {
	switch e.kind {
	case etmv4.AtomF1:
		if e.taken {
			return "E"
		}
		return "N"
	case etmv4.Exception:
		if e.fails {
			return "fails"
		}
		return fmt.Sprintf("exception %d at %#x", e.number, e.addr&^1)
	case etmv4.Q:
		return fmt.Sprintf("Q %d", e.count)
	case etmv4.SrcMatch:
		return fmt.Sprintf("source %#x", e.addr&^1)
	case etmv4.Timestamp:
		return fmt.Sprintf("timestamp %d", e.stamp)
	case etmv4.Event:
		return fmt.Sprintf("event %d", e.number)
	case etmv4.ITE:
		return fmt.Sprintf("ITE %d %#x", e.number&3, e.count)
	case etmv4.Context:
		return fmt.Sprintf("context EL%d %#x", e.number, e.count)
	case etmv4.TSMarker, etmv4.TxStart, etmv4.TxCommit, etmv4.TraceOn, etmv4.Overflow, etmv4.ExceptionReturn:
		return e.kind.String()
	}
	return ""
}

// plainEvents are the elements that hold nothing, by what events of them say.
var plainEvents = map[event.Detail]etmv4.Kind{
	event.DetailTimestampMarker: etmv4.TSMarker, event.DetailTxBegin: etmv4.TxStart, event.DetailTxCommit: etmv4.TxCommit,
	event.DetailTraceOn: etmv4.TraceOn, event.DetailExceptionRet: etmv4.ExceptionReturn,
}

// tellEvent is tell of an event, which may be several elements.
func tellEvent(dst []string, e *event.Event) []string {
	switch e.Kind {
	case event.Outcomes:
		for i := range e.N {
			dst = append(dst, string("NE"[e.Value>>(63-i)&1]))
		}
		return dst
	case event.Async:
		if e.Flags&event.FlagAbort != 0 {
			return dst // DetailTxAbort has said so
		}
		return append(dst, fmt.Sprintf("exception %d at %#x", e.Value, e.From))
	case event.Quiet:
		return append(dst, fmt.Sprintf("Q %d", e.Value))
	case event.Reach:
		return append(dst, fmt.Sprintf("source %#x", e.IP))
	case event.Overflow:
		return append(dst, etmv4.Overflow.String())
	case event.Trouble:
		return append(dst, "trouble "+e.Reason.String())
	}
	switch e.Detail {
	case event.DetailPE:
		return append(dst, fmt.Sprintf("context EL%d %#x", e.Value2&uint64(etmv4.InfoEL), e.Value))
	case event.DetailTxAbort:
		return append(dst, "fails")
	case event.DetailTimestamp:
		return append(dst, fmt.Sprintf("timestamp %d", e.Value))
	case event.DetailTraceEvent:
		return append(dst, fmt.Sprintf("event %d", e.Value))
	case event.DetailInstrumentation:
		return append(dst, fmt.Sprintf("ITE %d %#x", e.Value2, e.Value))
	}
	if k, ok := plainEvents[e.Detail]; ok {
		return append(dst, k.String())
	}
	return dst
}

// without drops what need not be told where nothing is traced behind it.
func without(list []string) (out []string) {
	var wait []string
	for _, s := range list {
		if strings.HasPrefix(s, "context") {
			wait = append(wait, s)
			continue
		}
		switch s {
		case etmv4.TraceOn.String(), etmv4.ExceptionReturn.String(), etmv4.TxCommit.String(), etmv4.TxStart.String():
			wait = append(wait, s)
			continue
		case etmv4.Overflow.String():
			wait = nil
		}
		if strings.HasPrefix(s, "timestamp") || strings.HasPrefix(s, "event") || strings.HasPrefix(s, "ITE") || s == etmv4.TSMarker.String() {
			out = append(out, s)
			continue
		}
		out, wait = append(append(out, wait...), s), nil
	}
	return out
}

// TestEventsV4 would catch a decoder of ETMv4 and ETE that tells of what was
// cancelled, leaves out what a Cancel keeps, or tells of it in another order. It
// compares the decoder with one that does so slowly, element by element.
func TestEventsV4(t *testing.T) {
	seeds := uint64(testsize.Of(t, 30, 300))
	for seed := range seeds {
		r := SimulateA64(DrawA64(seed).WithETM())
		for i := range r.CPUs {
			c := &r.CPUs[i]
			v := &resolver{max: int(c.Source.V4.IDR8), cfg: &c.Source, seen: map[etmv4.Kind]int{}}
			var p etmv4.Packet
			for l := etmv4.NewLexer(c.Source, c.Trace, 0); l.Next(&p); {
				v.packet(&p)
			}
			v.cancelAll()
			var want, got []string
			for j := range v.done {
				if s := v.done[j].tell(); s != "" {
					want = append(want, s)
				}
			}
			seg := event.Segment{End: int64(len(c.Trace)), Buf: c.Trace, Last: true}
			var e event.Event
			for d := etmv4.NewDecoder(etmv4.Config{Trace: c.Source}, seg); d.Next(&e); {
				got = tellEvent(got, &e)
			}
			got, want = without(got), without(want)
			for j := range max(len(got), len(want)) {
				if j >= len(got) || j >= len(want) || got[j] != want[j] {
					from, to := max(j-5, 0), j+5
					t.Fatalf("seed %d CPU %d: %d of %d and %d: %q, want %q", seed, i, j, len(got), len(want),
						got[min(from, len(got)):min(to, len(got))], want[min(from, len(want)):min(to, len(want))])
				}
			}
		}
	}
}

// damagedV4 returns trace with a byte that is another, some that are missing or some that come twice, behind
// what the trace begins with.
func damagedV4(trace []byte, r *rand.Rand) []byte {
	const front = 64
	b, at := slices.Clone(trace), front+r.IntN(len(trace)-front)
	n := min(1+r.IntN(64), len(b)-at)
	switch r.IntN(3) {
	case 0:
		b[at] ^= byte(1 + r.IntN(255))
	case 1:
		b = slices.Delete(b, at, at+n)
	case 2:
		b = slices.Insert(b, at, slices.Clone(b[at:at+n])...)
	}
	return b
}

// traced lists what list tells. A Trace On may stand where it does not belong: what is told before an
// address behind it is of code that nobody knows, and packets are missing.
func traced(list []elemV4) (told []string) {
	on, gap := true, false
	for i := range list {
		e := &list[i]
		was := on
		ran := e.kind == etmv4.AtomF1 || e.kind == etmv4.SrcMatch || e.kind == etmv4.Q
		if !on && gap && ran {
			told, gap = append(told, "trouble bad-packet"), false
		}
		switch e.kind {
		case etmv4.TraceOn, etmv4.Overflow:
			on, gap = false, e.kind == etmv4.TraceOn
		case etmv4.AddrMatch, etmv4.Exception:
			on = on || !e.fails
		case etmv4.Q:
			on = on || e.hasA
		}
		if s := e.tell(); s != "" && (was || !ran) {
			told = append(told, s)
		}
	}
	return told
}

// TestEventsV4Damaged would catch a decoder of ETMv4 and ETE that goes on where packets contradict each
// other. They do if more is committed or cancelled than there is, or if a Trace Info does not count what is
// not committed as it is. What it tells before must be what the slow one tells.
func TestEventsV4Damaged(t *testing.T) {
	failed := 0
	for seed := range uint64(testsize.Of(t, 60, 600)) {
		r := SimulateA64(DrawA64(seed).WithETM())
		for i := range r.CPUs {
			c := &r.CPUs[i]
			trace := damagedV4(c.Trace, rand.New(rand.NewPCG(seed, uint64(i))))
			v := &resolver{max: int(c.Source.V4.IDR8), cfg: &c.Source, seen: map[etmv4.Kind]int{}}
			var p etmv4.Packet
			for l := etmv4.NewLexer(c.Source, trace, 0); v.err == nil && l.Next(&p); {
				v.packet(&p)
			}
			if v.err == nil {
				v.cancelAll()
			} else {
				failed++
			}
			seg := event.Segment{End: int64(len(trace)), Buf: trace, Last: true}
			var got []string
			var e event.Event
			trouble := false // packets that contradict each other: the decoder looks for an A-Sync behind them
			for d := etmv4.NewDecoder(etmv4.Config{Trace: c.Source}, seg); d.Next(&e); {
				if trouble && e.Kind == event.Off && e.Detail == event.DetailNoSync {
					got = got[:len(got)-1]
					break
				}
				got = tellEvent(got, &e)
				if trouble = e.Kind == event.Trouble; trouble && e.Reason == event.Truncated {
					break
				}
			}
			// It may go on behind an exception whose address comes late, where it looks for an A-Sync, and where
			// a unit that never speculates counts what it commits.
			lenient := v.err != nil && (v.max == 0 && strings.HasPrefix(v.err.Error(), "commit of") ||
				strings.Contains(v.err.Error(), "behind an exception") || strings.Contains(v.err.Error(), "A-Sync"))
			if trouble != (v.err != nil) && !lenient {
				t.Errorf("seed %d CPU %d: trouble %v up to %#x; the slow one says %v", seed, i, trouble, e.Off, v.err)
				continue
			}
			got, want := without(got), without(traced(v.done))
			if v.err == nil && len(got) != len(want) {
				t.Errorf("seed %d CPU %d: %d are told, want %d", seed, i, len(got), len(want))
			}
			// What is not committed where packets contradict each other is left out, and timestamps are not.
			for j := range min(len(got), len(want)) {
				if got[j] != want[j] && (v.err == nil || j < len(want)-uncertain) {
					t.Errorf("seed %d CPU %d: %d of %d and %d: %q, want %q", seed, i, j, len(got), len(want), got[j], want[j])
					break
				}
			}
		}
	}
	if failed == 0 {
		t.Error("no trace contradicts itself: that tests nothing")
	}
}

// uncertain is how many elements the decoder may leave out where it ends, in place of those that it
// cannot drop.
const uncertain = 64
