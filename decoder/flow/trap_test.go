package flow

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// markedText is a testText whose poke mark is where records were lost.
type markedText struct {
	*testText
	mark int
}

func (t *markedText) Poke(i int) Poke {
	p := t.testText.Poke(i)
	p.Mark, p.Guarded = i == t.mark, true
	return p
}

func (t *markedText) Floor(i int) event.Epoch { return event.Epoch(i) }

// TestTrappedMark would catch lost records that count as a change whose
// breakpoint is known to be gone: the breakpoint met may be that of a lost one.
func TestTrappedMark(t *testing.T) {
	for _, mark := range []int{-1, 0} {
		x := code(map[int]string{0: "\x90\x90"})
		x.pokes = []testPoke{{addr: 0x1000, old: "\x90", new: "\x91", time: 100}, {addr: 0x1001, old: "\x90", new: "\x91", time: 200}}
		w := testWalker(&markedText{x, mark})
		w.exec.traps.pokes = []int{0}
		if got, want := w.exec.traps.trapped(&thread{mode: isa.Mode64, evidence: evidence{floor: 2, hi: 2}}, 0x1000, 300), mark >= 0; got != want {
			t.Errorf("mark %d: may have been met: %v, want %v", mark, got, want)
		}
	}
}

// TestExecuted would catch a breakpoint taken to be gone because of code that
// its site ran. That code is not the poke's, or may not have run, or ran
// without that part.
func TestExecuted(t *testing.T) {
	block := func(space uint32) *Block {
		return &Block{Addr: 0x1000, End: 0x1006, N: 3, Lens: []uint8{2, 2, 2}, Span: event.Span{From: 5, Until: 9}, Space: space}
	}
	b, user := block(0), block(1)
	for _, c := range []struct {
		what string
		r    Range
		ip   uint64
		at   event.Epoch
		want bool
	}{
		{"its text", Range{Block: b, N: 3}, 0x1002, 4, true},
		{"by the trace", Range{Block: b, N: 3, Verdict: Trace}, 0x1000, 4, true},
		{"one of several", Range{Block: b, N: 3, Verdict: Ambiguous}, 0x1002, 4, false},
		{"one of several that do the same", Range{Block: b, N: 3, Verdict: Trace, Either: true}, 0x1002, 4, false},
		{"broken off before it", Range{Block: b, N: 1}, 0x1002, 4, false},
		{"text of before", Range{Block: b, N: 3}, 0x1002, 5, false},
		{"inside an instruction", Range{Block: b, N: 3}, 0x1003, 4, false},
		{"elsewhere", Range{Block: b, N: 3}, 0x1006, 4, false},
		{"user text", Range{Block: user, N: 3}, 0x1002, 4, false},
	} {
		if got := executed([]Range{c.r}, c.ip, c.at); got != c.want {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}
