package output

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// TestAppendHex16 would catch a wrong digit: fmt is the slow twin.
func TestAppendHex16(t *testing.T) {
	check := func(v uint64) {
		if got, want := string(appendHex16(nil, v)), fmt.Sprintf("%016x", v); got != want {
			t.Fatalf("appendHex16(%#x) = %s", v, got)
		}
	}
	for i := range 64 {
		check(1 << i)
		check(1<<i - 1)
		check(^uint64(0) << i)
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100000 {
		check(r.Uint64())
	}
}

// TestAppendTime would catch lost zeros and rounding.
func TestAppendTime(t *testing.T) {
	for ns, want := range map[uint64]string{
		0: "0.000000000", 1: "0.000000001", 4417665594: "4.417665594", 1e9: "1.000000000",
		math.MaxUint64: "18446744073.709551615",
	} {
		if got := string(appendTime(nil, ns)); got != want {
			t.Errorf("appendTime(%d) = %s, want %s", ns, got, want)
		}
	}
}

// TestSourceLine would catch a file's name that controls the terminal, and one that objects do not have as it is.
func TestSourceLine(t *testing.T) {
	f := &symbols.Frame{File: "a\x1b.c", Line: 7}
	if text, exact := string(appendLine(nil, f)), exactLine(f); text != "a?.c:7" || exact != "a\x1b.c:7" {
		t.Errorf("%q, and in objects %q", text, exact)
	}
}

// TestAppendJSON would catch strings that are no JSON: the standard library
// must read back what was meant.
func TestAppendJSON(t *testing.T) {
	for _, in := range []string{"", "plain", `"\`, "\x00\x1f\n\t", "grün \U0001f600", "\u2028"} {
		var got string
		if err := json.Unmarshal(appendJSON(nil, in), &got); err != nil || got != in {
			t.Errorf("appendJSON(%q) reads back as %q, %v", in, got, err)
		}
	}
	var got string
	if err := json.Unmarshal(appendJSON(nil, "a\xffb"), &got); err != nil || got != "a\ufffdb" {
		t.Errorf("bytes that are no UTF-8 read back as %q, %v", got, err)
	}
}

// TestAppendAllocates would catch formatting that costs memory: the fixed forms
// write tens of millions of lines.
func TestAppendAllocates(t *testing.T) {
	buf := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() { buf = appendTime(appendHex16(buf[:0], 0xffffffff81000000), 12345) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkAddresses measures the fixed form "CPU IP" alone: lines in, bytes
// out to nowhere.
func BenchmarkAddresses(b *testing.B) {
	block := &decoder.Block{Addr: 0xffffffff81000000, N: 5, Lens: []uint8{1, 2, 3, 4, 5}}
	batch := &decoder.Batch{Stamps: make([]decoder.Stamp, 1)}
	for range 512 {
		batch.Ranges = append(batch.Ranges, decoder.BatchRange{Block: block, N: 5})
	}
	streams := []rows.Stream{{Name: "cpu0"}}
	sink, _, _ := New(nil, streams, nil, io.Discard, Options{Format: FormatNamed("text"), Fields: []Field{CPU, IP}})
	b.ReportAllocs()
	for b.Loop() {
		if err := sink.Flow(batch); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(512*5*b.N)/b.Elapsed().Seconds()/1e6, "Mlines/s")
}
