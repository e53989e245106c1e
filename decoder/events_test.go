package decoder

import (
	"bytes"
	"fmt"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/process"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// writeEvents returns the event stream of what c names.
func writeEvents(t *testing.T, c Config) []byte {
	t.Helper()
	var b bytes.Buffer
	if _, err := WriteEvents(c, &b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestRawPartsWithEvents would catch anything that decoding needs of a
// recording and that the event stream does not carry, such as the symbols of
// the breakpoint's handler. It would also catch an event that is read other
// than it was written.
func TestRawPartsWithEvents(t *testing.T) {
	root := filepath.Join(dataDir(t), "kernel-pokes-x86")
	names := []string{"kprobes", "ftrace"}
	if testsize.Full(t) {
		names = append(names, "tracepoints")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			rec := filepath.Join(dir, "perf.data")
			first := writeEvents(t, Config{Recording: rec})
			path := folder(t)("e.jsonl", string(first))
			if again := writeEvents(t, Config{Events: path}); !bytes.Equal(first, again) {
				t.Errorf("%d bytes of events became %d when read and written again", len(first), len(again))
			}
			s := opened(t, Config{
				Raw:   []RawTrace{{Protocol: stream.IntelPT, CPU: 0, Path: filepath.Join(dir, "cpu0.pt")}, {Protocol: stream.IntelPT, CPU: 1, Path: filepath.Join(dir, "cpu1.pt")}},
				Kcore: filepath.Join(rec, "kcore_dir", "kcore"), Events: path,
			})
			sum := flowed(t, s, newSums())
			g := readGolden(t, dir)
			for i, st := range s.Streams() {
				w := g.CPUs[fmt.Sprint(st.CPU)]
				sum.check(t, i, w.Instructions, w.SHA)
			}
			compareFacts(t, s, rec)
			c := s.Meta().PT
			if m := c.Model; !c.TSC || !c.MTC || c.MTCFreq != 3 || c.CTCNum != 80 || c.CTCDen != 2 || c.NoRETComp != (name == "kprobes") || m.Family != 6 || m.Model != 94 {
				t.Errorf("configuration %+v", c)
			}
		})
	}
}

// compareFacts fails where a session of raw parts knows other facts than one
// of the recording.
func compareFacts(t *testing.T, s *Session, rec string) {
	o, err := Open(Config{Recording: rec})
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	a, b := *s.Meta(), *o.Meta()
	a.Kind, a.Records, b.Kind, b.Records = "", nil, "", nil
	if fmt.Sprintf("%+v", a) != fmt.Sprintf("%+v", b) {
		t.Errorf("meta %+v\nwant %+v", a, b)
	}
	if x, y := fmt.Sprint(s.walk.Breaks), fmt.Sprint(o.walk.Breaks); x != y || len(s.walk.Breaks) == 0 {
		t.Errorf("the breakpoint's handler begins at %s, want %s", x, y)
	}
	if s.Text().Len() != o.Text().Len() {
		t.Errorf("%d pokes, want %d", s.Text().Len(), o.Text().Len())
	}
	if x, y := fmt.Sprint(s.rec.Processes.Tasks), fmt.Sprint(o.rec.Processes.Tasks); x != y {
		t.Errorf("threads %.200s\nwant %.200s", x, y)
	}
	if x, y := recorded(s.rec.Processes.Spaces), recorded(o.rec.Processes.Spaces); x != y {
		t.Errorf("mappings %.200s\nwant %.200s", x, y)
	}
	for i, st := range s.Streams() {
		if x, y := fmt.Sprint(st.Losses), fmt.Sprint(o.Streams()[i].Losses); x != y {
			t.Errorf("%s: losses %s, want %s", st.Name, x, y)
		}
	}
}

// recorded renders what was recorded of address spaces, without what look-ups keep.
func recorded(u *process.Spaces) string {
	v := reflect.ValueOf(u).Elem()
	return fmt.Sprint(v.FieldByName("maps"), v.FieldByName("births"), v.FieldByName("ids"))
}

// TestTextEvents would catch text of BPF programs that an event states and that
// is not decoded with.
func TestTextEvents(t *testing.T) {
	s := opened(t, Config{Events: folder(t)("e.jsonl", `{"type":"text","addr":"ffffffffc0001000","bytes":"90c3","name":"prog","bpf_id":4}`+"\n")})
	var b [4]byte
	if n := s.Code(b[:], 0, 0xffffffffc0001000, 0); n != 2 || b[0] != 0x90 || b[1] != 0xc3 {
		t.Errorf("%d bytes, % x", n, b)
	}
}
