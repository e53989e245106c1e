package diff

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const (
	home  = 0xffffffff81000000
	slide = 0xffffffff9e600000 // by KASLR
)

// lines returns what diff prints of a and b, without counts.
func lines(a, b *side, threshold float64, times bool) (out []string) {
	for _, d := range compare(a, b, threshold, times) {
		out = append(out, d.Head())
	}
	return out
}

// TestSame would catch a difference that comes of where the kernel was loaded, of when
// its code ran, or of where interrupts came. The interrupts' own code is left out, with
// branches in it that one run took and the other did not.
func TestSame(t *testing.T) {
	for timing := range uint64(5) {
		a := (&workload{base: home, timing: 1, rounds: 40}).record(t, options{})
		b := (&workload{base: slide, timing: 2 + timing, rounds: 40}).record(t, options{})
		if got := lines(a, b, 0, false); got != nil {
			t.Errorf("timing %d: %q", timing, got)
		}
		if n := a.functions[function{kernel, "work"}][0].sure; n != 40 {
			t.Errorf("work was entered %d times, want 40", n)
		}
	}
}

const kernel = "[kernel.kallsyms]"

// TestTracepoint would catch a tracepoint that was switched on and does not show, and
// anything else that shows with it: the site's changed bytes, or its trampoline's edges.
func TestTracepoint(t *testing.T) {
	a := (&workload{base: home, timing: 1, rounds: 40}).record(t, options{})
	b := (&workload{base: slide, timing: 2, rounds: 40, on: 20}).record(t, options{})
	want := []string{"+ function ring_buffer", "+ function trace_work", "+ code work+0x20..+0x27"}
	if got := lines(a, b, 0, false); !slices.Equal(got, want) {
		t.Errorf("on: %q, want %q", got, want)
	}
	want = []string{"- function ring_buffer", "- function trace_work", "- code work+0x20..+0x27"}
	if got := lines(b, a, 0, false); !slices.Equal(got, want) {
		t.Errorf("off: %q, want %q", got, want)
	}
}

// TestChanged would catch counts that changed and do not show, or show within the
// threshold; and a branch between code that both ran.
func TestChanged(t *testing.T) {
	a := (&workload{base: home, timing: 1, rounds: 40}).record(t, options{})
	b := (&workload{base: slide, timing: 2, rounds: 30}).record(t, options{})
	want := []string{"~ calls main_loop", "~ calls maybe", "~ calls work"}
	if got := lines(a, b, 20, false); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := lines(a, b, 26, false); got != nil {
		t.Errorf("26 %%: %q", got)
	}
	c := (&workload{base: slide, timing: 2, rounds: 40, skips: true}).record(t, options{})
	want = []string{"- edge maybe+0x0 -> maybe+0x3"}
	if got := lines(a, c, 20, false); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestInterrupts would catch interrupts that --interrupts does not count.
func TestInterrupts(t *testing.T) {
	a := (&workload{base: home, timing: 1, rounds: 40}).record(t, options{interrupts: true})
	if a.functions[function{kernel, "tick"}] == nil {
		t.Error("tick is not counted")
	}
}

// TestTimes would catch time that is not shared out, or goes to the wrong function.
func TestTimes(t *testing.T) {
	w := &workload{base: home, timing: 1, rounds: 40}
	a := w.record(t, options{interrupts: true, times: true})
	sum := 0.0
	for _, ns := range a.times {
		sum += ns
	}
	if all := float64(w.now - began); sum < all*0.7 || sum > all {
		t.Errorf("%.0f ns of %.0f", sum, all)
	}
	if tick, main := a.times[function{kernel, "tick"}], a.times[function{kernel, "main_loop"}]; tick <= 0 || main <= 0 {
		t.Errorf("tick %.0f ns, main %.0f ns", tick, main)
	}
}

// TestExpected would catch a line of --expect that is not understood, one that fits
// nothing and is not told, and a difference that is expected and printed.
func TestExpected(t *testing.T) {
	file := filepath.Join(t.TempDir(), "known")
	text := "# known\n\n+ function ring_*: called 3 times, 2 instructions of it\n~ calls a b: c\n- function a[b-]\n"
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	x, err := readExpected(file)
	if err != nil {
		t.Fatal(err)
	}
	list := []Difference{{Change: "added", Kind: "function", Sym: "ring_buffer"}, {Change: "removed", Kind: "function", Sym: "ring_buffer"}, {Change: "removed", Kind: "function", Sym: "a[b-]"}}
	if rest := x.rest(list); len(rest) != 1 || rest[0].Change != "removed" {
		t.Errorf("rest %v", rest)
	}
	if m := x.missing(); !slices.Equal(m, []string{"~ calls a b"}) {
		t.Errorf("missing %q", m)
	}
	for _, bad := range []string{"x", "+ thing y", "+ function", "* function f"} {
		if err := os.WriteFile(file, []byte(bad), 0o666); err != nil {
			t.Fatal(err)
		}
		if _, err := readExpected(file); err == nil {
			t.Errorf("%q passes", bad)
		}
	}
}

// TestTimesOfSums would catch times that differ only by the order in which shares were summed:
// then a recording differs from itself.
func TestTimesOfSums(t *testing.T) {
	f := function{kernel, "f"}
	make := func(ns float64) *side {
		d := &side{functions: map[function]map[uint64]*insn{}, times: map[function]float64{f: ns}}
		d.insn(place{f, 0}, 2).sure = 1
		return d
	}
	if got := lines(make(3312.1), make(3312.1+1e-9), 0, true); got != nil {
		t.Errorf("alike: %q", got)
	}
	if got, want := lines(make(3312.1), make(3313.1), 0, true), []string{"~ time f"}; !slices.Equal(got, want) {
		t.Errorf("a nanosecond more: %q, want %q", got, want)
	}
}

// TestPoked would catch bytes that a change replaces and that show as a difference, and
// the code to which they lead that does not. A probe's jump covers several instructions:
// only the one without the probe ran those.
func TestPoked(t *testing.T) {
	f := function{kernel, "f"}
	make := func(offs ...uint64) *side {
		d := &side{functions: map[function]map[uint64]*insn{}, edges: map[edge]tally{}, poked: map[place]bool{}}
		for _, off := range offs {
			d.insn(place{f, off}, 2).sure = 1
		}
		return d
	}
	a, b := make(0, 2, 4, 6, 8), make(0, 2, 8)
	for i := uint64(2); i < 7; i++ {
		b.poked[place{f, i}] = true
	}
	b.insn(place{function{kernel, "slot"}, 0}, 1).sure = 1
	b.edges[edge{place{f, 2}, place{f, 8}}] = tally{sure: 1}
	want := []string{"+ function slot", "+ edge f+0x2 -> f+0x8"}
	if got := lines(a, b, 0, false); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	b.poked = map[place]bool{}
	want = []string{"+ function slot", "- code f+0x4..+0x8", "+ edge f+0x2 -> f+0x8"}
	if got := lines(a, b, 0, false); !slices.Equal(got, want) {
		t.Errorf("no change recorded: %q, want %q", got, want)
	}
	// What is ambiguous in one recording is not said of the other alone.
	a.insn(place{function{kernel, "slot"}, 0}, 1).ambiguous = 1
	want = []string{"- code f+0x4..+0x8", "+ edge f+0x2 -> f+0x8"}
	if got := lines(a, b, 100, false); !slices.Equal(got, want) {
		t.Errorf("ambiguous: %q, want %q", got, want)
	}
}
