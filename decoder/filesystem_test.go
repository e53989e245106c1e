package decoder

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// ranDigest opens c and digests what ran and what was changed.
func ranDigest(t *testing.T, c Config) string {
	t.Helper()
	s, err := Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	h := sha256.New()
	n := 0
	for r, err := range s.Ranges(context.Background(), Query{}) {
		fmt.Fprintln(h, r.Addr, r.End, r.Time, r.Stream.Name, r.Symbol(), r.Verdict, err)
		n++
	}
	pokes := slices.Collect(s.Pokes())
	for _, p := range pokes {
		fmt.Fprintln(h, p.Addr, p.Time, p.Symbol, p.Kind)
	}
	return fmt.Sprintf("%d ranges, %d pokes, %x, %d warnings", n, len(pokes), h.Sum(nil), len(s.Warnings()))
}

// onlyForward is an fs.FS whose files are read from the front only, as those of
// archives are.
type onlyForward struct{ fs.FS }

func (f onlyForward) Open(name string) (fs.File, error) {
	file, err := f.FS.Open(name)
	if _, dir := file.(fs.ReadDirFile); err != nil || dir {
		return file, err
	}
	return struct{ fs.File }{file}, nil
}

// TestFS would catch a file that is looked for beside the fs.FS of a Config, and one
// read otherwise there: raw trace, images, symbols and events out of memory.
func TestFS(t *testing.T) {
	const dir = "../cmd/ptdecode/demo"
	held := fstest.MapFS{}
	for _, name := range []string{"cpu0.pt", "cpu1.pt", "kcore", "kallsyms", "events.jsonl"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		held["held/"+name] = &fstest.MapFile{Data: data}
	}
	config := func(fsys fs.FS, dir string) Config {
		return Config{
			FS: fsys, Kcore: dir + "/kcore", Kallsyms: dir + "/kallsyms", Events: dir + "/events.jsonl",
			Raw: []RawTrace{{Protocol: stream.IntelPT, CPU: 0, Path: dir + "/cpu0.pt"}, {Protocol: stream.IntelPT, CPU: 1, Path: dir + "/cpu1.pt"}},
		}
	}
	want := ranDigest(t, config(nil, dir))
	for name, c := range map[string]Config{
		"in memory": config(held, "held"), "with a slash": config(held, "/held"),
		"read forwards": config(onlyForward{held}, "held"), "a folder": config(os.DirFS(dir), "."),
	} {
		if got := ranDigest(t, c); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

// TestFSRecordings would catch the same of perf.data directories and snapshots.
func TestFSRecordings(t *testing.T) {
	root := testsize.Recordings(t)
	for _, name := range []string{
		"coresight/snapshots/Snowball", "coresight/snapshots/tc2-ptm-rstk-t32", "kernel-pokes-x86/journal/perf.data",
	} {
		want := ranDigest(t, Config{Recording: filepath.Join(root, name)})
		t.Log(name, want)
		for how, fsys := range map[string]fs.FS{"a folder": os.DirFS(root), "read forwards": onlyForward{os.DirFS(root)}} {
			if got := ranDigest(t, Config{FS: fsys, Recording: name}); got != want {
				t.Errorf("%s, %s: %s, want %s", name, how, got, want)
			}
		}
	}
}
