package decoder

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

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
	{"go.go", `
package main

import (
	"fmt"
	"os"
	"runtime"
	"sort"
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

func main() {
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

func TestSteppedPrograms(t *testing.T) {
	for _, p := range steppedPrograms {
		t.Run(p.name, func(t *testing.T) {
			bin := buildStepped(t, p.name, p.source, p.build)
			s := stepProgram(t, 40000, bin)
			t.Logf("%d steps, %d bytes of trace", len(s.ips), len(s.trace))
			x := s.open(t, Config{})
			got := flowed(t, x, steps{})[0]
			for i, g := range got {
				if g.gap != nil {
					t.Fatalf("step %d: %v", i, g.gap)
				}
				if i < len(s.ips) && g.ip != s.ips[i] {
					t.Fatalf("step %d: %x, executed was %x", i, g.ip, s.ips[i])
				}
			}
			if len(got) != len(s.ips) {
				t.Errorf("%d steps decoded, %d executed", len(got), len(s.ips))
			}
			if d := os.Getenv("KEEP_STEPS"); d != "" {
				os.MkdirAll(d, 0o777)
				exec.Command("cp", "-r", s.dir, filepath.Join(d, p.name)).Run()
				exec.Command("cp", bin, filepath.Join(d, p.name+".bin")).Run()
			}
		})
	}
}
