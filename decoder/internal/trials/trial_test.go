package trials

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestToldAtOnce would catch a trial that counts what lies behind the instructions that are wanted, because
// it is told at once with them. Here that is a return that goes astray, to where an older call would have it.
func TestToldAtOnce(t *testing.T) {
	block := func(addr uint64, n uint16, c isa.Class) flow.Range {
		return flow.Range{Block: &flow.Block{Addr: addr, End: addr + uint64(n), N: n, Class: c, Lens: make([]uint8, n)}, N: n}
	}
	list := []flow.Range{block(0x1000, 1, isa.CallInd), block(0x2000, 1, isa.CallInd)}
	full := 0 // ranges until a trial is
	for tr := (learn.Outcome{}); !tr.Full(); full++ {
		r := block(0x3000, 50, isa.Jump)
		list = append(list, r)
		tr.Follow(&learn.Visit{}, 1, r.Block.Addr, r.Block.Lens)
	}
	list = append(list, block(0x4000, 1, isa.Return), block(0x1001, 1, isa.Jump))
	run := func(most int) (o learn.Outcome) {
		tr := &Trial{V: &learn.Visit{}, Switches: 1}
		for i := 0; i < len(list); i += most {
			if err := tr.Confirmed(list[i:min(i+most, len(list))], []flow.Stamp{{Off: 1}}); err != nil {
				return tr.Out
			}
		}
		t.Fatalf("%d ranges at once: the trial never ends", most)
		return o
	}
	want := run(1)
	for _, most := range []int{2, 7, full, len(list)} {
		got := run(most)
		if got.Calls.Astray != 0 || got.Calls.Skipped != 0 {
			t.Errorf("%d ranges at once: %d returns astray, %d skipped", most, got.Calls.Astray, got.Calls.Skipped)
		}
		if d := cmp.Diff(want.Flow, got.Flow) + cmp.Diff(want.Beyond, got.Beyond); d != "" {
			t.Errorf("%d ranges at once: -want +got\n%s", most, d)
		}
	}
}

// TestGapForgets would catch a return that is said to go astray, or to skip a call, because a gap hides what returned
// in between.
func TestGapForgets(t *testing.T) {
	block := func(addr uint64, c isa.Class) flow.Range {
		return flow.Range{Block: &flow.Block{Addr: addr, End: addr + 1, N: 1, Class: c, Lens: []uint8{1}}, N: 1}
	}
	before := []flow.Range{block(0x1000, isa.CallInd), block(0x2000, isa.CallInd)}
	behind := []flow.Range{block(0x3000, isa.Return), block(0x1001, isa.Jump)}
	for _, gap := range []bool{false, true} {
		tr := &Trial{V: &learn.Visit{}, Switches: 1}
		told := [][]flow.Range{before, behind}
		if gap {
			told = [][]flow.Range{before, nil, behind}
		}
		for _, rs := range told {
			if err := tr.Confirmed(rs, []flow.Stamp{{Off: 1}}); err != nil {
				t.Fatal(err)
			}
		}
		if got := tr.Out.Calls; (got.Astray == 0) != gap || (got.Skipped == 0) != gap {
			t.Errorf("with a gap: %v; %d returns astray, %d skip calls", gap, got.Astray, got.Skipped)
		}
	}
}
