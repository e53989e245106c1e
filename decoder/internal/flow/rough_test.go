package flow

import (
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestRough would catch flow that is certain behind contradictions where the code is known to
// be another one throughout. It would also catch flow that is doubtful behind them elsewhere, or
// farther behind them.
func TestRough(t *testing.T) {
	gap := func(ip uint64, off int64) Note {
		return Note{Kind: NoteGap, IP: ip, Gap: event.Gap{Reason: event.Mismatch, IP: ip, Off: off}, doubts: sinceConfirmed}
	}
	b := &Block{Addr: 0x1000, End: 0x1100, N: 256}
	for _, c := range []struct {
		name  string
		known bool
		gaps  []Note
		want  string // of the flow behind each gap, by blocks: what is doubtful
	}{
		{"not known", false, []Note{gap(1, 1), gap(2, 2), gap(3, 3), gap(4, 4), gap(5, 5)}, "---- ---- ---- ---- ---- ----"},
		{"known", true, []Note{gap(1, 1)}, "??-- ??--"},
	} {
		for _, whole := range []bool{false, true} { // in one batch, or in one for each gap
			u := unconfirmed{rough: rough{on: c.known}}
			var got []string
			take := sinkFunc(func(x *Batch) error {
				for i := range x.Ranges {
					if i%4 == 0 {
						got = append(got, "")
					}
					s := &got[len(got)-1]
					*s += string("-?"[x.Ranges[i].Verdict/Ambiguous])
				}
				return nil
			})
			u.start(take)
			x := &Batch{}
			for i := -1; i < len(c.gaps); i++ {
				if i >= 0 {
					n := c.gaps[i]
					n.At = len(x.Ranges)
					n.rough = u.rough.on
					x.Notes = append(x.Notes, n)
				}
				for range 4 {
					x.Ranges = append(x.Ranges, Range{Block: b, N: b.N})
				}
				if !whole {
					u.hand(x)
					x = &Batch{}
				}
			}
			u.hand(x)
			if s := strings.Join(got, " "); s != c.want {
				t.Errorf("%s, whole %v: %q, want %q", c.name, whole, s, c.want)
			}
		}
	}
}
