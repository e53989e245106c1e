package perfetto

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
)

// TestAlike would catch ranges of another moment, or ambiguous ones, that are taken for those before them
// where four are looked at together. It looks at them one by one as well.
func TestAlike(t *testing.T) {
	for seed := range 2000 {
		var list []decoder.BatchRange
		for i := range 1 + seed%13 {
			r := decoder.BatchRange{N: uint16(1 + seed*i%300)}
			if i > seed/13%13 {
				r.Stamp = 1
			}
			if i >= seed/169%13 {
				r.Verdict = decoder.Verdict(seed % int(decoder.Ambiguous+1))
			}
			list = append(list, r)
		}
		insns, n := uint64(0), 0
		for n < len(list) && list[n].Stamp == list[0].Stamp && (list[n].Verdict == decoder.Ambiguous) == (list[0].Verdict == decoder.Ambiguous) {
			insns += uint64(list[n].N)
			n++
		}
		if i, k := alike(list); i != insns || k != n {
			t.Fatalf("%v: %d instructions of %d ranges, want %d of %d", list, i, k, insns, n)
		}
	}
}
