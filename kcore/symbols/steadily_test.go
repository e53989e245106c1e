package symbols

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestSteadily holds Steadily against Lookup at two times, over random symbols and records in their midst, with look-ups by
// several goroutines. It would catch a symbol that another one hides for a while, one that goes on too far, and a
// neighbour in its place that was asked for before.
func TestSteadily(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	steady, hidden := 0, 0
	for range testsize.Of(t, 12, 60) {
		const base, size = 0xffff_ffff_8100_0000, 1 << 10
		var b strings.Builder
		for range 1 + r.IntN(30) {
			fmt.Fprintf(&b, "%016x %c f%d\n", base+uint64(r.IntN(size)), "tTdW"[r.IntN(4)], r.IntN(100))
		}
		k, err := ParseKallsyms(b.String(), "k")
		if err != nil {
			t.Fatal(err)
		}
		var recs []Ksymbol
		for range r.IntN(3) {
			recs = append(recs, Ksymbol{Name: "bpf", Addr: base + uint64(r.IntN(size)), Len: uint64(1 + r.IntN(40)), From: 1000, Until: 2000})
		}
		s := New(k, nil, recs)
		var all sync.WaitGroup
		for seed := range uint64(3) {
			all.Go(func() {
				r := rand.New(rand.NewPCG(7, seed))
				for range 200 {
					s.Steadily(base + uint64(r.IntN(size)))
				}
			})
		}
		all.Wait()
		same := func(addr uint64) (y Symbol, ok bool) {
			y, _, ok = s.Lookup(addr, 0)
			o, _, there := s.Lookup(addr, 1500)
			return y, ok == there && y == o
		}
		seen := map[int]Symbol{}
		for addr := uint64(base); addr < base+size; addr++ {
			want, always := same(addr)
			for a := want.Addr; a < want.Addr+want.Len && always; a++ {
				_, always = same(a)
			}
			y, index := s.Steadily(addr)
			if want.Len == 0 || !always {
				if y != nil {
					t.Fatalf("%#x is always in %+v, but at some time in another one than %+v:\n%s%+v", addr, y, want, &b, recs)
				}
				hidden++
				continue
			}
			if y == nil || *y != want {
				t.Fatalf("%#x is in %+v, want %+v:\n%s%+v", addr, y, want, &b, recs)
			}
			if x, ok := seen[index]; ok && x != want {
				t.Fatalf("%+v and %+v have one index", x, want)
			}
			seen[index] = want
			steady++
		}
	}
	if steady < 5000 || hidden < 2000 {
		t.Errorf("%d addresses have one name, %d do not", steady, hidden)
	}
}
