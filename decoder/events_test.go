package decoder

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
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
// recording and that the event stream does not carry, symbols of the
// breakpoint's handler included, and an event that is read other than it was
// written.
func TestRawPartsWithEvents(t *testing.T) {
	root := filepath.Join(dataDir(t), "kernel-pokes-x86")
	names := []string{"kprobes", "ftrace"}
	if !testing.Short() {
		names = append(names, "tracepoints")
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			rec := filepath.Join(dir, "perf.data")
			path := filepath.Join(t.TempDir(), "e.jsonl")
			first := writeEvents(t, Config{Recording: rec})
			if err := os.WriteFile(path, first, 0o600); err != nil {
				t.Fatal(err)
			}
			if again := writeEvents(t, Config{Events: path}); !bytes.Equal(first, again) {
				t.Errorf("%d bytes of events became %d when read and written again", len(first), len(again))
			}
			s, err := Open(Config{
				PT:    []RawPT{{0, filepath.Join(dir, "cpu0.pt")}, {1, filepath.Join(dir, "cpu1.pt")}},
				Kcore: filepath.Join(rec, "kcore_dir", "kcore"), Events: path,
			})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			sum := newSums()
			if err := s.Flow(context.Background(), Query{}, sum); err != nil {
				t.Fatal(err)
			}
			g := readGolden(t, dir)
			for i, st := range s.Streams() {
				w := g.CPUs[fmt.Sprint(st.CPU)]
				sum.check(t, i, w.Instructions, w.SHA)
			}
			compareFacts(t, s, rec)
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
	if s.Text().Len() != o.Text().Len() {
		t.Errorf("%d pokes, want %d", s.Text().Len(), o.Text().Len())
	}
	if x, y := fmt.Sprint(s.tasks), fmt.Sprint(o.tasks); x != y {
		t.Errorf("threads %.200s\nwant %.200s", x, y)
	}
	if x, y := fmt.Sprint(s.users.maps, s.users.parents), fmt.Sprint(o.users.maps, o.users.parents); x != y {
		t.Errorf("mappings %.200s\nwant %.200s", x, y)
	}
	for i, st := range s.Streams() {
		if x, y := fmt.Sprint(st.Losses), fmt.Sprint(o.Streams()[i].Losses); x != y {
			t.Errorf("%s: losses %s, want %s", st.Name, x, y)
		}
	}
}
