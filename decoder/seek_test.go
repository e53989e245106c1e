package decoder

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestSeek would catch a bisection that leaves out a segment of the time asked for, or that
// looks at much more.
func TestSeek(t *testing.T) {
	data := testsize.Recordings(t)
	r := rand.New(rand.NewPCG(18, 2))
	for _, rec := range []string{"kernel-pokes-x86/tracepoints/perf.data", "kernel-pokes-x86/tracepoints-coarse/perf.data"} {
		s, err := Open(Config{Recording: filepath.Join(data, rec), NoLearn: true})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, st := range s.Streams() {
			b := st.Time()
			for i := range 40 {
				q := Query{From: b.Lo + r.Uint64N(b.Hi-b.Lo+2000) - min(b.Lo, 1000), Reverse: i%2 == 1, Beyond: i%3 == 0}
				if q.Until = q.From + r.Uint64N((b.Hi-b.Lo)/3); i%5 == 0 {
					q.Until = 0
				}
				if i%7 == 0 {
					q.From = 0
				}
				from, until := q.extent(st, 0)
				wanted, others := 0, 0
				for g := range st.Segments() {
					in := g.End > from && g.Off < until
					switch (&planner{st: st, q: &q, seg: g}).wanted() {
					case true:
						if wanted++; !in {
							t.Errorf("%s, %s: %+v: segment %+v is left out of %d to %d", rec, st.Name, q, g, from, until)
						}
					default:
						if in {
							others++
						}
					}
				}
				if others > 1 {
					t.Errorf("%s, %s: %+v: %d segments that are not asked for lie between %d and %d, besides %d", rec, st.Name, q, others, from, until, wanted)
				}
			}
		}
	}
}

// countSink keeps, for each instruction, the offset of the event before it.
type countSink struct{ offs []int64 }

// Flow keeps those of b.
func (c *countSink) Flow(b *flow.Batch) error {
	for i := range b.Ranges {
		for range b.Ranges[i].N {
			c.offs = append(c.offs, b.Stamps[b.Ranges[i].Stamp].Off)
		}
	}
	return nil
}

// TestOffsets would catch parts by offset that lack some of the whole, in either direction,
// and one that decodes all that lies before it.
func TestOffsets(t *testing.T) {
	user := filepath.Join(testsize.Recordings(t), "pt-user", "foo")
	s, err := Open(Config{Raw: []RawTrace{{Protocol: IntelPT, Path: filepath.Join(user, "cpu0.pt")}}, Code: []CodeFile{{Path: filepath.Join(user, "text.core")}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	flowOf := func(q Query) []int64 {
		c := &countSink{}
		if err := s.Flow(context.Background(), q, c); err != nil {
			t.Fatal(err)
		}
		slices.Sort(c.offs)
		return c.offs
	}
	all := flowOf(Query{})
	var starts []int64
	for g := range s.Streams()[0].Segments() {
		starts = append(starts, g.Off)
	}
	if len(starts) < 3 {
		t.Fatalf("%d segments", len(starts))
	}
	for _, reverse := range []bool{false, true} {
		var parts []int64
		for i, at := range starts {
			q := Query{FromOff: at, UntilOff: s.Streams()[0].Size, Reverse: reverse}
			if i+1 < len(starts) {
				q.UntilOff = starts[i+1]
			}
			part := flowOf(q)
			if len(part) > 0 && part[0] < at {
				t.Errorf("reverse %v: from %d comes what lies at %d", reverse, at, part[0])
			}
			parts = append(parts, part...)
		}
		slices.Sort(parts)
		if !slices.Equal(parts, all) {
			t.Errorf("reverse %v: the parts hold %d instructions, the whole %d", reverse, len(parts), len(all))
		}
	}
}

// clocked is a file of 8 GiB: a piece of trace again and again, each with a later time.
type clocked struct {
	endless
	at int // of the time in the piece, 7 bytes
}

// ReadAt reads the pieces, and writes their times over them.
func (c *clocked) ReadAt(b []byte, off int64) (int, error) {
	n, _ := c.endless.ReadAt(b, off)
	size := int64(len(c.piece))
	for k := off / size; k*size < off+int64(n); k++ {
		for i, x := range binary.LittleEndian.AppendUint64(nil, uint64(1000+k*100))[:7] {
			if at := k*size + int64(c.at+i) - off; at >= 0 && at < int64(n) {
				b[at] = x
			}
		}
	}
	return n, nil
}

// firstTime is a Sink that has enough with the first range.
type firstTime struct {
	time event.Time
	off  int64
}

// Flow keeps where the first range lies.
func (f *firstTime) Flow(b *flow.Batch) error {
	if len(b.Ranges) == 0 {
		return nil
	}
	s := b.Stamps[b.Ranges[0].Stamp]
	f.time, f.off = s.Time, s.Off
	return ErrStop
}

// TestSeekNeedsNoScan would catch a query for a time, or for an offset, that reads what lies
// before it in a stream of 8 GiB, or that begins elsewhere.
func TestSeekNeedsNoScan(t *testing.T) {
	piece := psbPlus(nil, fuzzText, 1000)
	for range 100 {
		piece = append(piece, 0x02, 0xa3, 1, 2, 3, 4, 5, 0x80)
	}
	file := &clocked{endless: endless{piece: piece}, at: 17}
	s := memorySession(t, &stream.Stream{Size: endlessSize, Data: stream.NewFile(file, endlessSize)})
	size := int64(len(piece))
	for _, part := range []int64{0, 1, 1 << 10, endlessSize / size / 2, endlessSize/size - 2} {
		at := uint64(1000 + part*100)
		for _, q := range []Query{{From: at + 1, Until: at + 50}, {From: at + 1, Until: at + 50, Reverse: true}, {FromOff: part*size + 1, UntilOff: part*size + 2}} {
			file.read.Store(0)
			f := &firstTime{}
			if err := s.Flow(context.Background(), q, f); err != nil || f.off/size != part {
				t.Errorf("%+v: begins at %d, in piece %d, want piece %d (%v)", q, f.off, f.off/size, part, err)
			}
			if got := file.read.Load(); got > 32<<20 {
				t.Errorf("%+v: %d bytes were read", q, got)
			}
		}
	}
}
