package stream

import (
	"cmp"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/pt"
)

// psb is the packet that a segment of Intel PT begins with.
const psb = "\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82\x02\x82"

// randomPT returns about n bytes of Intel PT with sync points at random places, of
// which some state a time: many in one place, none for long in another.
func randomPT(r *rand.Rand, n int) (data []byte) {
	tsc := uint64(1000)
	for len(data) < n {
		switch r.IntN(12) {
		case 0:
			data = append(data, make([]byte, r.IntN(3*pageBytes))...)
		case 1:
			data = append(data, "\x02\xf3"...) // an OVF: a PSB directly behind it begins no segment
		case 2:
			tsc -= min(tsc, r.Uint64N(300)) // the clock is set back
		}
		data = append(data, psb...)
		if r.IntN(3) > 0 {
			tsc += r.Uint64N(100)
			data = append(append(data, 0x19), binary.LittleEndian.AppendUint64(nil, tsc)[:7]...)
		}
		if r.IntN(4) == 0 {
			data = append(data, 0x02, 0x43, 0, 0x10, 0, 0, 0, 0) // a PIP: the host
		}
		data = append(append(data, 0x02, 0x23), make([]byte, r.IntN(1+r.IntN(3000)))...)
	}
	return data
}

// randomLosses returns losses in a stream of size bytes: some with holes, some that
// overlap, some that begin or end where one of segs does.
func randomLosses(r *rand.Rand, size int64, segs []event.Segment) (list []Loss) {
	place := func(from int64) int64 {
		if len(segs) > 0 && r.IntN(2) == 0 {
			return max(from, segs[r.IntN(len(segs))].Off)
		}
		return min(size, from+r.Int64N(2*pageBytes))
	}
	for range r.IntN(12) {
		l := Loss{Off: place(r.Int64N(size + 1))}
		if l.End = l.Off; r.IntN(2) == 0 {
			l.End = place(l.Off)
		}
		list = append(list, l)
	}
	slices.SortStableFunc(list, func(a, b Loss) int { return cmp.Compare(a.Off, b.Off) })
	return list
}

// naiveSegments finds all segments of st at once, and the gaps that lie before
// each: the last ones lie behind the last segment.
func naiveSegments(st *Stream, written uint64) (segs []event.Segment, gaps [][]event.Gap) {
	segs, _ = pt.Plan(st.Data, st.Size, st.Index, st.intelPT())
	type lostAt struct {
		before int
		gap    event.Gap
	}
	var lost []lostAt
	for i := range segs {
		if t := &segs[i].Time; t.Hi > written {
			t.Hi = max(written, t.Lo)
		}
	}
	for _, l := range st.Losses {
		i := firstFrom(segs, l.Off) - 1
		if i >= 0 && l.Off <= segs[i].End {
			segs[i].End = l.Off
		}
		n := i + 1
		for n < len(segs) && segs[n].Off < l.End {
			n++
		}
		segs = slices.Delete(segs, i+1, n)
		g := event.Gap{Reason: event.Lost, Off: l.Off, End: max(l.Off, l.End), Time: event.Always}
		if i+1 < len(segs) {
			g.End = max(g.End, segs[i+1].Off)
		} else {
			g.End = max(g.End, st.Size)
		}
		lost = append(lost, lostAt{i + 1, g})
	}
	gaps = make([][]event.Gap, len(segs)+1)
	for _, l := range lost {
		gaps[l.before] = append(gaps[l.before], l.gap)
	}
	for i := range segs {
		g := &segs[i]
		g.Index, g.Last = 0, i == len(segs)-1
		g.Ends, g.Starts = false, false
	}
	return segs, gaps
}

// TestPages would catch segments, their times or their losses that depend on the
// order in which they are asked for, or on how many are held. A search that
// finds all of them at once is what they are compared with.
func TestPages(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for round := range 60 {
		data := randomPT(r, 1+r.IntN(8*pageBytes))
		st := &Stream{Protocol: IntelPT, Size: int64(len(data)), Data: Memory(data)}
		if round%2 == 0 {
			segs, _ := pt.Plan(st.Data, st.Size, 0, st.intelPT())
			st.Losses = randomLosses(r, st.Size, segs)
		}
		written := uint64(math.MaxUint64)
		if round%3 == 0 {
			written = 1000 + r.Uint64N(2000)
		}
		want, gaps := naiveSegments(st, written)
		st.Begin(written, []int64{1, 1 << 30}[round%2])
		plain := func(g event.Segment) event.Segment {
			g.Ends, g.Starts = false, false
			return g
		}
		check := func(how string, i int, g event.Segment) {
			t.Helper()
			if !equalSegments(plain(g), want[i]) {
				t.Fatalf("round %d, %s: segment %d of %d: %+v, want %+v", round, how, i, len(want), g, want[i])
			}
		}
		for i, list := range gaps {
			when := event.Always
			if i > 0 {
				when.Lo = want[i-1].Time.Lo
			}
			switch {
			case i == len(want) && i > 0 && want[i-1].Time.Hi != 0:
				when.Hi = want[i-1].Time.Hi
			case i < len(want) && want[i].Time.Lo != 0:
				when.Hi = want[i].Time.Lo
			}
			for k := range list {
				list[k].Time = when
			}
		}
		i := len(want)
		for c := st.Cursor(true); i > 0; i-- {
			g, ok := c.Next()
			if !ok {
				t.Fatalf("round %d: %d segments are missing", round, i)
			}
			check("backwards", i-1, g)
		}
		for g := range st.Segments() {
			check("forwards", i, g)
			if got := st.GapsBefore(&g); !slices.Equal(got, gaps[i]) {
				t.Fatalf("round %d: gaps before segment %d: %+v, want %+v", round, i, got, gaps[i])
			}
			if i++; i == len(want) && !slices.Equal(st.GapsBehind(&g), gaps[i]) {
				t.Fatalf("round %d: gaps behind the last segment: %+v, want %+v", round, st.GapsBehind(&g), gaps[i])
			}
		}
		if i != len(want) || st.Empty() != (len(want) == 0) {
			t.Fatalf("round %d: %d segments, want %d", round, i, len(want))
		}
		for range 50 {
			off := r.Int64N(st.Size + 1)
			k := firstFrom(want, off)
			if g, ok := st.After(off); ok != (k < len(want)) {
				t.Fatalf("round %d: a segment behind %d: %v", round, off, ok)
			} else if ok {
				check("after", k, g)
			}
			if g, ok := st.Before(off); ok != (k > 0) {
				t.Fatalf("round %d: a segment before %d: %v", round, off, ok)
			} else if ok {
				check("before", k-1, g)
			}
		}
	}
}

// equalSegments compares all but the bytes.
func equalSegments(a, b event.Segment) bool {
	a.Buf, b.Buf = nil, nil
	return a.Stream == b.Stream && a.Off == b.Off && a.End == b.End && a.Time == b.Time && a.Last == b.Last && a.Host == b.Host
}

// readings is a stream that counts the bytes that are read of it.
type readings struct {
	Memory
	n int64
}

func (c *readings) Bytes(off, n int64) []byte {
	b := c.Memory.Bytes(off, n)
	c.n += int64(len(b))
	return b
}

// TestPagesHoldLittle would catch a stream that keeps all of its segments, or that
// reads far ahead for the first one or the last. It would catch one that reads each
// byte many times: with many sync points, with none, and without times.
func TestPagesHoldLittle(t *testing.T) {
	many := slices.Repeat([]byte(psb+"\x19\x01\x02\x03\x04\x05\x06\x07\x02\x23"), 120_000)
	for name, data := range map[string][]byte{
		"many":    many,
		"untimed": slices.Repeat([]byte(psb+"\x02\x23"+string(make([]byte, 200))), 20_000),
		"one":     slices.Concat([]byte(psb+"\x02\x23"), make([]byte, 4<<20)),
		"far":     slices.Repeat([]byte(psb+"\x19\x01\x02\x03\x04\x05\x06\x07\x02\x23"+string(make([]byte, 200<<10))), 20),
	} {
		const hold = 200 << 10
		src := &readings{Memory: data}
		st := &Stream{Protocol: IntelPT, Size: int64(len(data)), Data: src}
		st.Begin(0, hold)
		if name == "many" {
			st.Cursor(false).Next()
			st.Cursor(true).Next()
			if most := int64(8 * pageBytes * pt.Margin / 26); src.n > most {
				t.Errorf("%s: %d bytes were read for the first segment and the last, want %d at most", name, src.n, most)
			}
		}
		if name == "far" { // apart by many pages, of which the first and the last few are enough
			src.n = 0
			st.Cursor(true).Next()
			st.Cursor(false).Next()
			if most := st.Size / 2; src.n > most {
				t.Errorf("%s: %d bytes of %d were read for the last segment and the first, want %d at most", name, src.n, st.Size, most)
			}
		}
		for _, back := range []bool{false, true} {
			src.n = 0
			n, held := 0, int64(0)
			for c := st.Cursor(back); ; n++ {
				if _, ok := c.Next(); !ok {
					break
				}
				held = max(held, st.find.held)
			}
			// A page of the smallest segments holds more than its share.
			if most := max(hold, minPages*(pageBytes/26+2)*segmentSize); held > int64(most)*5/4 {
				t.Errorf("%s: segments of %d bytes were held", name, held)
			}
			if most := 6*st.Size + 4*int64(n)*(pt.Margin+16<<10); src.n > most {
				t.Errorf("%s, back %v: %d bytes were read of %d in %d segments", name, back, src.n, st.Size, n)
			}
		}
	}
}
