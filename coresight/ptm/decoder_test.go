package ptm

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// recording is a real stream.
type recording struct {
	name string
	cfg  Config
	buf  []byte
	bad  int // stretches that are no packets
}

// recordings returns the PTM streams of the recordings.
func recordings(t testing.TB) (list []recording) {
	add := func(name string, id uint8, cr, ccer, idr uint32, buf []byte) {
		c := config(cr, ccer)
		c.Trace.V3.IDR, c.Trace.ID = idr, id
		list = append(list, recording{name: name, cfg: c, buf: buf})
	}
	dir := func(snapshot, file string) []byte { return tracetest.File(t, "snapshots", snapshot, file) }
	add("tc2-ptm-rstk-t32", 2, 0x20000400, 0x34c01ac2, 0x411cf312, dir("tc2-ptm-rstk-t32", "PTM_0_2.bin"))
	add("trace_cov_a15", 2, 0x20000400, 0x34c01ac2, 0x411cf312, dir("trace_cov_a15", "PTM_0_2.bin"))
	snow := coresight.Deframe(coresight.FormatMemory, dir("Snowball", "cstrace.bin"))
	for _, id := range []uint8{0x10, 0x11} {
		add(fmt.Sprintf("Snowball %x", id), id, 0x10001000, 0x8ea, 0x411cf301, snow.Stream(id).Data)
	}
	tc2 := coresight.Deframe(coresight.FormatMemory, dir("TC2", "cstrace.bin"))
	add("TC2 13", 0x13, 0x10001000, 0x34c01ac2, 0x411cf312, tc2.Stream(0x13).Data)
	return list
}

// TestRecordings decodes whole recordings. It would catch a packet order of
// real processors that the decoder takes for a fault, an I-sync at another
// address than the branch before it led to, time that goes back where the
// timestamps do not, and a bit that packets lose on their way back to bytes.
func TestRecordings(t *testing.T) {
	for _, r := range recordings(t) {
		t.Run(r.name, func(t *testing.T) {
			segs, first := segments(r.buf, 0, r.cfg, 0)
			if out := reencode(t, r.cfg.Format(), r.buf[first:]); string(out) != string(r.buf[first:]) {
				t.Error("packets do not give their bytes back")
			}
			var n [32]int
			var last uint64
			var at *event.Event
			for _, s := range segs {
				list := decode(t, r.cfg, s)
				for i := range list {
					e := &list[i]
					n[e.Kind]++
					switch {
					case e.Kind == event.Trouble && e.Reason != event.Truncated:
						t.Errorf("%+v", e)
					case e.Kind == event.Sync && at != nil && e.HasIP() && at.IP != e.IP && at.Kind == event.Target:
						t.Errorf("sync at %#x, branch to %#x", e.IP, at.IP)
					case e.Detail == event.DetailTimestamp:
						if e.Value < last {
							t.Errorf("+0x%x: timestamp %d after %d", e.Off, e.Value, last)
						}
						last = e.Value
					}
					if at = e; e.Kind == event.Context || e.Kind == event.Payload {
						at = nil
					}
				}
			}
			t.Logf("%d bytes, %d before the first A-sync, %d segments", len(r.buf), first, len(segs))
			for k, c := range n {
				if c != 0 {
					t.Logf("%9d %v", c, event.Kind(k))
				}
			}
		})
	}
}

// TestSegmentLengths checks that a segmentation in other lengths tells the same.
// It would catch state that a sync point should have ended, state lost at one,
// and a bound that is not one: a short segment may know less, nothing else.
func TestSegmentLengths(t *testing.T) {
	cut := 0
	for _, r := range recordings(t) {
		told := func(least int64) (list []event.Event, text []string) {
			segs, _ := segments(r.buf, 0, r.cfg, least)
			for i, s := range segs {
				for j, e := range decode(t, r.cfg, s) {
					if i != 0 && j < 2 { // told by the segment before, and restated
						continue
					}
					list = append(list, e)
					e.Time = event.Always
					text = append(text, show(&e))
				}
			}
			cut += len(segs) - 1
			return list, text
		}
		whole, want := told(1 << 30)
		for _, least := range []int64{0, 2000} {
			list, got := told(least)
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%s: segments of %d bytes: -long +short\n%.2000s", r.name, least, d)
			}
			for i := range list {
				if a, b := list[i].Time, whole[i].Time; a.Lo > b.Lo || a.Hi != b.Hi {
					t.Fatalf("%s: segments of %d bytes: %+v, in one piece %+v", r.name, least, list[i], b)
				}
			}
		}
	}
	if cut < 10 {
		t.Errorf("%d seams only: they are what this is about", cut)
	}
}

// TestFill would catch events that Fill gives otherwise than Next: in number,
// in a field, in time, or where its quick loop ends.
func TestFill(t *testing.T) {
	q := make([]event.Event, 300)
	for _, r := range recordings(t) {
		segs, _ := Segments(r.buf, 0, r.cfg)
		d := NewDecoder(r.cfg, segs[0])
		for _, room := range []int{1, 2, 3, 7, 300} {
			for _, s := range segs {
				want := decode(t, r.cfg, s)
				d.Reset(s)
				var got []event.Event
				for n := room; n == room; {
					n = d.Fill(q[:room])
					got = append(got, q[:n]...)
				}
				if !slices.Equal(got, want) {
					t.Fatalf("%s, segment %d, room for %d: %.2000s", r.name, s.Index, room, cmp.Diff(want, got))
				}
			}
		}
	}
}

// TestDecoderAllocatesNothing would catch an allocation in Reset or Next.
func TestDecoderAllocatesNothing(t *testing.T) {
	for _, r := range recordings(t) {
		segs, _ := Segments(r.buf, 0, r.cfg)
		d := NewDecoder(r.cfg, segs[0])
		var e event.Event
		if n := testing.AllocsPerRun(3, func() {
			for _, s := range segs {
				for d.Reset(s); d.Next(&e); {
				}
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", r.name, n)
		}
	}
}

// FuzzDecoder decodes any bytes under a few configurations. It would catch a
// panic, events without end, offsets that fall, times that cross, segments
// that leave bytes out, and a Decoder whose state survives Reset.
func FuzzDecoder(f *testing.F) {
	for _, text := range []string{
		"async 5\nisync 0x1000 0x21\natom enee\nbranch 2: 0x1010\nasync 5\nisync 0x2020 0x1\natom e",
		"async 5\nisync 0x1000 thumb 0x21\nwaypoint 1: 0x10\nbranch 5: 0x4f800000c exception 1: 0x1d\nisync 0x1000 0x41",
		"async 5\nisync 0x1000 0x21\ntimestamp 7: 0x64\natom e\ntimestamp 1: 0xa\ntrigger\neret\nignore",
		"async 5\nisync 0x1000 0x21 context 4: 0x1\ncontextid context 4: 0x2\nvmid 0x1\nbad 10",
		"async 5\nisync 0x1000 0x21 cycles 1: 5\natom e cycles 2: 300\nasync 5\nbranch 5: 0x480000000 exception 1: 0x2 cycles 1: 1",
	} {
		buf, err := Assemble(nil, text)
		if err != nil {
			f.Fatal(err)
		}
		for how := range uint8(8) {
			f.Add(buf, how*37)
		}
	}
	f.Fuzz(func(t *testing.T, buf []byte, how uint8) {
		c := config(uint32(how&1)*crCycles|uint32(how>>1&1)*crContext4|uint32(how>>2&1)*crTimestamps, uint32(how>>3&3)<<28)
		c.Ahead = how&0x20 != 0
		segs, first := segments(buf, 0, c, int64(how>>6)*20)
		at := int64(first)
		d := NewDecoder(c, whole(buf))
		for range 2 { // the first time from any state
			var e event.Event
			for d.Next(&e) {
			}
		}
		q := make([]event.Event, 1+how%7)
		for _, s := range append(segs, whole(buf)) {
			if s.Off == at {
				at = s.End
			}
			fresh := decode(t, c, s)
			d.Reset(s)
			var e event.Event
			for i := range fresh {
				if !d.Next(&e) || e != fresh[i] {
					t.Fatalf("after Reset, event %d: %s", i, cmp.Diff(show(&fresh[i]), show(&e)))
				}
			}
			if d.Next(&e) {
				t.Fatalf("after Reset, one more: %+v", e)
			}
			d.Reset(s)
			var filled []event.Event
			for n := len(q); n == len(q); {
				n = d.Fill(q)
				filled = append(filled, q[:n]...)
			}
			if !slices.Equal(filled, fresh) {
				t.Fatalf("by Fill: %s", cmp.Diff(fresh, filled))
			}
		}
		if at != int64(len(buf)) {
			t.Fatalf("segments end at %d of %d", at, len(buf))
		}
	})
}

// BenchmarkDecoder decodes a real stream.
func BenchmarkDecoder(b *testing.B) {
	r := recordings(b)[0]
	b.SetBytes(int64(len(r.buf)))
	segs, _ := Segments(r.buf, 0, r.cfg)
	d := NewDecoder(r.cfg, segs[0])
	q := make([]event.Event, 256)
	for b.Loop() {
		for _, s := range segs {
			for d.Reset(s); d.Fill(q) == len(q); {
			}
		}
	}
}
