package itm

import (
	"fmt"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// snapshots returns the streams of the snapshots that hold an ITM's, by name;
// the test is skipped where there are none.
func snapshots(t testing.TB) map[string][]byte {
	t.Helper()
	framed := tracetest.File(t, "snapshots/itm_only_csformat/itm_testdata_ID_0x14.bin")
	s := coresight.Deframe(coresight.FormatMemory, framed).Stream(0x14)
	if s == nil {
		t.Fatal("no trace ID 0x14 in the frames")
	}
	return map[string][]byte{
		"itm_only_raw":      tracetest.File(t, "snapshots/itm_only_raw/itm_testdata.bin"),
		"itm_only_csformat": s.Data,
	}
}

// element writes an event as the goldens do.
func element(e *event.Event) string {
	s := "ITMTRACE "
	if e.Value2&event.SWOverflow != 0 {
		s += "ITM_OVERFLOW; "
	}
	size := int(e.Value2 >> event.SWSizeShift & 0xff)
	switch {
	case e.Kind == event.Off:
		return "NO_SYNC [init-decoder])"
	case e.Kind == event.End:
		return "EO_TRACE [end-of-trace])"
	case e.Detail == event.DetailSoftware:
		return s + fmt.Sprintf("ITM_SWIT (ch: 0x%x; Data: 0x%0*x) )", e.Value2&0xffff, size/4, e.Value)
	case e.Detail == event.DetailHardware:
		return s + fmt.Sprintf("ITM_DWT (desc: 0x%x; Data: 0x%0*x) )", e.Value2&0xffff, size/4, e.Value)
	case e.Detail == event.DetailTimestamp:
		return s + fmt.Sprintf("ITM_TS_GLOBAL ( TS: 0x%016x) )", e.Value)
	case e.Detail == event.DetailLocalTimestamp:
		late := [4]string{"TS Sync", "TS Delay", "Packet Delay", "TS and Packet Delay"}
		return s + fmt.Sprintf("ITM_TS_LOCAL ( TS delta: 0x%08x, { %s}; TS cumulative: 0x%016x) )",
			e.Value2&event.LTTicks, late[e.Value2/event.LTDelayed&3], e.Value)
	}
	return fmt.Sprintf("%+v", *e)
}

// Catches an element that is lost, made up, or told with another port,
// discriminator, size, payload or time than the reference decoder's.
func TestGoldens(t *testing.T) {
	streams := snapshots(t)
	for name, buf := range streams {
		segs, first := decoding.Segments(buf, coresight.DecoderConfig{}, 0)
		if len(segs) != 1 {
			t.Fatalf("%s: %d segments, %d bytes before them, of %d", name, len(segs), first, len(buf))
		}
		var got []string
		for _, e := range decoding.Events(t, coresight.DecoderConfig{}, segs[0]) {
			got = append(got, element(&e))
		}
		want := tracetest.Golden(t, name)
		if len(got) != len(want) {
			t.Errorf("%s: %d elements, want %d", name, len(got), len(want))
		}
		for i := range min(len(got), len(want)) {
			if got[i] != want[i] {
				t.Fatalf("%s: element %d: %s, want %s", name, i, got[i], want[i])
			}
		}
	}
}

// Catches a bit that the lexer drops or the encoder misplaces in the
// recordings, and a lexer that leaves them: they have no bad packet behind the
// first sync point.
func TestRecordingsComeBack(t *testing.T) {
	streams := snapshots(t)
	for name, buf := range streams {
		lex := func(buf []byte, base int64) packettest.Lexer[Packet] { return NewLexer(buf, base) }
		packets.Recorded(t, buf, &codec, lex, func(p *Packet) {
			if p.Kind == Bad {
				t.Errorf("%s+0x%x: %v", name, p.Off, p)
			}
		})
	}
}
