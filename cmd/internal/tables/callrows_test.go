package tables

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestCallColumns would catch a number of a column of calls that is another's in the schema, and
// one that is given by a key that does not tell it. It needs no recording, as TestSameTables does.
func TestCallColumns(t *testing.T) {
	columns := Tables[tableCalls].Columns
	if len(columns) != numColumns {
		t.Fatalf("%d columns, want %d", len(columns), numColumns)
	}
	own := map[int]string{
		columnTime: "time", columnTimeMax: "time_max", columnStream: "stream", columnCPU: "cpu", columnTID: "tid", columnComm: "comm", columnEnd: "end_time", columnEndMax: "end_time_max", columnCaller: "caller", columnDepth: "depth",
		columnTotal: "total", columnSelf: "self", columnInsns: "instructions", columnSelfInsns: "self_instructions",
	}
	keys := map[string]int{
		"function": keyFunction, "file": keyFunction, "addr": keyFunction,
		"entered": keyWay, "ended": keyWay, "verdict": keyWay,
	}
	for i, c := range columns {
		k, ok := shared[i]
		if own[i] != c.Name && (!ok || own[i] != "") {
			t.Errorf("column %d is %s, not %q", i, c.Name, own[i])
		}
		if want, is := keys[c.Name]; ok != is || ok && k != want {
			t.Errorf("column %s hangs on key %d (%v), want %d (%v)", c.Name, k, ok, want, is)
		}
	}
}

// TestWayOf would catch a way or a verdict that is given the number of another: there is room
// for 16 of each.
func TestWayOf(t *testing.T) {
	ways := calls.Way(0)
	func() {
		defer func() { _ = recover() }() // behind the last of them there is no name
		for ; ; ways++ {
			_ = ways.String()
		}
	}()
	if ways <= calls.AtEnd {
		t.Fatalf("%d ways", ways)
	}
	type one struct {
		how, ended calls.Way
		verdict    decoder.Verdict
	}
	seen := map[int]one{}
	for how := range ways {
		for v := decoder.Verdict(0); v.String() != "?"; v++ {
			for _, c := range []one{{how: how, verdict: v}, {ended: how, verdict: v}} {
				var x calls.Rows
				x.How[3], x.Ended[3], x.Verdict[3] = c.how, c.ended, c.verdict
				n := wayOf(&x, 3)
				if before, ok := seen[n]; n >= 1<<12 || ok && before != c {
					t.Errorf("%v, %v, %v: number %d, which is that of %v, %v, %v", c.how, c.ended, c.verdict, n, before.how, before.ended, before.verdict)
				}
				seen[n] = c
			}
		}
	}
}

// TestCrowded would catch calls that are given another one's caller or time, in a row group that has more
// callers than numbers have bits for.
func TestCrowded(t *testing.T) {
	s, err := decoder.Open(decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", "kprobes", "perf.data")})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	x, all := calls.Rows{}, new(calls.Rows)
	tree := &calls.Tree{Session: s, Brief: true, OnRows: func(rows *calls.Rows) *calls.Rows { x = *rows; return rows }}
	if err := s.Flow(t.Context(), decoder.Query{Merged: true}, sinkOf(tree.Flow)); err != nil {
		t.Fatal(err)
	}
	only, _ := Choose("calls")
	dir := t.TempDir()
	enc, err := NewParquet(dir, only)
	if err != nil {
		t.Fatal(err)
	}
	const n = 100_000
	for i := range uint64(n) {
		x.From[0], x.End[0] = 1<<40+i, 1000*i+i%7
		if all.Takes(&x, 0); all.N == maxWaiting || i == n-1 {
			if all, err = enc.(callTaker).takesCalls(tree, all); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := enc.Close(nil); err != nil {
		t.Fatal(err)
	}
	columns := readColumns(t, filepath.Join(dir, "calls.parquet"), tableCalls)
	callers, ends := columns[columnCaller], columns[columnEnd]
	if len(callers) != n || len(ends) != n {
		t.Fatalf("%d callers and %d ends, want %d", len(callers), len(ends), n)
	}
	for i := range n {
		if callers[i] != fmt.Sprintf("%#x", 1<<40+i) || ends[i] != fmt.Sprint(1000*i+i%7) {
			t.Fatalf("row %d: %s, which ended at %s", i, callers[i], ends[i])
		}
	}
}
