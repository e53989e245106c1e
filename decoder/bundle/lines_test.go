package bundle

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/pt"
)

// builtPrograms are programs in several languages, how each is built, and with what the names
// of its functions begin. Their tables of names and lines lie in many pages, but for C's.
var builtPrograms = []struct {
	name, source, functions string
	build                   []string
}{
	{"c.c", `
static inline __attribute__((always_inline)) int twice(int x) { return x * 2; }
__attribute__((noinline)) int leaf(int x) { return twice(x) ^ 5; }
int main(int argc, char **argv) { return leaf(argc); }
`, "", []string{"gcc", "-g", "-O2"}},
	{"cxx.cc", `
#include <map>
#include <string>
#include <vector>
#include <algorithm>
struct Base { virtual ~Base() {} virtual int price(int n) = 0; };
struct Book : Base { int price(int n) override; };
__attribute__((noinline)) int Book::price(int n) { std::vector<int> s; for (int i = 0; i < n; i++) s.push_back(i * n); std::sort(s.begin(), s.end()); return s[n / 2]; }
int main(int argc, char **argv)
{
	Book b;
	Base *p = &b;
	std::map<std::string, int> m;
	for (int i = 0; i < 8; i++)
		m["key" + std::to_string(i)] = p->price(i + argc);
	return m.size() == 9 ? 0 : 1;
}
`, "", []string{"g++", "-g", "-O2"}},
	{"go.go", `package main

import (
	"fmt"
	"sort"
)

func main() {
	s := []int{3, 1, 2}
	sort.Ints(s)
	fmt.Println(s)
}
`, "main.", []string{"go", "build"}},
	{"rust.rs", `
fn main() {
    let mut v: Vec<u64> = (0..20).map(|x| x * 7 % 5).collect();
    v.sort();
    println!("{:?}", v);
}
`, "_ZN4rust", []string{"rustc", "-g", "-O"}},
}

// began is the call for a recording in which each function of a program that was built began.
func began(t *testing.T, name, source, functions string, build []string) decoder.Config {
	t.Helper()
	if _, err := exec.LookPath(build[0]); err != nil {
		t.Skipf("%s is not here: the lines of its programs are not tested", build[0])
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, name), filepath.Join(dir, "program")
	must := func(err error) {
		if err != nil {
			t.Helper()
			t.Fatal(err)
		}
	}
	must(os.WriteFile(in, []byte(source), 0o600))
	c := exec.Command(build[0], append(build[1:len(build):len(build)], "-o", out, in)...)
	c.Dir, c.Env = dir, append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if msg, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build[0], err, bytes.TrimSpace(msg))
	}
	f, err := elf.Open(out)
	must(err)
	defer f.Close()
	moved := uint64(0)
	if f.Type == elf.ET_DYN {
		moved = 0x10000000
	}
	events := `{"type":"stream","version":1}
{"type":"comm","time":1,"pid":10,"tid":10,"comm":"program","exec":true}
`
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 {
			events += fmt.Sprintf(`{"type":"mmap","time":2,"pid":10,"tid":10,"addr":"%x","len":%d,"pgoff":"%x","prot":5,"file":"%s"}`+"\n", moved+p.Vaddr&^(page-1), p.Filesz+p.Vaddr%page, p.Off&^(page-1), out)
		}
	}
	events += `{"type":"itrace_start","time":3,"cpu":0,"pid":10,"tid":10}` + "\n"
	syms, err := f.Symbols()
	must(err)
	text := ""
	for _, y := range syms {
		if elf.ST_TYPE(y.Info) == elf.STT_FUNC && y.Size > 0 && strings.HasPrefix(y.Name, functions) {
			text += fmt.Sprintf("psb\ntsc 0xc8\nmode.exec l\npsbend\ntip.pge 6: 0x%x\n", moved+y.Value)
			if name == "go.go" {
				text += "tnt n\n" // there is room on the stack
			}
			text += "tip.pgd\n"
		}
	}
	trace, err := pt.Assemble(nil, text)
	must(err)
	rec := t.TempDir()
	must(os.WriteFile(filepath.Join(rec, "cpu0.pt"), trace, 0o600))
	must(os.WriteFile(filepath.Join(rec, "events.jsonl"), []byte(events), 0o600))
	return decoder.Config{
		Raw:    []decoder.RawTrace{{Protocol: decoder.IntelPT, Path: filepath.Join(rec, "cpu0.pt")}},
		Events: filepath.Join(rec, "events.jsonl"), NoLearn: true,
	}
}

// TestLines would catch a bundle that has lost names, source lines, inlined functions or code
// of functions that ran. It would also catch debug information where the call leaves it out,
// and what --anonymise leaves of it.
func TestLines(t *testing.T) {
	for _, p := range builtPrograms[:testsize.Of(t, 1, len(builtPrograms))] {
		t.Run(p.name, func(t *testing.T) {
			c := began(t, p.name, p.source, p.functions, p.build)
			line := "/" + p.name + " "
			want := linesSaid(t, c)
			if n := strings.Count(want, line); n < 5 {
				t.Fatalf("%d lines of %s are known in the recording:\n%.3000s", n, p.name, want)
			}
			if got := linesSaid(t, in(made(t, c, Options{}))); got != want {
				t.Fatalf("the bundle says %s", difference(got, want))
			}
			whole := unpacked(t, made(t, c, Options{Anonymise: true}))
			b, err := elfDir(c)
			if err != nil || bytes.Contains(whole, []byte(b)) {
				t.Errorf("--anonymise leaves %s: %v", b, err)
			}
			debug := debugOf(t, c)
			if whole := unpacked(t, made(t, c, Options{})); !anyIn(whole, debug) {
				t.Fatal("nothing to look for: the bundle has no debug information that is nowhere else")
			}
			for _, most := range []int64{-1, 1} {
				data := made(t, c, Options{DebugInfo: most})
				if got := linesSaid(t, in(data)); strings.Contains(got, line) {
					t.Errorf("source lines are known where debug information may have %d bytes", most)
				}
				if anyIn(unpacked(t, data), debug) {
					t.Errorf("debug information is left where it may have %d bytes", most)
				}
				if again := made(t, in(data), Options{DebugInfo: most}); anyIn(unpacked(t, again), debug) {
					t.Errorf("the bundle of the bundle has debug information")
				}
			}
		})
	}
}

// pieceSize is the size of what is looked for of debug information, bytes.
const pieceSize = 16

// debugOf returns pieces of the debug information of the program of c that stand nowhere else
// in it, and not in its path.
func debugOf(t *testing.T, c decoder.Config) map[string]bool {
	t.Helper()
	dir, err := elfDir(c)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "program"))
	if err != nil {
		t.Fatal(err)
	}
	f, err := elf.NewFile(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	pieces, rest := map[string]bool{}, bytes.Clone(data)
	for _, s := range f.Sections {
		if !strings.HasPrefix(s.Name, ".debug_") {
			continue
		}
		part := data[s.Offset : s.Offset+s.FileSize]
		for ; len(part) >= pieceSize; part = part[pieceSize:] {
			pieces[string(part[:pieceSize])] = true
		}
		clear(rest[s.Offset : s.Offset+s.FileSize])
	}
	rest = append(rest, dir+"/program"...) // the bundle names the file
	for i := range len(rest) - pieceSize + 1 {
		delete(pieces, string(rest[i:i+pieceSize]))
	}
	return pieces
}

// anyIn reports whether data has one of the pieces.
func anyIn(data []byte, pieces map[string]bool) bool {
	for i := range len(data) - pieceSize + 1 {
		if pieces[string(data[i:i+pieceSize])] {
			return true
		}
	}
	return false
}

// TestLacks would catch a bundle that does not say that it has no source lines.
func TestLacks(t *testing.T) {
	p := &builtPrograms[0]
	c := began(t, p.name, p.source, p.functions, p.build)
	for want, o := range map[string]Options{"": {}, "over the 1 of --debug-info": {DebugInfo: 1}, "--debug-info 0": {DebugInfo: -1}, "--anonymise": {Anonymise: true}} {
		b, err := Make(t.Context(), c, o)
		if err != nil {
			t.Fatal(err)
		}
		defer b.Close()
		if got := strings.Join(b.Lacks, "\n"); !strings.Contains(got, want) || (want == "") != (got == "") {
			t.Errorf("%+v: the bundle lacks %q, want %s", o, got, want)
		}
	}
}

// elfDir returns the folder of the program of c.
func elfDir(c decoder.Config) (string, error) {
	b, err := os.ReadFile(c.Events)
	_, rest, _ := strings.Cut(string(b), `"file":"`)
	file, _, _ := strings.Cut(rest, `"`)
	return filepath.Dir(file), err
}

// linesSaid is the name and the source lines, with what was inlined, of all that was
// executed, and the code of its functions.
func linesSaid(t *testing.T, c decoder.Config) string {
	t.Helper()
	s, err := decoder.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var b strings.Builder
	seen := map[uint64]bool{}
	for r := range s.Ranges(t.Context(), decoder.Query{}) {
		if r.Instructions == 0 || seen[r.Addr] {
			continue
		}
		seen[r.Addr] = true
		for at := r.Addr; at < r.End; at++ {
			sym, off, file, _ := s.Symbol(r.Space, at, 0)
			fmt.Fprintln(&b, sym, off, file, s.Lines(r.Space, at, 0))
		}
		sym, off, _, _ := s.Symbol(r.Space, r.Addr, 0)
		for at := r.Addr - off; sym != ""; at++ {
			if in, o, _, _ := s.Symbol(r.Space, at, 0); in != sym || at-o != r.Addr-off {
				break
			}
			var code [1]byte
			fmt.Fprintf(&b, "%x", code[:s.Code(code[:], r.Space, at, 0)])
		}
	}
	return b.String()
}
