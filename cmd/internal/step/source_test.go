package step

import (
	"bytes"
	"debug/elf"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/pt"
)

// TestSource would catch a stop without the line of the source that its code was made of,
// or with another's. A C compiler makes the program, and the trace goes through it once.
func TestSource(t *testing.T) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("the program is for Linux on x86-64")
	}
	cc, err := exec.LookPath("gcc")
	if err != nil {
		t.Skip("there is no gcc")
	}
	dir := t.TempDir()
	file := func(name string, b []byte) string {
		name = filepath.Join(dir, name)
		if err := os.WriteFile(name, b, 0o644); err != nil {
			t.Fatal(err)
		}
		return name
	}
	src := file("work.c", []byte("int work(int x)\n{\n\tx += 3;\n\treturn x * 2;\n}\n"))
	prog := filepath.Join(dir, "prog")
	if out, err := exec.Command(cc, "-g", "-O0", "-fcf-protection=none", "-nostdlib", "-static", "-no-pie", "-Wl,-e,work", "-o", prog, src).CombinedOutput(); err != nil {
		t.Skipf("gcc: %v\n%s", err, out)
	}
	e, err := elf.Open(prog)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	entry := e.Entry
	var trace []byte
	for _, p := range []pt.Packet{
		{Kind: pt.PSB}, {Kind: pt.ModeExec, Value: 1}, {Kind: pt.PSBEND},
		{Kind: pt.PGE, Arg: 6, Value: entry}, {Kind: pt.PGD},
	} {
		trace = p.Append(trace)
	}
	s, err := decoder.Open(decoder.Config{
		Raw:  []decoder.RawTrace{{Protocol: decoder.IntelPT, Path: file("trace", trace)}},
		Code: []decoder.CodeFile{{Path: prog}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	w, err := newWindow(t.Context(), s, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	var screen bytes.Buffer
	for c := (cursor{window: w, ctx: t.Context()}); ; {
		p, err := c.stop()
		if err != nil || p == nil {
			t.Fatal("nothing was executed", err)
		}
		lines[p.SrcLine] = p.Source
		screen.Reset()
		if err := p.print(&screen); err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(screen.String()) {
			if n := len([]rune(strings.TrimSuffix(l, "\n"))); n > terminal.Columns {
				t.Errorf("%d columns: %s", n, l)
			}
		}
		if ok, err := c.next(); err != nil || !ok {
			break
		}
	}
	for line, says := range map[string]string{":2": "{", ":3": "x += 3;", ":4": "return x * 2;", ":5": "}"} {
		if got, ok := lines[src+line]; !ok || got != says {
			t.Errorf("line %s: %q, want %q; of %q", line, got, says, lines)
		}
	}
	if !strings.Contains(screen.String(), "  work.c:4\n") {
		t.Errorf("no line stands beside the code:\n%s", &screen)
	}
}
