package decoder

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// locked is an fs.FS in which some files may not be read.
type locked struct {
	fs.FS
	names []string
}

func (l locked) Open(name string) (fs.File, error) {
	for _, n := range l.names {
		if strings.HasSuffix(name, n) {
			return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
		}
	}
	return l.FS.Open(name)
}

// TestLocked would catch files of the kernel that may not be read, and stop everything
// else; or that are left out without a word. A file that is not there is a mistake of
// the call.
func TestLocked(t *testing.T) {
	const dir = "../cmd/ptdecode/demo"
	for _, name := range []string{"kcore", "kallsyms"} {
		c := Config{
			FS: locked{os.DirFS(filepath.FromSlash(dir)), []string{name}}, Kcore: "kcore", Kallsyms: "kallsyms", Events: "events.jsonl",
			Raw: []RawTrace{{Protocol: stream.IntelPT, CPU: 0, Path: "cpu0.pt"}, {Protocol: stream.IntelPT, CPU: 1, Path: "cpu1.pt"}},
		}
		s := opened(t, c)
		told := false
		for _, w := range s.Warnings() {
			told = told || strings.HasPrefix(w.What, name+"+0x0: cannot be read, and is left out") && strings.Contains(w.What, "permission") && w.Hint != ""
		}
		if !told || len(s.Streams()) != 2 || s.Text().Len() == 0 || (s.Symbols() == nil) != (name == "kallsyms") {
			t.Errorf("%s: told %t, %d streams, %d pokes, warnings %+v", name, told, len(s.Streams()), s.Text().Len(), s.Warnings())
		}
	}
	if s, err := Open(Config{FS: os.DirFS(dir), Kcore: "kcor", Raw: []RawTrace{{Protocol: stream.IntelPT, Path: "cpu0.pt"}}}); err == nil {
		s.Close()
		t.Error("a kcore that is not there is no error")
	}
}
