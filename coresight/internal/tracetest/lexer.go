package tracetest

import (
	"bytes"
	"iter"
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
