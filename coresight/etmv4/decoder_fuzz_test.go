package etmv4

import (
	"bytes"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// FuzzDecoder: whatever the bytes, the decoder ends, its events lie in order
// inside of the segment, each says what its kind needs, and Fill gives what Next
// does. The seeds are those named in testdata/fuzz/FuzzDecoder, and the cases
// of the lexer behind a sync point.
func FuzzDecoder(f *testing.F) {
	for _, c := range packets.Cases(f) {
		for i, name := range units {
			if name == c.Unit {
				f.Add(uint8(i), append([]byte(async+"\x01\x00\x04\x85\x00\x10\x00\x00\x00\x00\x00\x00\x31"), c.Bytes...))
			}
		}
	}
	f.Fuzz(func(t *testing.T, unit uint8, buf []byte) {
		c := Config{Trace: testConfigs[units[int(unit)%len(units)]], Ahead: true}
		segs, _ := Segments(buf, 0, c)
		for _, s := range segs {
			checkDecoder(t, c, s)
		}
	})
}

// checkDecoder decodes a segment by Next and by Fill and checks what every
// event must hold to.
func checkDecoder(t *testing.T, c Config, s event.Segment) {
	t.Helper()
	var e event.Event
	var evs []event.Event
	d := NewDecoder(c, s)
	// No byte is more than an atom packet of 24, and no packet more than a few
	// events.
	for most := 8*(s.End-s.Off) + 64; d.Next(&e); most-- {
		if most == 0 {
			t.Fatalf("%x: events without end", s.Buf)
		}
		evs = append(evs, e)
	}
	for i, e := range evs {
		if e.Off < s.Off || e.End < e.Off || e.End > s.Off+int64(len(s.Buf)) || e.Time.Lo > e.Time.Hi {
			t.Fatalf("%x: event %d: %+v", s.Buf, i, e)
		}
		switch e.Kind {
		case event.KindNone:
			t.Fatalf("%x: event %d is none", s.Buf, i)
		case event.Outcomes:
			if e.N == 0 || e.N > 64 || e.N < 64 && e.Value<<e.N != 0 {
				t.Fatalf("%x: event %d: %+v", s.Buf, i, e)
			}
		case event.Target, event.Enable, event.Reach:
			if !e.HasIP() {
				t.Fatalf("%x: event %d: %+v", s.Buf, i, e)
			}
		}
	}
	if len(evs) == 0 || evs[0].Kind != event.Sync {
		t.Fatalf("%x: first event: %+v", s.Buf, evs)
	}
	d.Reset(s)
	var q [7]event.Event
	var all []event.Event
	for {
		n := d.Fill(q[:])
		all = append(all, q[:n]...)
		if n < len(q) {
			break
		}
	}
	if a, b := flat(evs), flat(all); !bytes.Equal(a, b) {
		t.Fatalf("%x: Next gives\n%sFill gives\n%s", s.Buf, a, b)
	}
}

// flat renders events with the outcomes of neighbours put together, since
// where a run of them is cut means nothing.
func flat(evs []event.Event) []byte {
	var out []byte
	for i := 0; i < len(evs); i++ {
		e := evs[i]
		if e.Kind != event.Outcomes {
			out = appendEvent(out, &e)
			continue
		}
		out = append(out, "outcomes "...)
		for {
			for n := range e.N {
				out = append(out, "ne"[e.Value>>(63-n)&1])
			}
			if i+1 == len(evs) || evs[i+1].Kind != event.Outcomes {
				break
			}
			i++
			e = evs[i]
		}
		out = append(out, '\n')
	}
	return out
}

// testUnit is a trace unit by its name in testConfigs.
func testUnit(name string) coresight.Config { return testConfigs[name] }
