package rows

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// listed returns the words that batches become: a stream and an element.
func listed(t *testing.T, streams []Stream, only []int, batches []flow.Batch, o Options) (words []string) {
	t.Helper()
	o.Level = LevelElement
	m := New(nobody{}, streams, only, o, func(r *Row) error {
		words = append(words, fmt.Sprintf("%d %s %v", r.Stream.CPU, r.Element, r.Facts(nil)))
		return nil
	})
	for i := range batches {
		b := &batches[i]
		if o.Backward() {
			b = &batches[len(batches)-1-i]
		}
		if err := m.Flow(b); err == ErrEnough {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	return words
}

// plainNote is a note of an event that moves nothing.
func plainNote(e event.Event) flow.Note { return flow.Note{Kind: flow.NoteEvent, Event: e, Poke: -1} }

var (
	unread    = flow.Note{Kind: flow.NoteGap, Poke: -1, Gap: event.Gap{Reason: event.NoText, IP: 0x3000, Off: 10, End: 20}}
	exception = plainNote(event.Event{Kind: event.Async, Detail: event.DetailException, Value: 14, From: 0x3010, Off: 12, End: 20})
	other     = flow.Note{Kind: flow.NoteGap, Poke: -1, Gap: event.Gap{Reason: event.Mismatch, IP: 0x3000, Off: 10, End: 20}}
	stamped   = plainNote(event.Event{Kind: event.Payload, Detail: event.DetailTimestamp, Value: 5})
	traceOn   = flow.Note{Kind: flow.NoteTrackOff, Event: event.Event{Kind: event.Off, Detail: event.DetailTraceOn}}
	left      = flow.Note{Kind: flow.NoteTrackOff, Event: event.Event{Kind: event.AsyncDisable, Detail: event.DetailException, From: 0x3010, Off: 12, End: 20}}
	executed  = flow.Block{Addr: 0x2000, End: 0x2004, Mode: isa.ModeA64, N: 1, Lens: []byte{4}}
)

// TestUnreadTwice would catch machine code that is not known up to an exception
// being told of once, or again where something lies between, forwards or
// backwards.
func TestUnreadTwice(t *testing.T) {
	but := func(n flow.Note, f func(*flow.Note)) flow.Note { f(&n); return n }
	for _, x := range []struct {
		name  string
		notes []flow.Note
		ran   int // so many notes before the end, something was executed; 0: nothing
		want  string
	}{
		{"exception", []flow.Note{unread, exception}, 0, "ADDR_NACC ADDR_NACC EXCEPTION"},
		{"timestamp between", []flow.Note{unread, stamped, exception}, 0, "ADDR_NACC TIMESTAMP ADDR_NACC EXCEPTION"},
		{"two exceptions", []flow.Note{unread, exception, exception}, 0, "ADDR_NACC ADDR_NACC EXCEPTION EXCEPTION"},
		{"two gaps", []flow.Note{unread, unread, exception, unread, exception}, 0, "ADDR_NACC ADDR_NACC ADDR_NACC EXCEPTION ADDR_NACC ADDR_NACC EXCEPTION"},
		{"tracing was off", []flow.Note{unread, traceOn, exception}, 0, "ADDR_NACC TRACE_ON EXCEPTION"},
		{"tracing went off", []flow.Note{unread, left}, 0, "ADDR_NACC EXCEPTION"},
		{"executed between", []flow.Note{unread, exception}, 1, "ADDR_NACC INSTR_RANGE EXCEPTION"},
		{"executed before", []flow.Note{stamped, unread, exception}, 2, "TIMESTAMP INSTR_RANGE ADDR_NACC ADDR_NACC EXCEPTION"},
		{"another gap", []flow.Note{unread, other, exception}, 0, "ADDR_NACC EXCEPTION"},
		{"from in front of it", []flow.Note{unread, but(exception, func(n *flow.Note) { n.Event.From = 0x3000 })}, 0, "ADDR_NACC EXCEPTION"},
		{"from where the flow stood", []flow.Note{unread, but(exception, func(n *flow.Note) { n.Event.Flags = event.FlagHere })}, 0, "ADDR_NACC EXCEPTION"},
		{"of another segment", []flow.Note{unread, but(exception, func(n *flow.Note) { n.Event.End = 30 })}, 0, "ADDR_NACC EXCEPTION"},
	} {
		want := x.want + " EO_TRACE"
		for _, o := range []Options{{}, {Reverse: true}, {Last: 100}} {
			words := ""
			b := flow.Batch{Notes: slices.Clone(x.notes), Stamps: []flow.Stamp{{}}}
			if x.ran > 0 {
				b.Ranges = []flow.Range{{Block: &executed, N: 1}}
				for i := len(b.Notes) - x.ran; i < len(b.Notes); i++ {
					b.Notes[i].At = 1
				}
			}
			lines := listed(t, []Stream{{CPU: 0}}, nil, []flow.Batch{b}, o)
			if o.Reverse {
				slices.Reverse(lines)
			}
			for _, l := range lines {
				words += " " + strings.Fields(l)[1]
			}
			if words[1:] != want {
				t.Errorf("%s, %+v:\ngot  %s\nwant %s", x.name, o, words[1:], want)
			}
		}
	}
}

// TestElementsBackwards would catch elements that differ between newest first and
// forwards, or come in another order, also with the lines of gaps. It would also catch Options.Last giving
// other rows than those at the end.
func TestElementsBackwards(t *testing.T) {
	here := exception
	here.Event.Flags = event.FlagHere
	alphabet := []flow.Note{unread, unread, exception, exception, stamped, traceOn, other, here, left}
	streams := []Stream{{CPU: 0}, {CPU: 1}, {CPU: 2}, {CPU: 3}}
	rnd := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var batches []flow.Batch
		for range 1 + rnd.IntN(5) {
			b := flow.Batch{Stream: rnd.IntN(3), Stamps: []flow.Stamp{{}}}
			for range rnd.IntN(6) {
				n := alphabet[rnd.IntN(len(alphabet))]
				n.At = len(b.Ranges)
				if b.Notes = append(b.Notes, n); rnd.IntN(4) == 0 {
					b.Ranges = append(b.Ranges, flow.Range{Block: &executed, N: 1})
				}
			}
			batches = append(batches, b)
		}
		only := []int{0, 1, 2}
		want := listed(t, streams, only, batches, Options{})
		back := listed(t, streams, only, batches, Options{Reverse: true})
		slices.Reverse(back)
		if !slices.Equal(want, back) {
			t.Fatalf("forwards\n%s\nbackwards\n%s", strings.Join(want, "\n"), strings.Join(back, "\n"))
		}
		gaps := listed(t, streams, only, batches, Options{Gaps: true})
		back = listed(t, streams, only, batches, Options{Gaps: true, Reverse: true})
		if slices.Reverse(back); !slices.Equal(gaps, back) {
			t.Fatalf("with gaps, forwards\n%s\nbackwards\n%s", strings.Join(gaps, "\n"), strings.Join(back, "\n"))
		}
		if ends := strings.Join(want[len(want)-3:], ";"); ends != "0 EO_TRACE [];1 EO_TRACE [];2 EO_TRACE []" {
			t.Fatalf("the ends are %q", ends)
		}
		n := 1 + rnd.IntN(8)
		last := listed(t, streams, only, batches, Options{Last: n})
		if tail := want[max(0, len(want)-3-n):]; !slices.Equal(tail, last) {
			t.Fatalf("the last %d are\n%s\nwant\n%s", n, strings.Join(last, "\n"), tail)
		}
	}
}

// TestNothingWaits would catch lines that are held back although it is known what
// comes in front of them.
func TestNothingWaits(t *testing.T) {
	m := New(nobody{}, []Stream{{CPU: 0}}, nil, Options{Level: LevelElement, Reverse: true}, func(*Row) error { return nil })
	for _, n := range []flow.Note{traceOn, other, unread} {
		if err := m.Flow(&flow.Batch{Notes: []flow.Note{n, exception, exception, stamped, exception}}); err != nil || m.queue.waiting() > 0 {
			t.Errorf("%v, %d rows wait", err, m.queue.waiting())
		}
	}
	behind := exception
	behind.At = 1
	b := flow.Batch{Ranges: []flow.Range{{Block: &executed, N: 1}}, Stamps: []flow.Stamp{{}}, Notes: []flow.Note{behind, behind}}
	if err := m.Flow(&b); err != nil || m.queue.waiting() > 0 {
		t.Errorf("%v, %d rows wait", err, m.queue.waiting())
	}
}
