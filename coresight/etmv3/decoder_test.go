package etmv3

import (
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/tracetest"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// recording is a real stream.
type recording struct {
	name string
	cfg  Config
	buf  []byte
}

// recordings returns the ETMv3 streams of the recordings.
func recordings(t testing.TB) (list []recording) {
	t.Helper()
	for _, s := range tracetest.Recorded(t, coresight.ETMv3) {
		list = append(list, recording{s.Name, Config{Trace: s.Config, Ahead: true}, s.Buf})
	}
	return list
}

// events returns the events of each segment, which have at least least bytes.
func (r *recording) events(t testing.TB, least int64) (lists [][]event.Event) {
	t.Helper()
	segs, _ := segments(r.buf, 0, r.cfg, least)
	for _, s := range segs {
		lists = append(lists, decode(t, r.cfg, s))
	}
	return lists
}

// TestRecordings decodes whole recordings. It would catch a packet order of real
// processors that the decoder takes for a fault, and an I-sync at another address
// than the branch before it led to. So it would time that goes back where the
// timestamps do not.
func TestRecordings(t *testing.T) {
	for _, r := range recordings(t) {
		t.Run(r.name, func(t *testing.T) { tracetest.Orderly(t, r.events(t, 0)) })
	}
}

// TestSegmentLengths checks that a segmentation in other lengths tells the same.
// It would catch state that a sync point should have ended, state lost at one,
// and a bound that is not one: a short segment may know less, nothing else.
func TestSegmentLengths(t *testing.T) {
	cut := 0
	for _, r := range recordings(t) {
		t.Run(r.name, func(t *testing.T) {
			cut += tracetest.Seams(t, 1, func(least int64) [][]event.Event { return r.events(t, least) })
		})
	}
	if cut < 10 {
		t.Errorf("%d seams only: they are what this is about", cut)
	}
}

// TestDecoderAllocatesNothing would catch an allocation in Reset or Next.
func TestDecoderAllocatesNothing(t *testing.T) {
	for _, r := range recordings(t) {
		segs, _ := Segments(r.buf, 0, r.cfg)
		d := NewDecoder(r.cfg, segs[0])
		packettest.AllocatesNothing(t, d, segs...)
	}
}

// FuzzDecoder decodes any bytes under a few configurations. It would catch a
// panic, events without end, offsets that fall, times that cross, segments
// that leave bytes out, and a Decoder whose state survives Reset.
func FuzzDecoder(f *testing.F) {
	for _, text := range []string{
		"async 5\nisync 0x1000 0x21\npheader 1 een\nbranch 2: 0x1010\nasync 5\nisync 0x2020 0x1\npheader 2 en",
		"async 5\nisync 0x1000 thumb 0x21\npheader 1 ee\nbranch 5: 0x4f800000c exception 1: 0x3d\nisync 0x1000 0x41",
		"async 5\nisync 0x1000 0x21\npheader 1 e\neret\nbranch 1: 0x10\nbranch 5: 0xc80000000\ncyclecount cycles 1: 5\nentry",
		"async 5\nisync 0x1000 0x21\ntimestamp 7: 0x64\npheader 1 e\ntimestamp 1: 0xa\ntrigger\neret\nignore",
		"async 5\nisync 0x1000 0x21 context 4: 0x1\ncontextid context 4: 0x2\nvmid 0x1\nbad 10",
		"async 5\nisynccycles 0x1000 0xa1 cycles 1: 5 second 1: 0x10\npheader 3 e cycles 3\nasync 5\npheader 4 n",
		"async 5\nisync 0x1000 0x21\ndata first address 1: 0x5 value 4: 0x1\nooo 1\nplaceholder 2\nnottraced first address 1: 0x5",
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
		c := config(uint32(how&1)*crCycles|uint32(how>>1&1)*crContext4|uint32(how>>2&1)*(crTimestamps|crData), uint32(how>>3&3)<<28)
		c.Ahead = how&0x20 != 0
		if how&0x18 == 0x18 {
			c.Trace.V3.IDR |= idrAlternative
			c.Trace.Arch.Profile = 'M'
		}
		segs, first := segments(buf, 0, c, int64(how>>6)*20)
		at := int64(first)
		d := NewDecoder(c, whole(buf))
		for range 2 { // the first time from any state
			var e event.Event
			for d.Next(&e) {
			}
		}
		for _, s := range append(segs, whole(buf)) {
			if s.Off == at {
				at = s.End
			}
			fresh := decode(t, c, s)
			packettest.Resets(t, d, s, fresh)
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
	var e event.Event
	for b.Loop() {
		for _, s := range segs {
			for d.Reset(s); d.Next(&e); {
			}
		}
	}
}
