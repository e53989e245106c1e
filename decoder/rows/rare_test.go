package rows

import (
	"fmt"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestRare would catch a trap, a gap or an event that Options.Rare tells otherwise than rows of all branches do, in
// another order or not at all. It would catch a branch that is told of although no trap's end is missing.
func TestRare(t *testing.T) {
	traps, ended, branches := 0, 0, 0
	for seed := range uint64(testsize.Of(t, 200, 4000)) {
		k := newKernelFlow(3 * seed) // with returns from exceptions
		batches := k.batches()
		lists := map[bool][]string{}
		for _, rare := range []bool{false, true} {
			streams := []Stream{{Name: "cpu0"}, {Index: 1, Name: "cpu1", CPU: 1}}
			m := New(k, streams, nil, Options{Level: LevelBranch, Gaps: true, Events: true, Rare: rare}, func(r *Row) error {
				if r.Kind == KindBranch {
					if rare {
						branches++
					}
					return nil
				}
				c := *r
				c.Note, c.Stream = nil, nil
				lists[rare] = append(lists[rare], fmt.Sprintf("%s %+v", r.Stream.Name, c))
				if rare && r.Kind == KindTrap {
					if traps++; r.HasAddr {
						ended++
					}
				}
				return nil
			})
			for _, b := range batches {
				if err := m.Flow(b); err != nil {
					t.Fatal(err)
				}
			}
			if err := m.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if i := firstOther(lists[true], lists[false]); i >= 0 {
			t.Fatalf("seed %d: row %d\n got %s\nwant %s", 3*seed, i, at(lists[true], i), at(lists[false], i))
		}
	}
	if open := traps - ended; ended < 20 || open < 20 || branches > 100*open {
		t.Errorf("%d traps ended, %d did not; %d branches", ended, open, branches)
	}
}
