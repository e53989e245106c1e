package boot

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// sparsely fails if k tells otherwise of base, with many instructions of no site between its rounds, where only what
// lies near sites is kept. It reports whether anything was passed over.
func sparsely(t *testing.T, k *untold, p *Patches, base *ranAs, r *rand.Rand) bool {
	t.Helper()
	all, few := &ranAs{d: base.d}, &ranAs{d: base.d, sparse: true, kept: true}
	fill := &flow.Block{Addr: 0x100000, End: 0x100064, N: 100, Lens: slices.Repeat([]uint8{1}, 100)}
	notes := base.notes
	for i := range base.list {
		x := &base.list[i]
		fills := 0
		if i == 0 || x.off/100 != base.list[i-1].off/100 {
			fills = r.IntN(6)
		}
		for _, y := range []*ranAs{all, few} {
			for range fills {
				y.runs(fill, fill.N, x.off)
			}
			for _, at := range notes {
				if at <= int(x.at) {
					y.notes = append(y.notes, y.n)
				}
			}
			y.runs(x.b, x.n, x.off)
		}
		for len(notes) > 0 && notes[0] <= int(x.at) {
			notes = notes[1:]
		}
	}
	var is, want marks
	told := func(base *ranAs, to *marks) bool {
		other := *p // nothing is known of it yet
		return k.tell(base, &other, to, func(*site) bool { return true }, func(*site) {}, func(*site) *aside { return &aside{} })
	}
	a, b := told(few, &is), told(all, &want)
	if a != b || !slices.Equal(is.stretches(), want.stretches()) || few.n != all.n {
		t.Fatalf("%d instructions near sites: told %v, in doubt %v; want %d, %v, %v", few.n, a, is.stretches(), all.n, b, want.stretches())
	}
	return few.gaps
}

// TestSkip would catch a site, or what lies close behind it, that is passed over in flow that was kept. It would catch
// instructions that are not counted, and a contradiction that is not noted.
func TestSkip(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 0x5c1b))
	d := &doubts{sites: []site{{addr: 0x1005, last: 0x1006}}}
	var blocks []*flow.Block
	for i := range 50 {
		n := 1 + r.IntN(20)
		b := &flow.Block{Addr: 0x1000 + uint64(i)*32, N: uint16(n), Number: uint32(i), Lens: slices.Repeat([]uint8{1}, n)}
		b.End = b.Addr + uint64(n)
		blocks = append(blocks, b)
	}
	blocks[0].N, blocks[0].Lens, blocks[0].End = 8, slices.Repeat([]uint8{1}, 8), 0x1008
	skipped := 0
	for range 2000 {
		var shelf flow.Shelf
		all, few := &ranAs{d: d}, new(Lists).get(d)
		few.sparse = true
		for range r.IntN(12) {
			b := &flow.Batch{Stamps: []flow.Stamp{{Off: int64(r.IntN(9))}}}
			for range r.IntN(80) {
				x := blocks[1+r.IntN(len(blocks)-1)]
				if r.IntN(200) == 0 {
					x = blocks[0]
				}
				b.Ranges = append(b.Ranges, flow.Range{Block: x, N: x.N})
			}
			if r.IntN(4) == 0 {
				b.Notes = append(b.Notes, flow.Note{At: r.IntN(len(b.Ranges) + 1), Kind: flow.NoteGap})
				if r.IntN(9) == 0 {
					b.Notes[0].Gap = event.Gap{Reason: event.Mismatch}
				}
			}
			x := shelf.Keep(b, math.MaxInt64, nil)
			if err := all.Flow(b); err != nil {
				t.Fatal(err)
			}
			pieces := len(few.list)
			if err := few.Take(x); err != nil {
				t.Fatal(err)
			}
			if len(b.Ranges) > 0 && len(few.list) == pieces {
				skipped++
			}
		}
		if few.n != all.n || few.bad != all.bad || !slices.Equal(few.met, all.met) {
			t.Fatalf("%d instructions, contradicted %v, sites at %v; want %d, %v, %v", few.n, few.bad, few.met, all.n, all.bad, all.met)
		}
		for _, x := range all.met {
			if got, want := few.window(x.at, mostAbreast), all.window(x.at, mostAbreast); !slices.Equal(got, want) {
				t.Fatalf("behind a site: %v, want %v", got, want)
			}
			if n := 1 + r.IntN(mostAbreast); few.noted(x.at, x.at+n) != all.noted(x.at, x.at+n) {
				t.Fatalf("noted among %d instructions behind a site: %v", n, few.noted(x.at, x.at+n))
			}
		}
	}
	if skipped < 1000 {
		t.Errorf("%d batches were passed over: too few", skipped)
	}
}
