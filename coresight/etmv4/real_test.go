package etmv4

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// TestRecordedPackets would catch what real trace units send and the other tests do
// not think of. That is a packet whose bytes do not come back, and one that is
// taken for another or for none, or read where none starts.
func TestRecordedPackets(t *testing.T) {
	streams := tracetest.Recorded(t, coresight.ETMv4, coresight.ETE)
	tracetest.Known(t, streams, recordedKinds, func(s tracetest.Stream) (n kindCounts) {
		lex := func(buf []byte, base int64) packettest.Lexer[Packet] { return NewLexer(s.Config, buf, base) }
		packets.Recorded(t, s.Buf, nil, lex, func(p *Packet) { n[p.Kind]++ })
		return n
	})
}

// TestRecordedSegments would catch a segment that needs what came before it, one
// that ends too soon, or events that Fill gives otherwise than Next. Over the
// recordings, outcomes and targets are the same however they are cut into segments,
// and none is decoded twice.
func TestRecordedSegments(t *testing.T) {
	cuts := 0
	for _, s := range tracetest.Recorded(t, coresight.ETMv4, coresight.ETE) {
		c := Config{Trace: s.Config}
		whole, _ := segments(s.Buf, 0, c, int64(len(s.Buf)))
		segs, _ := Segments(s.Buf, 0, c)
		if len(whole) == 0 {
			continue
		}
		if len(whole) != 1 {
			t.Errorf("%s: %d segments, want 1", s.Name, len(whole))
		}
		one, many := flowOf(c, whole), flowOf(c, segs)
		if one != many {
			at := 0
			for at < min(len(one), len(many)) && one[at] == many[at] {
				at++
			}
			from := max(at-200, 0)
			t.Errorf("%s: %d segments: in one\n%.400s\nin many\n%.400s", s.Name, len(segs), one[from:], many[from:])
		}
		cuts += len(segs) - 1
		for i, g := range segs {
			if i%16 == 0 {
				checkDecoder(t, c, g)
			}
		}
	}
	if cuts < 300 {
		t.Errorf("%d places where streams were cut: this tests nothing", cuts)
	}
}

// flowOf renders what the segments say of the flow: outcomes, and where it goes
// where that is not said again.
func flowOf(c Config, segs []event.Segment) string {
	var out []byte
	last := byte(0)
	d := NewDecoder(c, event.Segment{})
	var e event.Event
	for _, g := range segs {
		for d.Reset(g); d.Next(&e); {
			switch e.Kind {
			case event.Outcomes:
				for n := range e.N {
					out = append(out, "ne"[e.Value>>(63-n)&1])
				}
			case event.Async:
				out = appendEvent(out, &e)
			case event.Sync, event.Target, event.Enable:
				if e.HasIP() && (last != 'i' || !bytes.HasSuffix(out, fmt.Appendf(nil, " i%x\n", e.IP))) {
					out = fmt.Appendf(out, " i%x\n", e.IP)
				}
				last = 'i'
				continue
			case event.Context, event.End:
				continue
			default:
				out = appendEvent(out, &e)
			}
			last = 0
		}
	}
	return string(out)
}
