package tables

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// TestCallColumns would catch a number of a column of calls that is another's in the schema, and
// one that is given by a key that does not tell it. It needs no recording, as TestSameTables does.
func TestCallColumns(t *testing.T) {
	columns := Tables[tableCalls].Columns
	if len(columns) != numColumns {
		t.Fatalf("%d columns, want %d", len(columns), numColumns)
	}
	own := map[int]string{
		columnTime: "time", columnTimeMax: "time_max", columnEnd: "end_time", columnEndMax: "end_time_max", columnCaller: "caller", columnDepth: "depth",
		columnTotal: "total", columnSelf: "self", columnInsns: "instructions", columnSelfInsns: "self_instructions",
	}
	keys := map[string]int{
		"stream": keyThread, "cpu": keyThread, "tid": keyThread, "comm": keyThread, "function": keyFunction, "file": keyFunction, "addr": keyFunction,
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
	seen := map[int]calls.Call{}
	for how := range ways {
		for v := decoder.Verdict(0); v.String() != "?"; v++ {
			for _, c := range []calls.Call{{How: how, Verdict: v}, {Ended: how, Verdict: v}} {
				n := wayOf(&c)
				if before, ok := seen[n]; n >= 1<<12 || ok && before != c {
					t.Errorf("%v, %v, %v: number %d, which is that of %v, %v, %v", c.How, c.Ended, c.Verdict, n, before.How, before.Ended, before.Verdict)
				}
				seen[n] = c
			}
		}
	}
}
