package stm

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// reencode gives the half bytes of buf back from its packets: Append's,
// and those of Bad packets as they stand.
func reencode(t testing.TB, buf []byte) []byte {
	t.Helper()
	const base = 1 << 40 // offsets are the stream's, not the buffer's
	out := make([]byte, 0, len(buf))
	next := int64(2 * base)
	for p := range NewLexer(buf, base).All() {
		at := 2*p.Off + int64(p.Half)
		if at != next || p.Size() <= 0 || p.End() > base+int64(len(buf)) || p.Half > 1 {
			t.Fatalf("half byte 0x%x: %+v, of a buffer of %d bytes", next-2*base, p, len(buf))
		}
		next += p.Size()
		if p.Kind != Bad {
			out = p.Append(out)
			continue
		}
		for i := at - 2*base; i < next-2*base; i++ {
			w := writer{out, i%2 != 0}
			w.put(uint64(buf[i/2]>>(i%2*4)&15), 1)
			out = w.dst
		}
	}
	return out
}

// randPacket returns a packet as the lexer gives them but for its place.
func randPacket(r *rand.Rand) Packet {
	p := Packet{Kind: Null + Kind(r.IntN(int(NumKinds-Null)))}
	s := &specs[p.Kind]
	// Small numbers as often as large ones; of no data the shift leaves none.
	p.Value = r.Uint64() >> r.IntN(64) << (64 - 4*s.data) >> (64 - 4*s.data)
	if p.Kind == Version {
		p.Value = 3 + p.Value%2
	}
	p.Len = uint8(len(s.code) + s.data)
	if s.stamped {
		p.TSLen = []uint8{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 16}[r.IntN(15)]
		p.TS = r.Uint64() >> (64 - 4*int(p.TSLen))
		p.Len += 1 + p.TSLen
	}
	return p
}

// Catches a field that is lost or displaced in half bytes or text for some value,
// and a length that depends on what comes before or after. Sequences of random
// packets must come back from their bytes, and the bytes from their text.
func TestRandomSequencesComeBack(t *testing.T) {
	packets.Sequences(t, func(r *rand.Rand, _ int) (list []Packet, raw []byte) {
		for at := 0; len(list) < 12 || at%2 != 0; {
			p := randPacket(r)
			p.Off, p.Half = int64(at/2), uint8(at%2)
			at += int(p.Len)
			list, raw = append(list, p), p.Append(raw)
		}
		return list, raw
	})
}

// Catches a read that depends on more than the bytes: any bytes come back
// whole, among them sync points in either half, and packets cut short.
func TestRandomBytesComeBack(t *testing.T) {
	n := testsize.Of(t, 10_000, 100_000)
	r := rand.New(rand.NewPCG(3, 4))
	heads := []string{"f0", "f", strings.Repeat("f", 21) + "0", strings.Repeat("f", 20), "e", "f00", "7", "f080"}
	for range n {
		var w writer
		for len(w.dst) < 40 {
			if r.IntN(2) == 0 {
				for _, h := range digits(heads[r.IntN(len(heads))]) {
					w.put(uint64(h), 1)
				}
			}
			for range r.IntN(12) {
				w.put(uint64(r.IntN(16)), 1)
			}
		}
		if out := reencode(t, w.dst); !bytes.Equal(out, w.dst) {
			t.Fatalf("%x comes back as %x", w.dst, out)
		}
	}
}

// Catches a search that misses a sync point in either half, takes one cut
// short, or takes the data before it for its start.
func TestFindSync(t *testing.T) {
	f21 := strings.Repeat("f", 21)
	for _, c := range []struct {
		name, digits string
		from, at     int // bytes
		ok           bool
	}{
		{"at the front", f21 + "0", 0, 0, true},
		{"in the upper half", "1" + f21 + "00", 0, 0, true},
		{"in the middle", "1234" + f21 + "0", 0, 2, true},
		{"behind data that ends in F", "123f" + f21 + "0", 0, 2, true},
		{"behind more of them", "12ff" + f21 + "00", 1, 2, true},
		{"22 from the front", "f" + f21 + "0" + "0", 0, 0, true},
		{"one F too few", f21[1:] + "0" + "0", 0, 0, false},
		{"no 0", f21 + "1", 0, 0, false},
		{"cut short", f21 + "f", 0, 0, false},
		{"nothing", "", 0, 0, false},
		{"behind the place asked for", f21 + "0" + f21 + "0", 1, 11, true},
		{"only before it", f21 + "0" + "00", 1, 0, false},
	} {
		at, ok := findSync(pack(digits(c.digits)), c.from)
		if ok != c.ok || ok && at != c.at {
			t.Errorf("%s: %d, %v, want %d, %v", c.name, at, ok, c.at, c.ok)
		}
	}
}

// slowSync is findAsync a half byte at a time.
func slowSync(halves []byte, from int) (int, bool) {
	for at := from; at+asyncLen <= len(halves); at++ {
		if bytes.Equal(halves[at:at+asyncLen], digits(specs[Async].code)) {
			return at, true
		}
	}
	return 0, false
}

// Catches a place that the quick search finds and the slow one does not, or
// the other way round, in bytes rich in F.
func TestFindSyncAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range testsize.Of(t, 5_000, 20_000) {
		var b strings.Builder
		for b.Len() < 80 {
			b.WriteString(strings.Repeat("f", r.IntN(30)))
			b.WriteString(strings.Repeat("0", r.IntN(2)))
			b.WriteString([]string{"", "1", "f0", "0f"}[r.IntN(4)])
		}
		halves := digits(b.String()[:80])
		from := r.IntN(40)
		at, ok := findAsync(pack(halves), from)
		want, wantOK := slowSync(halves, from)
		if ok != wantOK || at != want {
			t.Fatalf("%x from %d: %d, %v, want %d, %v", halves, from, at, ok, want, wantOK)
		}
	}
}
