package tracetest

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

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
	if out := x.Reencode(t, format, buf); !bytes.Equal(out, buf) {
		t.Fatalf("%x comes back as %x", buf, out)
	}
	packettest.Retext[P, PP](t, buf, packettext.All(x.Lex(format, buf, 0).Next),
		func(p *P) (off, end int64) { return PP(p).End() - PP(p).Size(), PP(p).End() }, x.Codec(format))
	one, fills := x.Lex(format, buf, 7).(packettest.Lexer[P])
	if fills {
		many := x.Lex(format, buf, 7).(packettest.Lexer[P])
		if wrong := packettest.Fills(one, many, x.placer(t), slices.Repeat([]P{x.Dirty}, 1+len(buf)%20)); wrong != "" {
			t.Fatalf("%x: %s", buf, wrong)
		}
	}
	packettest.FindsOnly(t, buf, x.Sync, x.Find)
}

// Recorded fails the test where a recorded stream does not come back from its
// packets. It also does where what lies behind the first sync point does not come back
// from their text, unless codec is nil. lex reads the stream as it was configured. each
// is called with every packet behind that point.
func (x *Packets[P, PP]) Recorded(t *testing.T, s Stream, codec *packettext.Codec[P], lex func(buf []byte, base int64) Lexer[P], each func(p *P)) {
	t.Helper()
	one := *x
	one.Lex = func(_ int, buf []byte, base int64) Lexer[P] { return lex(buf, base) }
	if out := one.Reencode(t, 0, s.Buf); !bytes.Equal(out, s.Buf) {
		t.Errorf("%s: %d bytes come back as %d others", s.Name, len(s.Buf), len(out))
	}
	first, ok := x.Find(s.Buf, 0)
	if !ok {
		first = len(s.Buf)
	}
	var text []byte
	for p := range packettext.All(lex(s.Buf[first:], int64(first)).Next) {
		if each(&p); codec == nil {
			continue
		}
		end := PP(&p).End()
		text = append(PP(&p).AppendText(text, s.Buf[end-PP(&p).Size():end]), '\n')
	}
	if codec == nil {
		return
	}
	if out, err := codec.Assemble(nil, string(text)); err != nil || !bytes.Equal(out, s.Buf[first:]) {
		t.Errorf("%s: the text gives other bytes: %v", s.Name, err)
	}
}
