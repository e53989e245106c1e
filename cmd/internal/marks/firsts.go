package marks

import (
	"github.com/ptdecode/ptdecode/cmd/internal/items"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// Execution is one of the code at an address, at a lower bound of its moment, ns.
type Execution struct{ Addr, At uint64 }

// Firsts returns where a stream executed the new code of each change first.
func Firsts(stream int, pokes []Mark, crossings map[int][]report.Crossing) map[Execution]int {
	out := map[Execution]int{}
	for i := range pokes {
		for _, c := range crossings[pokes[i].Index] {
			if c.Stream == stream && c.New.N > 0 {
				out[Execution{pokes[i].At, c.New.First.Time.Lo}] = pokes[i].Index
			}
		}
	}
	return out
}

// Changed returns what reports whether an item is a trap, or where a change took effect: where
// it was settled, or where the new code ran first.
func Changed(firsts map[Execution]int) func(before, it *items.Item) bool {
	was := map[Execution]items.Key{}
	return func(_, it *items.Item) bool {
		if it.Note != nil {
			return it.Note.Kind == decoder.NoteTrap || it.Note.Kind == decoder.NoteCut
		}
		x := Execution{it.Addr, it.Time.Lo}
		if _, ok := firsts[x]; !ok {
			return false
		}
		if _, ok := was[x]; !ok {
			was[x] = it.Key // several may have one moment
		}
		return was[x] == it.Key
	}
}
