// Package tracetest holds what the tests of the CoreSight protocols share: the
// streams of recorded snapshots, and what lexers, encoders and decoders must do.
// Only tests import it.
package tracetest

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/snapshot"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// Stream is what one trace source sent in a recorded snapshot.
type Stream struct {
	Name   string // snapshot/buffer/source
	Config coresight.Config
	Buf    []byte // out of its frames
}

// Dir returns the folder of the CoreSight recordings, or skips the test.
func Dir(tb testing.TB) string {
	tb.Helper()
	dir := testsize.Recordings(tb)
	return filepath.Join(dir, "coresight")
}

// File returns the bytes of a file below Dir.
func File(tb testing.TB, name ...string) []byte {
	tb.Helper()
	buf, err := os.ReadFile(filepath.Join(append([]string{Dir(tb)}, name...)...))
	if err != nil {
		tb.Fatal(err)
	}
	return buf
}

// Golden returns what OpenCSD made of a snapshot: the lines that are elements.
func Golden(tb testing.TB, name string) (lines []string) {
	tb.Helper()
	for _, text := range testsize.Files(tb, filepath.Join(Dir(tb), "golden", name+".txt.zst")) {
		for l := range strings.Lines(string(text)) {
			if !strings.HasPrefix(l, "#") {
				lines = append(lines, strings.TrimSuffix(l, "\n"))
			}
		}
	}
	return lines
}

// Recorded returns the streams of the protocols in all recorded snapshots, by
// name in order, or skips the test. Sources that sent nothing are left out.
func Recorded(tb testing.TB, protocols ...coresight.Protocol) (streams []Stream) {
	tb.Helper()
	dir := filepath.Join(Dir(tb), "snapshots")
	inis, err := filepath.Glob(filepath.Join(dir, "*/snapshot.ini"))
	if err != nil || len(inis) == 0 {
		tb.Fatalf("no snapshot in %s (%v)", dir, err)
	}
	for _, ini := range inis {
		streams = append(streams, Snapshot(tb, filepath.Base(filepath.Dir(ini)), protocols...)...)
	}
	if len(streams) == 0 {
		tb.Fatalf("no stream of %v in %s", protocols, dir)
	}
	return streams
}

// Snapshot returns the streams of the protocols in one recorded snapshot.
func Snapshot(tb testing.TB, name string, protocols ...coresight.Protocol) (streams []Stream) {
	tb.Helper()
	snap, err := snapshot.Open(nil, filepath.Join(Dir(tb), "snapshots", name))
	if err != nil {
		tb.Fatal(err)
	}
	for i := range snap.Buffers {
		b := &snap.Buffers[i]
		data, err := snap.ReadBuffer(b)
		if err != nil {
			tb.Fatal(err)
		}
		var frames *coresight.Deframer
		if b.Framed {
			frames = coresight.Deframe(b.Frames, data)
		}
		for _, k := range b.Sources {
			x := &snap.Sources[k]
			if !x.Usable || !slices.Contains(protocols, x.Config.Protocol) {
				continue
			}
			s := Stream{name + "/" + b.Name + "/" + x.Name, x.Config, data}
			if b.Framed {
				s.Buf = nil
				if st := frames.Stream(x.Config.ID); st != nil {
					s.Buf = st.Data
				}
			}
			if len(s.Buf) > 0 {
				streams = append(streams, s)
			}
		}
	}
	slices.SortFunc(streams, func(a, b Stream) int { return strings.Compare(a.Name, b.Name) })
	return streams
}

// Known calls check for each stream. It fails the test where what check returns is
// not what is known of the stream by its name. It also fails where nothing is known
// of one, or one that is known is missing.
func Known[T comparable](tb testing.TB, streams []Stream, want map[string]T, check func(s Stream) T) {
	tb.Helper()
	seen := map[string]bool{}
	for _, s := range streams {
		seen[s.Name] = true
		w, ok := want[s.Name]
		if !ok {
			tb.Errorf("%s: a stream that nothing is known of", s.Name)
			continue
		}
		if got := check(s); got != w {
			tb.Errorf("%s: %v, want %v", s.Name, got, w)
		}
	}
	for name := range want {
		if !seen[name] {
			tb.Errorf("%s: no such stream", name)
		}
	}
}
