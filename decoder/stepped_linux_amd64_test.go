package decoder

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore/image"
)

func buildIDOf(b []byte) []byte { return image.BuildID(b) }

// steppedPrograms are programs in several languages, and how each is built.
var steppedPrograms = []struct {
	name, source string
	build        []string
}{
	{"c.c", `
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <time.h>
static inline __attribute__((always_inline)) int twice(int x) { return x * 2; }
static inline __attribute__((always_inline)) int more(int x)
{
	return twice(x) +
		twice(x + 1);
}
__attribute__((noinline)) int leaf(int x) { return more(x) ^ 5; }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
int main(void)
{
	char buf[64];
	int v[] = { 5, 2, 9, 1, 7, 3 };
	struct timespec now;
	__asm__ volatile("int3");
	for (int i = 0; i < 20; i++)
		v[i % 6] += leaf(i);
	qsort(v, 6, sizeof v[0], compare);
	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(buf, sizeof buf, "%d %s", v[0], "text");
	free(malloc(strlen(buf)));
	__asm__ volatile("int3");
	return 0;
}
`, []string{"gcc", "-g", "-O2", "-o", "OUT", "IN"}},
	{"go.go", `
package main

import (
	"bufio"
	"fmt"
	"os"
	"runtime"
	"sort"
	"strconv"
	"strings"
)

type shelf[T int | float64] struct{ items []T }

func (s *shelf[T]) sum() (n T) {
	for _, x := range s.items {
		n += x
	}
	return n
}

func init() { runtime.LockOSThread() }

// lines prints what the runtime knows of the addresses on standard input.
func lines() {
	for in := bufio.NewScanner(os.Stdin); in.Scan(); {
		addr, _ := strconv.ParseUint(in.Text(), 16, 64)
		fmt.Printf("0x%x\n", addr)
		for f := runtime.CallersFrames([]uintptr{uintptr(addr) + 1}); ; {
			x, more := f.Next()
			fmt.Printf("%s\n%s:%d\n", x.Function, x.File, x.Line)
			if !more {
				break
			}
		}
	}
}

func main() {
	if len(os.Args) > 1 {
		lines()
		return
	}
	s := shelf[int]{}
	runtime.Breakpoint()
	for i := range 10 {
		s.items = append(s.items, i*7%5)
	}
	sort.Ints(s.items)
	text := fmt.Sprintf("%d %s", s.sum(), strings.Repeat("x", 9))
	runtime.Breakpoint()
	fmt.Fprintln(os.Stderr, text)
}
`, []string{"go", "build", "-o", "OUT", "IN"}},
	{"cxx.cc", `
#include <map>
#include <stdexcept>
#include <string>
#include <vector>
#include <algorithm>
namespace shop {
template <typename T> struct Shelf {
	std::vector<T> items;
	void put(T x) { items.push_back(x); }
	T sum() const { T s{}; for (auto &x : items) s += x; return s; }
};
struct Base { virtual ~Base() {} virtual int price(int n) = 0; };
struct Book : Base { int price(int n) override; };
__attribute__((noinline)) int Book::price(int n) { Shelf<int> s; for (int i = 0; i < n; i++) s.put(i); return s.sum(); }
}
int main()
{
	shop::Book b;
	shop::Base *p = &b;
	std::map<std::string, int> m;
	__asm__ volatile("int3");
	for (int i = 0; i < 8; i++)
		m["key" + std::to_string(i)] = p->price(i);
	try { m.at("none"); } catch (const std::out_of_range &) { m["none"] = 1; }
	__asm__ volatile("int3");
	return m.size() == 9 ? 0 : 1;
}
`, []string{"g++", "-g", "-O2", "-o", "OUT", "IN"}},
	{"rust.rs", `
use std::arch::asm;
struct Shelf<T> { items: Vec<T> }
impl<T: Copy + std::ops::Add<Output = T>> Shelf<T> {
    #[inline(never)]
    fn put(&mut self, x: T) { self.items.push(x); }
    fn sum(&self, zero: T) -> T { self.items.iter().fold(zero, |a, b| a + *b) }
}
fn main() {
    let mut s = Shelf { items: Vec::new() };
    unsafe { asm!("int3"); }
    for i in 0..20u64 { s.put(i); }
    let text = format!("{} {}", s.sum(0), "text");
    unsafe { asm!("int3"); }
    println!("{}", text);
}
`, []string{"rustc", "-g", "-O", "-o", "OUT", "IN"}},
}

// buildStepped builds a program; it skips where its compiler is missing.
func buildStepped(t *testing.T, name, source string, build []string) string {
	t.Helper()
	if _, err := exec.LookPath(build[0]); err != nil {
		t.Skipf("%s is not here: the names of its programs are not tested", build[0])
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, name), filepath.Join(dir, "program")
	if err := os.WriteFile(in, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	args := append([]string(nil), build[1:]...)
	for i, a := range args {
		switch a {
		case "IN":
			args[i] = in
		case "OUT":
			args[i] = out
		}
	}
	c := exec.Command(build[0], args...)
	c.Dir = dir
	c.Env = append(os.Environ(), "GOFLAGS=", "GOWORK=off")
	if msg, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", build[0], err, bytes.TrimSpace(msg))
	}
	return out
}

// TestSteppedPrograms would catch names, source lines and inlined functions of programs
// that are not those which binutils gives, and steps of real programs that are not decoded
// as they ran. Each program is built here, and runs step by step. Intel PT is made of its steps.
func TestSteppedPrograms(t *testing.T) {
	compared, why := 0, explained{}
	for i, p := range steppedPrograms {
		if i >= testsize.Of(t, 1, len(steppedPrograms)) {
			break // all of them, and 100,000 addresses, in the full form
		}
		t.Run(p.name, func(t *testing.T) {
			bin := buildStepped(t, p.name, p.source, p.build)
			s := stepProgram(t, 8000, bin)
			x := s.open(t, Config{NoDemangle: true})
			named := s.check(t, x, bin)
			addrs := codeOf(t, bin, uint64(testsize.Of(t, 1000, 100000)))
			if n := compareLines(t, bin, p.name, addrs, &why); n > 0 {
				t.Errorf("%d of %d addresses have other names or lines than %s says", n, len(addrs), teller(p.name, bin)[0])
			}
			compared += len(addrs)
			t.Logf("%d steps, %d of them named; %d addresses compared", len(s.ips), named, len(addrs))
		})
	}
	t.Logf("%d addresses compared; explained: %+v", compared, why)
}

// TestGoLines would catch names, source lines and inlined functions of Go's programs that are not those which binutils
// gives. Its addr2line 2.40 reads Go's DWARF 4, and no DWARF 5.
func TestGoLines(t *testing.T) {
	n := testsize.Of(t, 0, 120000, 120000)
	if n == 0 {
		t.Skip("small form: Go's library would have to be built again")
	}
	t.Setenv("GOEXPERIMENT", "nodwarf5")
	p := steppedPrograms[1]
	bin, why := buildStepped(t, p.name, p.source, p.build), explained{}
	addrs := codeOf(t, bin, uint64(n))
	if n := compareLines(t, bin, "go4.go", addrs, &why); n > 0 {
		t.Errorf("%d of %d addresses have other names or lines than addr2line says", n, len(addrs))
	}
	t.Logf("%d addresses compared; explained: %+v", len(addrs), why)
}

// check compares what x decodes with the steps, and the symbol of each step in the program
// with that of the file at its address. It returns how many steps have names.
func (s *stepped) check(t *testing.T, x *Session, bin string) (named int) {
	t.Helper()
	f, err := elf.Open(bin)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var moved uint64
	for _, m := range s.maps {
		for _, p := range f.Progs {
			if m.path == bin && p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && p.Off&^0xfff == m.off {
				moved = m.from - (p.Vaddr - (p.Off - m.off))
			}
		}
	}
	syms, _ := f.Symbols()
	starts := map[string]bool{}
	for _, y := range syms {
		if elf.ST_TYPE(y.Info) == elf.STT_FUNC {
			starts[fmt.Sprintf("%s %x", y.Name, y.Value+moved)] = true
		}
	}
	names := &stepNames{s: x, bin: bin, starts: starts, t: t}
	if p := f.Section(".plt"); p != nil {
		names.resolver = p.Addr + moved
	}
	flowed(t, x, names)
	for i, ip := range names.ips {
		if i >= len(s.ips) || ip != s.ips[i] {
			t.Fatalf("step %d of %d: %x is decoded, and is not what ran", i, len(s.ips), ip)
		}
	}
	if len(names.ips) != len(s.ips) {
		t.Fatalf("%d steps decoded, %d ran", len(names.ips), len(s.ips))
	}
	return names.named
}

// stepNames takes the flow of a program that was stepped, and looks at its names.
type stepNames struct {
	t      *testing.T
	s      *Session
	bin    string
	starts map[string]bool // "NAME ADDRESS" of the functions of bin
	ips    []uint64
	named  int

	resolver uint64 // the stub that all others lead to at first, which has no name
}

// Flow takes what b holds.
func (x *stepNames) Flow(b *flow.Batch) error {
	for i := range b.Notes {
		if b.Notes[i].Kind == flow.NoteGap {
			x.t.Error(&b.Notes[i].Gap)
		}
	}
	for i := range b.Ranges {
		r := &b.Ranges[i]
		for ip, n := r.Block.Addr, 0; n < int(r.N); n++ {
			x.ips = append(x.ips, ip)
			sym, off, file, _ := x.s.Symbol(r.Block.Space, ip, 0)
			if sym != "" {
				x.named++
			}
			if file == x.bin && ip-x.resolver >= 16 && !strings.HasSuffix(sym, "@plt") && !x.starts[fmt.Sprintf("%s %x", sym, ip-off)] && sym != "_start" {
				x.t.Errorf("%x: %s+%#x: %s has no such function there", ip, sym, off, file)
			}
			ip += uint64(r.Block.Lens[n])
		}
	}
	return nil
}
