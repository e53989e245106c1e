package calls

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestSlowestTime would catch a slow call with another time than flow and the page have of its
// begin, which is the lower bound.
func TestSlowestTime(t *testing.T) {
	var out strings.Builder
	c := slowCall{group: &group{}, stream: &decoder.Stream{}, begin: event.Time{Lo: 1_000_000_100, Hi: 1_000_000_900}}
	(&table{o: &options{slowest: 1, flow: func([]string) string { return "" }}, slow: []slowCall{c}}).printSlow(&out)
	if _, line, _ := strings.Cut(out.String(), "slowest:"); !strings.Contains(line, " 1.000000100 s ") {
		t.Errorf("%s", out.String())
	}
}

// TestSlowest would catch a slow call that is left out or stands out of order, and a list
// that grows with what passes it.
func TestSlowest(t *testing.T) {
	for _, n := range []int{1, 2, 7, 100, 5000} {
		draw := rand.New(rand.NewPCG(uint64(n), 2))
		got := &table{o: &options{slowest: n}}
		var want []slowCall
		for tid := range int32(2000) {
			c := slowCall{ns: draw.Uint64N(300), tid: tid}
			want = append(want, c)
			if c.ns >= got.slower {
				got.rank(c)
			}
			if len(got.slow) > 2*n {
				t.Fatalf("%d slowest: %d are held", n, len(got.slow))
			}
		}
		got.cutSlow()
		slices.SortStableFunc(want, func(a, b slowCall) int { return cmp.Compare(b.ns, a.ns) })
		if want = want[:min(n, len(want))]; !slices.Equal(got.slow, want) {
			t.Errorf("%d slowest: %v, want %v", n, got.slow, want)
		}
	}
}
