package repair

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore"
)

// TestSearches would catch an image that is searched without end: for code too long to be a
// trampoline, and for many that have no template. Their code must be in doubt all the same.
func TestSearches(t *testing.T) {
	for _, x := range []struct{ changes, size, least, most int }{
		{1, 60000, 0, 0},
		{1, mostCopy, mostCopy / anchor, mostCopy / anchor},
		{200, 400, mostSearches, mostSearches},
	} {
		var pokes []kcore.Poke
		for i := range x.changes {
			p := kcore.Poke{Addr: 0xffffffffc0000000 + uint64(i)<<12, New: make([]byte, x.size), Time: 100, Begin: 100, End: 100}
			for k := range p.New {
				p.New[k] = byte(k*7 + k>>8 + i*k)
			}
			pokes = append(pokes, p)
		}
		n := 0
		d := Pokes(pokes, nil, nil, text(nil), func(b []byte) []uint64 { n++; return nil })
		if n < x.least || n > x.most {
			t.Errorf("%d changes of %d bytes: the image is searched %d times, want %d to %d", x.changes, x.size, n, x.least, x.most)
		}
		for i := range pokes {
			if a := pokes[i].Addr; !d.Has(a, a+1, event.Time{Lo: 200, Hi: 200}) {
				t.Fatalf("change %d of %d bytes: not in doubt", i, x.size)
			}
		}
	}
}
