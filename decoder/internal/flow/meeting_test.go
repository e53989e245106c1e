package flow

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// What the new version of a site of round does.
const (
	leadsOn  = iota // nothing, as the old one
	leadsOff        // goes by code of its own, which spends an outcome, and back
	skips           // skips a branch, so that a round takes an outcome less
)

// loopOf is a loop of sites, each behind a branch to what follows it and some
// instructions more. Each site has two versions, and no clock tells when they change.
func loopOf(sites, kind, pad int) *testText {
	var b []byte
	x := &testText{addr: 0x1000}
	for range sites {
		b = append(b, strings.Repeat("\x90", pad)+"\x74\x00"...)
		x.pokes = append(x.pokes, testPoke{addr: 0x1000 + uint64(len(b)), old: "\x0f\x1f\x44\x00\x00", time: 1000 * uint64(len(x.pokes)+1), batch: len(x.pokes)})
		b = append(b, "\x0f\x1f\x44\x00\x00"...)
	}
	jump := func(op string, from, to int) string {
		return string(binary.LittleEndian.AppendUint32([]byte(op), uint32(to-from-len(op)-4)))
	}
	b = append(b, "\x74\x00"...)
	b = append(b, jump("\x0f\x85", len(b), 0)...)
	for i := range x.pokes {
		at := int(x.pokes[i].addr - 0x1000)
		to := at + 5
		switch kind {
		case leadsOff:
			to = len(b)
			b = append(b, "\x74\x00\x90"...)
			b = append(b, jump("\xe9", len(b), at+5)...)
		case skips:
			to = at + 5 + pad + 2
		}
		x.pokes[i].new = jump("\xe9", at, to)
	}
	x.bytes = append(b, "\xff\xe0"...)
	return x
}

// TestLoopWork would catch comparing that costs more the longer a window has been
// open, where cuts meet in each round of a loop. It would also catch a window that holds
// much more than it is long, and one that settles less of what all versions execute.
func TestLoopWork(t *testing.T) {
	for _, c := range []struct {
		sites, kind, pad int
		threads          int // followed at most at once, when more events are asked for
		shared           int // of ten ranges, at least so many are not in doubt
	}{
		{1, leadsOn, 0, 3, 7}, {1, leadsOff, 0, 5, 3}, {1, leadsOff, 7, 5, 3}, {1, skips, 0, 3, 2}, {2, leadsOn, 0, 4, 4}, {2, leadsOff, 0, 12, 1},
	} {
		var work [2]int
		for k := range work {
			n := 300 << k
			w := testWalker(loopOf(c.sites, c.kind, c.pad))
			w.exec.cfg.MaxWork = 1 << 18
			threads := 0
			m := &meter{w: w, n: n, next: func(i int) event.Event {
				threads = max(threads, len(w.exec.window.threads))
				if i == 0 {
					return at(0, 1<<40, syncAt(0x1000))
				}
				e := at(0, 1<<40, bits("tttttt"))
				e.Off = int64(i)
				return e
			}}
			var v verdicts
			if err := w.Run(m, &v); err != nil {
				t.Fatal(err)
			}
			work[k] = w.exec.window.align.work
			all := v[Certain] + v[Trace] + v[Exception] + v[Ambiguous]
			if m.held > 150*n || threads > c.threads || 10*(all-v[Ambiguous]) < c.shared*all {
				t.Errorf("%+v, %d events: %d held, %d threads, verdicts %v", c, n, m.held, threads, v)
			}
		}
		if grows := float64(work[1]) / float64(work[0]); grows > 2.3 {
			t.Errorf("%+v: twice the events take %.2f times the work: %v", c, grows, work)
		}
	}
}
