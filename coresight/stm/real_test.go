package stm

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// snapshots are those that hold an STM's stream: the buffer, and its trace ID.
var snapshots = []struct {
	name, file string
	id         byte
}{
	{"stm_only", "cstraceitm.bin", 0x20},
	{"stm_only-2", "cstraceitm.bin", 0x20},
	{"stm_only-juno", "cstraceitm.bin", 0x20},
	{"stm-issue-27", "stuck_trace.bin", 0x10},
}

// deframe returns the bytes of one source out of aligned 16-byte frames, a
// byte at a time: IHI0029, "Formatter".
func deframe(buf []byte, id byte) (out []byte) {
	cur, next := byte(0), byte(0)
	for ; len(buf) >= 16; buf = buf[16:] {
		for i, b := range buf[:15] {
			low := buf[15] >> (i / 2) & 1
			switch {
			case i%2 == 0 && b&1 != 0:
				next = b >> 1
				if low == 0 || i == 14 {
					cur = next
				}
				continue
			case i%2 == 0:
				b |= low
			}
			if cur == id {
				out = append(out, b)
			}
			if i%2 != 0 {
				cur = next
			}
		}
	}
	return out
}

// element writes a message as the goldens do; "" for what they have no element
// of. Before the first M8 they have no master, whatever a VERSION said.
func element(e, stamp *event.Event, named bool) string {
	switch {
	case e.Kind == event.Off:
		return "NO_SYNC [init-decoder])"
	case e.Detail != event.DetailSoftware:
		return ""
	}
	v2 := e.Value2
	s := "SWTRACE (Ma:0x??; Ch:0x??)"
	if named {
		s = fmt.Sprintf("SWTRACE (Ma:0x%02x; Ch:0x%02x)", v2>>event.SWMasterShift&0xffff, v2>>event.SWChannelShift&0xffff)
	}
	if size := v2 >> event.SWSizeShift & 0xff; size > 0 {
		s += fmt.Sprintf(" 0x%0*x;", size/4, e.Value)
	}
	s += " "
	if v2&(event.SWMarker|event.SWFlag) != 0 {
		s += "+Mrk "
	}
	if v2&event.SWTimestamped != 0 {
		s += fmt.Sprintf(" [ TS=0x%012x]; ", stamp.Value)
	}
	if v2&event.SWFrequency != 0 {
		s += "Freq"
	}
	return s + ")"
}

// Catches a message that is lost, made up, or told with another master,
// channel, size, mark or timestamp than the reference decoder's.
func TestGoldens(t *testing.T) {
	for _, c := range snapshots {
		t.Run(c.name, func(t *testing.T) {
			buf := deframe(tracetest.File(t, "snapshots", c.name, c.file), c.id)
			var want []string
			for _, l := range tracetest.Golden(t, c.name) {
				if !strings.HasPrefix(l, "EO_TRACE") {
					want = append(want, l)
				}
			}
			segs, first := decoding.Segments(buf, coresight.DecoderConfig{}, 0)
			if len(segs) != 1 {
				t.Fatalf("%d segments, %d bytes before them, of %d", len(segs), first, len(buf))
			}
			events := decoding.Events(t, coresight.DecoderConfig{}, segs[0])
			var got []string
			l := NewLexer(buf, 0)
			l.SeekSync()
			var m8 Packet // the first
			for m8.Kind != M8 && l.Next(&m8) {
			}
			for i, e := range events {
				named := m8.End() <= e.Off+1 // it ends in or before the byte in which the event starts
				if s := element(&e, &events[min(i+1, len(events)-1)], named); s != "" {
					got = append(got, s)
				}
			}
			if len(got) != len(want) {
				t.Errorf("%d elements, want %d", len(got), len(want))
			}
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("element %d: %s, want %s", i, got[i], want[i])
				}
			}
		})
	}
}

// Catches a half byte that the lexer drops or the encoder misplaces in streams as
// hardware makes them. Catches a lexer that leaves them: they have no bad packet
// but before the first sync point and where a recording is cut.
func TestRecordingsComeBack(t *testing.T) {
	for _, c := range snapshots {
		buf := deframe(tracetest.File(t, "snapshots", c.name, c.file), c.id)
		if out := reencode(t, buf); !bytes.Equal(out, buf) {
			t.Errorf("%s: %d bytes come back as %d others", c.name, len(buf), len(out))
		}
		l := NewLexer(buf, 0)
		l.SeekSync()
		for p := range l.All() {
			if p.Kind == Bad && p.End() != int64(len(buf)) {
				t.Errorf("%s+0x%x: %v", c.name, p.Off, p)
			}
		}
		text := []byte{}
		for p := range NewLexer(buf, 0).All() {
			text = append(p.AppendText(text, buf[p.Off:p.End()]), '\n')
		}
		if out, err := assemble(nil, string(text)); err != nil || !bytes.Equal(out, buf) {
			t.Errorf("%s: the text gives other bytes: %v", c.name, err)
		}
	}
}
