package main

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
)

// played is a side whose samples are known.
func played(name string, list ...sample) *side {
	i := 0
	return &side{name: name, measure: func() (sample, error) {
		if i == len(list) {
			return sample{}, errMissing
		}
		i++
		return list[i-1], nil
	}}
}

// TestLines would catch a ratio the wrong way round, medians over sorted sides in place of turns,
// and a bound that is read from the wrong end.
func TestLines(t *testing.T) {
	ours := played("ptdecode", sample{rate: 50, cpu: 2, peak: 300}, sample{rate: 80, cpu: 1, peak: 310}, sample{rate: 20, cpu: 4, peak: 290})
	peer := played("peer", sample{rate: 10, cpu: 8, peak: 100}, sample{rate: 20, cpu: 8, peak: 100}, sample{rate: 5, cpu: 4, peak: 100})
	gone := played("gone")
	r := row{"work", ours, []line{
		{rate, ratio, peer, 4.5}, {cpu, ratio, peer, 4}, {cpu, ratio, peer, 5}, {peak, alone, nil, 512}, {peak, more, peer, 199}, {part, alone, nil, 60}, {rate, ratio, gone, 1},
	}, false}
	var missing notes
	got := strings.Join(r.lines(r.measure(3, &missing)), "\n")
	want := `| work | MB/CPU s | 50 | peer | 10 | 4 (4 - 5) | ≥ 4.50 | not reached |
| work | CPU s | 2 | peer | 8 | 4 (1 - 8) | ≥ 4 | reached |
| work | CPU s | 2 | peer | 8 | 4 (1 - 8) | ≥ 5 | not reached |
| work | MiB | 300 | - | - | 300 (290 - 310) | ≤ 512 | reached |
| work | MiB | 300 | peer | 100 | 200 (190 - 210) | ≤ 199 more | not reached |
| work | of it | 50 | - | - | 50 (20 - 80) | ≥ 60 | not reached |
| work | MB/CPU s | 50 | gone | - | - | ≥ 1 |  |`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	var out bytes.Buffer
	missing.add("gone", "other work", errMissing)
	missing.print(&out)
	if want := "\nWithout gone (not there): work; other work.\n"; out.String() != want {
		t.Errorf("missing: got %q, want %q", out.String(), want)
	}
}

// TestHeavy would catch a row of minutes that is measured in every turn.
func TestHeavy(t *testing.T) {
	r := row{"work", played("ptdecode", sample{cpu: 1}, sample{cpu: 2}), []line{{cpu, alone, nil, 0}}, true}
	if got := r.lines(r.measure(5, &notes{})); got[0] != "| work | CPU s | 1 | - | - | 1 | - |  |" {
		t.Errorf("got %q", got)
	}
}

// TestFigures would catch a median of an even number that is one of both, and digits that say more than was measured.
func TestFigures(t *testing.T) {
	if m := median([]float64{9, 1, 4, 2}); m != 3 {
		t.Errorf("median %v, want 3", m)
	}
	if m := median(nil); !math.IsNaN(m) {
		t.Errorf("median of none: %v", m)
	}
	for x, want := range map[float64]string{12345.6: "12346", 45.678: "45.7", 1.234: "1.23", 0.01234: "0.012", 3: "3", math.NaN(): "-"} {
		if got := figure(x); got != want {
			t.Errorf("figure(%v): %s, want %s", x, got, want)
		}
	}
	if got := secondWorker(3, 2, 1, 1.25); math.Abs(got-1.5/1.6) > 1e-9 {
		t.Errorf("second worker: %v, want 1.5 of 1.6", got)
	}
	if short, long := rounds(98_304), rounds(64<<20); short != 200 || long != 5 {
		t.Errorf("rounds: %d of 96 KiB, %d of 64 MiB", short, long)
	}
}

// TestMetric would catch a figure of the wrong column, and silence where a benchmark is gone.
func TestMetric(t *testing.T) {
	const out = "goos: linux\nBenchmarkRanges/mruby-2 \t 40 \t 9741 ns/op\t 7.32 MB/s\t 32.38 MB/cpu-s\t 35.18 best-MB/cpu-s\t 3 allocs/op\nPASS\n"
	if x, err := metricIn([]byte(out), "best-MB/cpu-s"); x != 35.18 || err != nil {
		t.Errorf("got %v, %v", x, err)
	}
	if _, err := metricIn([]byte("PASS\n"), "best-MB/cpu-s"); !errors.Is(err, errMissing) {
		t.Errorf("no line: %v", err)
	}
}

// TestMade would catch inputs of another size than their rows say.
func TestMade(t *testing.T) {
	for _, c := range []struct {
		write func(io.Writer) error
		lines int
		last  string
	}{
		{pokes(10_000), 10_001, `{"type":"text_poke","time":10000000,"cpu":1,"pid":111,"tid":111,"addr":"ffffffff82013870","old":"e912345600","new":"0f1f440000","scheme":"bp"}`},
		{symbols(100), 100, "ffffffff810018c0 t some_function_name_000063\t[some_module]"},
		{processes(10), 41, `{"type":"exit","time":30500,"cpu":0,"pid":1009,"tid":1009,"ppid":1,"ptid":1}`},
	} {
		var out bytes.Buffer
		if err := c.write(&out); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if last := lines[len(lines)-1]; len(lines) != c.lines || last != c.last {
			t.Errorf("%d lines, want %d; the last is %s, want %s", len(lines), c.lines, last, c.last)
		}
	}
}
