package decoder

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/pt"
)

// dataDir returns the folder of real recordings, or skips.
func dataDir(t testing.TB) string {
	t.Helper()
	return testsize.Recordings(t)
}

// sums is a Sink that hashes the retired addresses of each stream.
type sums struct {
	n map[int]uint64
	h map[int]interface {
		Write([]byte) (int, error)
		Sum([]byte) []byte
	}
	gaps     []string
	verdicts [flow.Ambiguous + 1]uint64
	buf      []byte
	ips      []uint64
}

func newSums() *sums {
	return &sums{n: map[int]uint64{}, h: map[int]interface {
		Write([]byte) (int, error)
		Sum([]byte) []byte
	}{}}
}

func (s *sums) Flow(b *flow.Batch) error {
	h := s.h[b.Stream]
	if h == nil {
		h = sha256.New()
		s.h[b.Stream] = h
	}
	s.buf = s.buf[:0]
	for i := range b.Ranges {
		r := &b.Ranges[i]
		s.ips = appendOn(s.ips[:0], r)
		for _, ip := range s.ips {
			s.buf = binary.LittleEndian.AppendUint64(s.buf, ip)
		}
		s.n[b.Stream] += uint64(r.N)
		s.verdicts[r.Verdict] += uint64(r.N)
	}
	h.Write(s.buf)
	for i := range b.Notes {
		if n := &b.Notes[i]; n.Kind == flow.NoteGap {
			s.gaps = append(s.gaps, n.Gap.Error())
		}
	}
	return nil
}

// golden is what the reference decoder made of a recording.
type golden struct {
	Instructions uint64 `json:"instructions"`
	SHA          string `json:"ips_sha256"`
	CPUs         map[string]struct {
		Instructions uint64 `json:"instructions"`
		SHA          string `json:"ips_sha256"`
	} `json:"cpus"`
}

func readGolden(t testing.TB, dir string) (g golden) {
	b, err := os.ReadFile(filepath.Join(dir, "golden.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

func (s *sums) check(t *testing.T, stream int, n uint64, sha string) {
	t.Helper()
	got := ""
	if h := s.h[stream]; h != nil {
		got = fmt.Sprintf("%x", h.Sum(nil))
	}
	if s.n[stream] != n || got != sha {
		t.Errorf("stream %d: %d instructions %s, want %d %s", stream, s.n[stream], got, n, sha)
	}
}

func (s *sums) report(t *testing.T) {
	t.Logf("verdicts %v gaps %d", s.verdicts, len(s.gaps))
	for i, g := range s.gaps {
		if i < 10 {
			t.Log(g)
		}
	}
}

// TestUserTraces would catch any instruction lost, added or out of order in
// plain traces, 64-bit and 32-bit.
func TestUserTraces(t *testing.T) {
	root := filepath.Join(dataDir(t), "pt-user")
	for _, name := range []string{"unzip", "foo", "mruby", "qemu", "avscript_32", "icelake_tip"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			s := opened(t, Config{Raw: []RawTrace{{Protocol: stream.IntelPT, CPU: 0, Path: filepath.Join(dir, "cpu0.pt")}}, Kcore: filepath.Join(dir, "text.core"), Model: pt.Model{Family: 6, Model: 94}})
			sum := flowed(t, s, newSums())
			g := readGolden(t, dir)
			sum.report(t)
			sum.check(t, 0, g.Instructions, g.SHA)
		})
	}
}

// TestKernelTraces would catch any instruction decoded with the wrong text
// while the kernel rewrites itself.
func TestKernelTraces(t *testing.T) {
	root := filepath.Join(dataDir(t), "kernel-pokes-x86")
	for _, name := range []string{"kprobes", "ftrace", "tracepoints", "tracepoints-coarse"} {
		for _, late := range []bool{false, true} {
			if late && name != "kprobes" && !testsize.Full(t) {
				continue
			}
			t.Run(fmt.Sprintf("%s/late=%v", name, late), func(t *testing.T) {
				dir := filepath.Join(root, name)
				c := Config{Recording: filepath.Join(dir, "perf.data")}
				if late {
					c.Kcore = filepath.Join(dir, "kcore.after")
				}
				s := opened(t, c)
				sum := flowed(t, s, newSums())
				g := readGolden(t, dir)
				sum.report(t)
				for i, st := range s.Streams() {
					w := g.CPUs[fmt.Sprint(st.CPU)]
					sum.check(t, i, w.Instructions, w.SHA)
				}
			})
		}
	}
}
