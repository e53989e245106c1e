package itm

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// snapshots returns the streams of the snapshots that hold an ITM's, by name;
// the test is skipped where there are none.
func snapshots(t testing.TB) (dir string, streams map[string][]byte) {
	t.Helper()
	dir = os.Getenv("PTDECODE_DATA")
	if dir == "" {
		t.Skip("PTDECODE_DATA is not set: no recordings")
	}
	dir = filepath.Join(dir, "coresight")
	raw, err1 := os.ReadFile(filepath.Join(dir, "snapshots/itm_only_raw/itm_testdata.bin"))
	framed, err2 := os.ReadFile(filepath.Join(dir, "snapshots/itm_only_csformat/itm_testdata_ID_0x14.bin"))
	if err1 != nil || err2 != nil {
		t.Fatal(err1, err2)
	}
	s := coresight.Deframe(coresight.FormatMemory, framed).Stream(0x14)
	if s == nil {
		t.Fatal("no trace ID 0x14 in the frames")
	}
	return dir, map[string][]byte{"itm_only_raw": raw, "itm_only_csformat": s.Data}
}

// golden returns the lines of a golden that are elements.
func golden(t testing.TB, dir, name string) (lines []string) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "golden", name+".txt.zst"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(z); err != nil {
		t.Fatal(err)
	}
	for _, l := range strings.Split(strings.TrimSpace(text.String()), "\n") {
		if !strings.HasPrefix(l, "#") {
			lines = append(lines, l)
		}
	}
	return lines
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
	dir, streams := snapshots(t)
	for name, buf := range streams {
		segs, first := Segments(buf, 0)
		if len(segs) != 1 {
			t.Fatalf("%s: %d segments, %d bytes before them, of %d", name, len(segs), first, len(buf))
		}
		var got []string
		for _, e := range decode(t, coresight.Config{}, segs[0]) {
			got = append(got, element(&e))
		}
		want := golden(t, dir, name)
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
	_, streams := snapshots(t)
	for name, buf := range streams {
		if out := reencode(t, buf); !bytes.Equal(out, buf) {
			t.Errorf("%s: %d bytes come back as %d others", name, len(buf), len(out))
		}
		l := NewLexer(buf, 0)
		l.SeekSync()
		for p := range l.All() {
			if p.Kind == Bad {
				t.Errorf("%s+0x%x: %v", name, p.Off, p)
			}
		}
	}
}
