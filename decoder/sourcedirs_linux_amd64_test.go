package decoder

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sourceTree is a program whose files lie in three directories. It is built in another one.
var sourceTree = map[string]string{
	"src/m.c": `
#include "x.h"
#include "deep/y.h"
__attribute__((noinline)) int leaf(int a) { return more(a) + 1; }
int main(int argc, char **argv) { return leaf(argc) + less(argc); }
`,
	"inc/x.h": `
static inline __attribute__((always_inline)) int more(int a)
{
	int r = a * 3;
	if (r & 8)
		r += a / 7;
	return r;
}
`,
	"src/deep/y.h": `
static inline __attribute__((always_inline)) int less(int a)
{
	return a ^ 0x55;
}
`,
	"obj/here.h": "",
}

// TestSourceDirectories would catch names of files that are not joined to the directories
// that they are relative to, in DWARF 4 and 5 of each compiler that is here.
func TestSourceDirectories(t *testing.T) {
	top := t.TempDir()
	for name, text := range sourceTree {
		file := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	built := 0
	for _, compiler := range []string{"gcc", "clang"} {
		if _, err := exec.LookPath(compiler); err != nil {
			continue
		}
		for _, dwarf := range []string{"-gdwarf-4", "-gdwarf-5"} {
			for way, args := range map[string][]string{
				"relative": {"-I../inc", "../src/m.c"},
				"absolute": {"-I" + filepath.Join(top, "inc"), filepath.Join(top, "src/m.c")},
			} {
				built++
				t.Run(compiler+dwarf+"-"+way, func(t *testing.T) { compareTree(t, top, compiler, append([]string{"-O2", dwarf}, args...)) })
			}
		}
	}
	if built == 0 {
		t.Skip("gcc and clang are not here: directories of sources are not compared")
	}
}

// compareTree builds the tree at top, in obj, and compares its lines with those of addr2line.
func compareTree(t *testing.T, top, compiler string, args []string) {
	bin := filepath.Join(t.TempDir(), "program")
	c := exec.Command(compiler, append(args, "-o", bin)...)
	c.Dir = filepath.Join(top, "obj")
	if msg, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, bytes.TrimSpace(msg))
	}
	addrs, why := codeOf(t, bin, 1000), explained{}
	if n := compareLines(t, bin, "c.c", addrs, &why); n > 0 {
		t.Errorf("%d of %d addresses have other names or lines than addr2line says", n, len(addrs))
	}
	s, seen := opened(t, Config{Code: []CodeFile{{Path: bin}}}), map[string]bool{}
	for _, a := range addrs {
		for _, f := range s.Lines(0, a, 0) {
			if seen[f.File] {
				continue
			}
			seen[f.File] = true
			if _, err := os.Stat(f.File); err != nil && strings.HasPrefix(f.File, top) || !filepath.IsAbs(f.File) {
				t.Errorf("%x: %q is no file of the tree", a, f.File)
			}
		}
	}
	for _, name := range []string{"src/m.c", "inc/x.h", "src/deep/y.h"} {
		if !seen[filepath.Join(top, name)] {
			t.Errorf("no line of %s", name)
		}
	}
}
