package packettest

import (
	"bytes"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// Sequence is packets in a row, their bytes, and what a lexer reads from these.
type Sequence[P comparable] struct {
	Packets []P
	Bytes   []byte
	Lex     iter.Seq[P]
	Codec   *packettext.Codec[P]
}

// Sequences fails the test where random sequences of packets do not come back from
// their bytes, or the bytes not from the packets' text. build makes the sequence of
// a round.
func Sequences[P comparable, PP packet[P]](t *testing.T, rounds int, build func(r *rand.Rand, round int) Sequence[P]) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var text []byte
	for round := range rounds {
		s := build(r, round)
		i := 0
		for p := range s.Lex {
			if i >= len(s.Packets) || p != s.Packets[i] {
				t.Fatalf("sequence %d, %x: packet %d is\n%+v, want\n%+v", round, s.Bytes, i, p, s.Packets[min(i, len(s.Packets)-1)])
			}
			i++
		}
		if i != len(s.Packets) {
			t.Fatalf("sequence %d, %x: %d packets, want %d", round, s.Bytes, i, len(s.Packets))
		}
		if round%4 != 0 {
			continue // text is slow, and has the cases
		}
		text = text[:0]
		for i := range s.Packets {
			text = append(PP(&s.Packets[i]).AppendText(text, nil), '\n')
		}
		if back, err := s.Codec.Assemble(nil, string(text)); err != nil || !bytes.Equal(back, s.Bytes) {
			t.Fatalf("sequence %d: %s gives %x, %v, want %x", round, text, back, err, s.Bytes)
		}
	}
}

// RandomBytes fails the test where random bytes, with heads among them, do not come
// back from reencode.
func RandomBytes(t *testing.T, rounds int, heads []string, reencode func(round int, buf []byte) []byte) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 4))
	for round := range rounds {
		buf := make([]byte, 0, 64)
		for len(buf) < 40 {
			if r.IntN(2) == 0 {
				buf = append(buf, heads[r.IntN(len(heads))]...)
			}
			for range r.IntN(8) {
				buf = append(buf, byte(r.Uint32()))
			}
		}
		if out := reencode(round, buf); !bytes.Equal(out, buf) {
			t.Fatalf("%x comes back as %x", buf, out)
		}
	}
}

// Reencode returns what the encoder makes of the packets that lex finds in buf,
// whose first byte has the offset base in its stream. Those that are bad hold
// no bytes: the buffer's stand in for them. It fails the test where packets do
// not follow each other without a hole, and where one comes back as other bytes.
func Reencode[P any, PP packet[P]](tb testing.TB, buf []byte, lex func(base int64) iter.Seq[P], bad func(p *P) bool) []byte {
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
		if bad(&p) {
			out = append(out, raw...)
			continue
		}
		n := len(out)
		if out = PP(&p).Append(out); !bytes.Equal(out[n:], raw) {
			tb.Fatalf("+0x%x: %+v: bytes %x, want %x", off-base, p, out[n:], raw)
		}
	}
	return out
}

// Retext fails the test where the text of the packets of buf, which lex reads, does
// not give buf. place is where a packet's bytes lie in buf.
func Retext[P comparable, PP packet[P]](tb testing.TB, buf []byte, lex iter.Seq[P], place func(p *P) (off, end int64), codec *packettext.Codec[P]) {
	tb.Helper()
	var text []byte
	for p := range lex {
		off, end := place(&p)
		text = append(PP(&p).AppendText(text, buf[off:end]), '\n')
	}
	if out, err := codec.Assemble(nil, string(text)); err != nil || !bytes.Equal(out, buf) {
		tb.Fatalf("%x: text %s gives %x, %v", buf, text, out, err)
	}
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

// Fill fails the test where a lexer that one of lex makes reads other packets many at a
// time, up to 20, than one by one. What it reads is fewer than 200 bytes that random
// makes, for each of so many seeds. Before Fill every packet is dirty, before Next
// it is zero. place gives packets that Fill has read, the first of which lies at
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

// Same fails the test where p and q, which differ in what means nothing, differ in
// their text or bytes.
func Same[P comparable, PP packet[P]](tb testing.TB, p, q P) {
	tb.Helper()
	a, b := PP(&p), PP(&q)
	if p != q && (a.String() != b.String() || !bytes.Equal(a.AppendText(nil, nil), b.AppendText(nil, nil)) ||
		!bytes.Equal(a.Append(nil), b.Append(nil))) {
		tb.Fatalf("%+v: not the text or bytes of %+v", p, q)
	}
}

// FindSync fails the test where find does not find the first sync point: each of
// cases is bytes, from where they are searched, and where it lies; -1: nowhere.
func FindSync(t *testing.T, find func(buf []byte, from int) (off int, ok bool), cases []struct {
	Name, Buf  string
	From, Want int
}) {
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			off, ok := find([]byte(c.Buf), c.From)
			if ok != (c.Want >= 0) || ok && off != c.Want {
				t.Errorf("find(%x, %d) = %d, %v, want %d", c.Buf, c.From, off, ok, c.Want)
			}
		})
	}
}

// FindsOnly fails the test where find finds what is no sync point, or does not go
// on. Sync points begin with pattern.
func FindsOnly(tb testing.TB, buf []byte, pattern string, find func(buf []byte, from int) (off int, ok bool)) {
	tb.Helper()
	for from := 0; ; {
		off, ok := find(buf, from)
		if !ok {
			return
		}
		if off < from || !bytes.HasPrefix(buf[off:], []byte(pattern)) {
			tb.Fatalf("%x: the search from %d gives %d", buf, from, off)
		}
		from = off + 1
	}
}
