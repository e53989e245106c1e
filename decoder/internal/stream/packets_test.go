package stream

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// lent is a stream whose bytes are overwritten when it is asked for more.
type lent struct {
	Memory
	last []byte
}

func (l *lent) Bytes(off, n int64) []byte {
	clear(l.last)
	l.last = slices.Clone(l.Memory.Bytes(off, n))
	return l.last
}

// packetsOfPT returns the packets of trace as text, pieces of most bytes at once.
func packetsOfPT(trace []byte, most int64) (list []string) {
	st := &Stream{Protocol: IntelPT, Size: int64(len(trace)), Data: &lent{Memory: trace}}
	st.Begin(0, 0)
	newListing(st, most).all(1000, func(k PacketLister, raw []byte) bool {
		off, size := k.Place()
		kind, bad := k.Kind()
		list = append(list, fmt.Sprintf("%d+%d %s %v %v % x", off, size, kind, bad, k, raw[:min(len(raw), packetRoom/2)]))
		return true
	})
	return list
}

// TestPacketsInPieces would catch a packet of a long segment that is cut, lost or
// listed twice where one piece ends and the next begins. It would also catch an
// item outside of its block, and bytes that are no packet whose end is wrong, or that
// are shown after the stream took them back.
func TestPacketsInPieces(t *testing.T) {
	parts := []string{psb, "\x02\xf3", "\x02\x63\x01", "\x02\x63\x81", "\x0c\x01\x02\x03\x04\x05\x06\x07\x08", "\x02\x33", "\x02\x82\x02\x82",
		"\x00\x00\x00\x00\x00", "\xfe", "\x02\xa3\x01\x02\x03\x04\x05\x80", "\x2d\x01\x02", "\xd1\x01\x02\x03\x04\x05\x06\x07\x08", "\x19\x01\x02\x03\x04\x05\x06\x07"}
	for seed := range uint64(testsize.Of(t, 150, 1500)) {
		r := rand.New(rand.NewPCG(seed, 3))
		trace := []byte(psb + "\x02\x23")
		for len(trace) < 4000 {
			k := r.IntN(len(parts)) // sync points are as rare as the seed says
			if k == 0 && seed%3 > 0 && r.IntN(30) > 0 {
				continue
			}
			for range 1 + r.IntN(1+r.IntN(40)) {
				trace = append(trace, parts[k]...)
			}
			if seed%5 == 0 && r.IntN(20) == 0 {
				for range r.IntN(600) {
					trace = append(trace, byte(r.Uint32()))
				}
			}
		}
		want := packetsOfPT(trace, 1<<20)
		for _, most := range []int64{150, 500} {
			got := packetsOfPT(trace, most)
			for i := range max(len(got), len(want)) {
				if i >= len(got) || i >= len(want) || got[i] != want[i] {
					t.Fatalf("seed %d, pieces of %d bytes: %d packets, want %d; from number %d on:\n%q\n%q", seed, most, len(got), len(want), i,
						got[min(i, len(got)):min(i+3, len(got))], want[min(i, len(want)):min(i+3, len(want))])
				}
			}
		}
	}
}

// oneSync is a file with a single sync point: behind it stands one byte over and over.
type oneSync struct {
	size int64
	fill byte
	most int // bytes that were read at once
}

func (f *oneSync) ReadAt(b []byte, off int64) (int, error) {
	f.most = max(f.most, len(b))
	b = b[:min(int64(len(b)), f.size-off)]
	for i := range b {
		b[i] = f.fill
	}
	if off < int64(len(psb)) {
		copy(b, psb[off:])
	}
	if off+int64(len(b)) == f.size {
		return len(b), io.EOF
	}
	return len(b), nil
}

// TestPacketsHoldLittle would catch packets that need all of a segment in memory:
// of one that does not end, be it full of packets or of bytes that are none.
func TestPacketsHoldLittle(t *testing.T) {
	for _, fill := range []byte{0x00, 0xff} {
		f := &oneSync{size: 12 << 20, fill: fill}
		st := &Stream{Protocol: IntelPT, Size: f.size, Data: NewFile(f, f.size)}
		st.Begin(0, 0)
		end := int64(0)
		for k := range st.EachPacket {
			off, size := k.Place()
			if off != end {
				t.Fatalf("%x: a packet at %d, want %d", fill, off, end)
			}
			end = off + size
		}
		if end != f.size {
			t.Errorf("%x: the packets end at %d of %d bytes", fill, end, f.size)
		}
		if f.most > 5<<20 {
			t.Errorf("%x: %d bytes were read at once, want %d at most", fill, f.most, 5<<20)
		}
	}
}
