package tables

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestTimesPage would catch times that are packed otherwise than Encodings.md has it ("Delta
// Encoding"). It has the examples of that page, differences of all widths, up and down, and blocks and
// parts that end early. It would catch bytes that the page before left.
func TestTimesPage(t *testing.T) {
	page := bytes.Repeat([]byte{0xee}, 1<<16)
	check := func(list []uint64) {
		t.Helper()
		page = pageOf(page[:0], list)
		var want []int64
		for _, x := range list {
			want = append(want, int64(x))
		}
		if got := readDeltas(t, page, len(list)); !slices.Equal(got, want) {
			t.Errorf("got %d, want %d", got, want)
		}
	}
	check([]uint64{1, 2, 3, 4, 5})
	check([]uint64{7, 5, 3, 1, 2, 3, 4, 5})
	check([]uint64{0, math.MaxInt64, 0, 1 << 63, 0, math.MaxUint64})
	r := rand.New(rand.NewPCG(1, 2))
	for n := 1; n < 600; n += 1 + n/40 {
		for width := range 64 {
			list := []uint64{r.Uint64()}
			for len(list) < n {
				list = append(list, list[len(list)-1]+r.Uint64()>>width*uint64(r.IntN(3)))
			}
			check(list)
			many := times{}
			for rest := list; len(rest) > 0; {
				k := 1 + r.IntN(min(len(rest), 300))
				many.takeTimes(rest[:k])
				rest = rest[k:]
			}
			if got, want := many.whole(nil), pageOf(nil, list); !bytes.Equal(got, want) {
				t.Errorf("%d times, many at once: got %x, want %x", n, got, want)
			}
		}
	}
	if got, want := pageOf(nil, []uint64{7, 5, 3, 1, 2, 3, 4, 5}), []byte{128, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0, 0, 0}; !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

// pageOf returns the page of times.
func pageOf(b []byte, list []uint64) []byte {
	var t times
	for _, ns := range list {
		t.takeTime(ns)
	}
	return t.whole(b)
}
