package tracetest

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
)

// packet is a pointer to a packet of any protocol of whole bytes.
type packet[P any] interface {
	*P
	Size() int64
	End() int64
}

// Reencode returns what the encoder makes of the packets that lex finds in buf,
// whose first byte has the offset base in its stream. Those that are bad hold
// no bytes: the buffer's stand in for them. It fails the test where packets do
// not follow each other without a hole, and where one comes back as other bytes.
func Reencode[P any, PP packet[P]](tb testing.TB, buf []byte, lex func(base int64) iter.Seq[P], bad func(p P) bool, encode func(dst []byte, p P) []byte) []byte {
	tb.Helper()
	const base = 1 << 40 // offsets are the stream's, not the buffer's
	out := make([]byte, 0, len(buf))
	next := int64(base)
	for p := range lex(base) {
		off, end := PP(&p).End()-PP(&p).Size(), PP(&p).End()
		if off != next || end <= off || end > base+int64(len(buf)) {
			tb.Fatalf("+0x%x: %+v: from 0x%x to 0x%x, of a buffer that ends at 0x%x", next-base, p, off-base, end-base, len(buf))
		}
		next = end
		raw := buf[off-base : end-base]
		if bad(p) {
			out = append(out, raw...)
			continue
		}
		n := len(out)
		if out = encode(out, p); !bytes.Equal(out[n:], raw) {
			tb.Fatalf("+0x%x: %+v: bytes %x, want %x", off-base, p, out[n:], raw)
		}
	}
	return out
}

// Lexer gives packets one by one and many at a time.
type Lexer[P any] interface {
	// Next reads one packet; it returns false behind the last.
	Next(p *P) bool
	// Fill reads packets into q until it is full or behind the last, and returns
	// how many. They lack what the test's place gives them.
	Fill(q []P) int
	// Off returns where the next packet lies in its stream, bytes.
	Off() int64
}

// Fill fails the test where a lexer that one of lex makes reads other packets many
// at a time, up to 20, than one by one. What it reads is fewer than 200 bytes that
// random makes, for each of so many seeds. Before Fill every packet is dirty, before
// Next it is zero. place gives packets that Fill has read, the first of which lies at
// off, what it leaves to others, and clears what it leaves open.
func Fill[P comparable](tb testing.TB, seeds uint64, dirty P, place func(q []P, off int64), random func(r *rand.Rand) byte, lex ...func(buf []byte) Lexer[P]) {
	tb.Helper()
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 4))
		buf := make([]byte, r.IntN(200))
		for i := range buf {
			buf[i] = random(r)
		}
		for i, lex := range lex {
			if wrong := Fills(lex(buf), lex(buf), place, slices.Repeat([]P{dirty}, 1+r.IntN(20))); wrong != "" {
				tb.Fatalf("seed %d, lexer %d: %s, of % x", seed, i, wrong, buf)
			}
		}
	}
}

// Fills says where many's Fill gives others than one's Next, with as many packets
// at a time as dirty has; place is Fill's.
func Fills[P comparable](one, many Lexer[P], place func([]P, int64), dirty []P) (wrong string) {
	q := make([]P, len(dirty))
	for {
		copy(q, dirty)
		off := many.Off()
		n := many.Fill(q)
		place(q[:n], off)
		for i := range n {
			var p P
			if !one.Next(&p) || p != q[i] {
				return fmt.Sprintf("Fill has %+v, Next %+v", q[i], p)
			}
		}
		if n < len(q) {
			if one.Next(&q[0]) {
				return fmt.Sprintf("Fill ends before %+v", q[0])
			}
			return ""
		}
	}
}

// FindSync fails the test where find, which searches buf from an index on, finds
// another A-sync of PTM or ETMv3 than the first: five zeros and 80.
func FindSync(t *testing.T, find func(buf []byte, from int) (off int, ok bool)) {
	const async = "\x00\x00\x00\x00\x00\x80"
	for _, c := range []struct {
		name string
		buf  string
		from int
		want int // -1: none
	}{
		{"empty", "", 0, -1},
		{"alone", async, 0, 0},
		{"cut", async[:5], 0, -1},
		{"behind-from", async, 1, -1},
		{"before-end", "\x01\x02" + async, 0, 2},
		{"from-below", async, -9, 0},
		{"from-beyond", async, 17, -1},
		{"four-zeros", "\x01" + async[1:], 0, -1},
		{"payload-ends-alike", "\x6e\x00\x00\x00\x00" + async, 0, 5},
		{"80-before", "\x80\x80" + async, 0, 2},
		{"two", async + async, 1, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			off, ok := find([]byte(c.buf), c.from)
			if ok != (c.want >= 0) || ok && off != c.want {
				t.Errorf("FindSync(%x, %d) = %d, %v, want %d", c.buf, c.from, off, ok, c.want)
			}
		})
	}
}
