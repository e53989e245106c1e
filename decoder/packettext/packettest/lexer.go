package packettest

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// Sequences fails the test where random packets in a row do not come back from their
// bytes, or the bytes not from the packets' text. build makes such packets, as the
// lexer gives them, and their bytes. It is asked for one format after the other.
func (x *Packets[P, PP]) Sequences(t *testing.T, build func(r *rand.Rand, format int) (list []P, raw []byte)) {
	t.Helper()
	r := rand.New(rand.NewPCG(1, 2))
	var text []byte
	for round := range testsize.Of(t, x.Rounds[0], x.Rounds[1]) {
		format := round % x.Formats
		list, raw := build(r, format)
		i := 0
		for p := range packettext.All(x.Lex(format, raw, 0).Next) {
			if i >= len(list) || p != list[i] {
				t.Fatalf("sequence %d, %x: packet %d is\n%+v, want\n%+v", round, raw, i, p, list[min(i, len(list)-1)])
			}
			i++
		}
		if i != len(list) {
			t.Fatalf("sequence %d, %x: %d packets, want %d", round, raw, i, len(list))
		}
		if round/x.Formats%4 != 0 {
			continue // text is slow, and has the cases
		}
		text = text[:0]
		for i := range list {
			text = append(PP(&list[i]).AppendText(text, nil), '\n')
		}
		if back, err := x.Codec(format).Assemble(nil, string(text)); err != nil || !bytes.Equal(back, raw) {
			t.Fatalf("sequence %d: %s gives %x, %v, want %x", round, text, back, err, raw)
		}
	}
}

// twelve is twelve packets in a row, and their bytes.
func (x *Packets[P, PP]) twelve(r *rand.Rand, format int) (list []P, raw []byte) {
	for range 12 {
		p := x.Random(r, format)
		off := len(raw)
		raw = PP(&p).Append(raw)
		x.Put(&p, int64(off), len(raw)-off)
		list = append(list, p)
	}
	return list, raw
}

// randomBytes fails the test where random bytes, with heads among them, do not come
// back.
func (x *Packets[P, PP]) randomBytes(t *testing.T) {
	heads := append(x.Heads[:len(x.Heads):len(x.Heads)], x.Sync)
	r := rand.New(rand.NewPCG(3, 4))
	for round := range testsize.Of(t, 10_000, 200_000) {
		buf := make([]byte, 0, 64)
		for len(buf) < 40 {
			if r.IntN(2) == 0 {
				buf = append(buf, heads[r.IntN(len(heads))]...)
			}
			for range r.IntN(8) {
				buf = append(buf, byte(r.Uint32()))
			}
		}
		x.ComesBack(t, round%x.Formats, buf)
	}
}

// ComesBack fails the test where the encoder makes other bytes of the packets of buf
// than buf. Those that are bad hold no bytes: the buffer's stand in for them. It also
// fails where packets do not follow each other without a hole.
func (x *Packets[P, PP]) ComesBack(tb testing.TB, format int, buf []byte) {
	tb.Helper()
	const base = 1 << 40 // offsets are the stream's, not the buffer's
	next := int64(base)
	var back []byte
	for p := range packettext.All(x.Lex(format, buf, base).Next) {
		off, end := PP(&p).End()-PP(&p).Size(), PP(&p).End()
		if off != next || end <= off || end > base+int64(len(buf)) {
			tb.Fatalf("+0x%x: %+v: from 0x%x to 0x%x, of a buffer that ends at 0x%x", next-base, p, off-base, end-base, len(buf))
		}
		next = end
		if x.Kind(&p) == 0 {
			continue
		}
		raw := buf[off-base : end-base]
		if back = PP(&p).Append(back[:0]); !bytes.Equal(back, raw) {
			tb.Fatalf("+0x%x: %+v: bytes %x, want %x", off-base, p, back, raw)
		}
	}
	if next != base+int64(len(buf)) {
		tb.Fatalf("packets end at 0x%x of 0x%x", next-base, len(buf))
	}
}

// TextComesBack fails the test where the text of the packets of buf does not give buf.
func (x *Packets[P, PP]) TextComesBack(tb testing.TB, format int, buf []byte) {
	tb.Helper()
	x.textComesBack(tb, x.Codec(format), x.Lex(format, buf, 0), buf, 0, func(*P) {})
}

// textComesBack is TextComesBack for the packets that lex gives of buf, whose first byte
// lies at base. each is called with every packet.
func (x *Packets[P, PP]) textComesBack(tb testing.TB, codec *packettext.Codec[P], lex Lexer[P], buf []byte, base int64, each func(p *P)) {
	tb.Helper()
	var text []byte
	for p := range packettext.All(lex.Next) {
		each(&p)
		off, end := PP(&p).End()-PP(&p).Size(), PP(&p).End()
		if x.Off != nil {
			off = x.Off(&p)
		}
		text = append(PP(&p).AppendText(text, buf[off-base:end-base]), '\n')
	}
	if out, err := codec.Assemble(nil, string(text)); err != nil || !bytes.Equal(out, buf) {
		tb.Fatalf("%.200x: text %.2000s gives %.200x, %v", buf, text, out, err)
	}
}

// Recorded fails the test where a recorded stream, buf, does not come back from its
// packets. It also does where what lies behind the first sync point does not come back
// from their text, unless codec is nil. lex reads the stream as it was configured. each
// is called with every packet behind that point.
func (x *Packets[P, PP]) Recorded(t *testing.T, buf []byte, codec *packettext.Codec[P], lex func(buf []byte, base int64) Lexer[P], each func(p *P)) {
	t.Helper()
	one := *x
	one.Lex = func(_ int, buf []byte, base int64) Lexer[P] { return lex(buf, base) }
	one.ComesBack(t, 0, buf)
	first, ok := x.Find(buf, 0)
	if !ok {
		first = len(buf)
	}
	behind := lex(buf[first:], int64(first))
	if codec == nil {
		for p := range packettext.All(behind.Next) {
			each(&p)
		}
		return
	}
	x.textComesBack(t, codec, behind, buf[first:], int64(first), each)
}

// Fuzz reads any bytes in any format. The seeds are the bytes of the cases with what
// follows them, each in its unit's format or, where it names none, in all.
func (x *Packets[P, PP]) Fuzz(f *testing.F) {
	f.Helper()
	for _, c := range x.Cases(f) {
		for format := range x.Formats {
			if x.Unit == nil || format == x.formatOf(f, &c) {
				f.Add(uint8(format), slices.Concat(c.Bytes, c.Rest))
			}
		}
	}
	f.Fuzz(func(t *testing.T, format uint8, buf []byte) { x.check(t, int(format)%x.Formats, buf) })
}

// check fails the test where the packets of buf, or their text, are not buf. It also
// does where many at a time are others than one by one, and where a sync point is
// found that is none.
func (x *Packets[P, PP]) check(t *testing.T, format int, buf []byte) {
	t.Helper()
	x.ComesBack(t, format, buf)
	x.TextComesBack(t, format, buf)
	if _, fills := x.Lex(format, buf, 7).(filler[P]); fills {
		if wrong := x.filled(t, format, buf, 1+len(buf)%20); wrong != "" {
			t.Fatalf("%x: %s", buf, wrong)
		}
	}
	x.findsOnly(t, buf)
}

// filler is a Lexer that gives many packets at a time.
type filler[P any] interface {
	Lexer[P]
	// Fill reads packets into q until it is full or behind the last, and returns
	// how many. They lack what PlaceAt gives them, if packets have that.
	Fill(q []P) int
	// Off returns where the next packet lies in its stream, bytes.
	Off() int64
}

// fill fails the test where a lexer reads other packets many at a time, up to 20, than
// one by one. What it reads is fewer than 200 bytes.
func (x *Packets[P, PP]) fill(t *testing.T) {
	for format := range x.Formats {
		for seed := range uint64(1000) {
			r := rand.New(rand.NewPCG(seed, 4))
			buf := make([]byte, r.IntN(200))
			for i := range buf {
				buf[i] = x.Bytes(r)
			}
			if wrong := x.filled(t, format, buf, 1+r.IntN(20)); wrong != "" {
				t.Fatalf("seed %d, format %d: %s, of % x", seed, format, wrong, buf)
			}
		}
	}
}

// filled says where a lexer's Fill gives others than another one's Next, with as many
// packets at a time as room. Before Fill every packet is dirty, before Next it is zero.
func (x *Packets[P, PP]) filled(tb testing.TB, format int, buf []byte, room int) (wrong string) {
	one, many := x.Lex(format, buf, 7), x.Lex(format, buf, 7).(filler[P])
	q := make([]P, room)
	for {
		for i := range q {
			q[i] = x.Dirty
		}
		off := many.Off()
		n := many.Fill(q)
		x.place(tb, q[:n], off)
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

// place gives packets that Fill has read the rest of their fields. What it clears must
// not show in their text or bytes.
func (x *Packets[P, PP]) place(tb testing.TB, q []P, off int64) {
	for i := range q {
		if p, ok := any(&q[i]).(interface{ PlaceAt(off int64) (end int64) }); ok {
			off = p.PlaceAt(off)
		}
		p := q[i]
		x.Tidy(&p)
		a, b := PP(&q[i]), PP(&p)
		if p != q[i] && (a.String() != b.String() || !bytes.Equal(a.AppendText(nil, nil), b.AppendText(nil, nil)) ||
			!bytes.Equal(a.Append(nil), b.Append(nil))) {
			tb.Fatalf("%+v: not the text or bytes of %+v", q[i], p)
		}
		q[i] = p
	}
}

// FindSync fails the test where Find does not find the first sync point. It is asked for
// such as lie at either end, are cut short, or lie before or behind where the search
// begins. more are bytes of one protocol's, and where the first sync point lies in them; -1:
// nowhere. A search byte by byte must also find the same, in strings of what sync points
// consist of with a few other bytes between.
func (x *Packets[P, PP]) FindSync(t *testing.T, more map[string]int) {
	t.Helper()
	size := len(x.Sync)
	for _, c := range []struct {
		buf        string
		from, want int
	}{
		{"", 0, -1}, {x.Sync, 0, 0}, {x.Sync[:size-1], 0, -1}, {x.Sync, 1, -1}, {"\x12\x34" + x.Sync, 0, 2},
		{x.Sync, -9, 0}, {x.Sync, size + 1, -1}, {x.Sync + x.Sync, 1, size}, {x.Sync + "\x02\x23" + x.Sync, 1, size + 2},
	} {
		x.finds(t, []byte(c.buf), c.from, c.want)
	}
	for buf, want := range more {
		x.finds(t, []byte(buf), 0, want)
	}
	unit := x.Sync[:1] // which sync points repeat
	if x.Sync[1] != x.Sync[0] {
		unit = x.Sync[:2]
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 3_000 {
		var buf []byte
		for len(buf) < 70 {
			buf = append(buf, strings.Repeat(unit, r.IntN(3*size/2/len(unit)))...)
			buf = append(buf, [...]byte{x.Sync[0], x.Sync[size-1], 0, 1}[r.IntN(4)])
		}
		for from := range buf {
			want := bytes.Index(buf[from:], []byte(x.Sync))
			if want >= 0 { // of a longer run the end is the sync point
				for want += from; bytes.HasPrefix(buf[want+len(unit):], []byte(x.Sync)); {
					want += len(unit)
				}
			}
			x.finds(t, buf, from, want)
		}
	}
}

// finds fails the test where Find, from an offset in buf, does not find what lies at want.
func (x *Packets[P, PP]) finds(t *testing.T, buf []byte, from, want int) {
	t.Helper()
	if off, ok := x.Find(buf, from); ok != (want >= 0) || ok && off != want {
		t.Errorf("find(%x, %d) = %d, %v, want %d", buf, from, off, ok, want)
	}
}

// findsOnly fails the test where Find finds what is no sync point, or does not go on.
func (x *Packets[P, PP]) findsOnly(tb testing.TB, buf []byte) {
	tb.Helper()
	for from := 0; ; {
		off, ok := x.Find(buf, from)
		if !ok {
			return
		}
		if off < from || !bytes.HasPrefix(buf[off:], []byte(x.Sync)) {
			tb.Fatalf("%x: the search from %d gives %d", buf, from, off)
		}
		from = off + 1
	}
}
