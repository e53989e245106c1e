package ptm

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// reencode gives the bytes of buf back from its packets: AppendPacket's, and
// those of Bad packets as they stand.
func reencode(t testing.TB, f Format, buf []byte) []byte {
	t.Helper()
	const base = 1 << 40 // offsets are the stream's, not the buffer's
	out := make([]byte, 0, len(buf))
	next := int64(base)
	for p := range NewLexer(f, buf, base).All() {
		if p.Off != next || p.Size() <= 0 || p.End() > base+int64(len(buf)) {
			t.Fatalf("+0x%x: %v: offset 0x%x, %d bytes, of a buffer that ends at 0x%x", next-base, p, p.Off-base, p.Size(), len(buf))
		}
		next = p.End()
		n := len(out)
		if p.Kind == Bad {
			out = append(out, buf[p.Off-base:p.End()-base]...)
			continue
		}
		out = AppendPacket(out, p)
		if !bytes.Equal(out[n:], buf[p.Off-base:p.End()-base]) {
			t.Fatalf("+0x%x: %v: bytes %x, want %x", p.Off-base, p, out[n:], buf[p.Off-base:p.End()-base])
		}
	}
	return out
}

// dataFile returns a file of the recordings, or skips the test.
func dataFile(t testing.TB, name ...string) []byte {
	t.Helper()
	dir := os.Getenv("PTDECODE_DATA")
	if dir == "" {
		t.Skip("PTDECODE_DATA is not set: no recordings")
	}
	buf, err := os.ReadFile(filepath.Join(append([]string{dir}, name...)...))
	if err != nil {
		t.Fatal(err)
	}
	return buf
}

// Catches a search that misses an A-sync at either end, returns one cut short,
// or takes zeros before it for its own.
func TestFindSync(t *testing.T) {
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
		{"from-below", async, -5, 0},
		{"from-beyond", async, 17, -1},
		{"four-zeros", "\x01" + async[1:], 0, -1},
		{"payload-ends-alike", "\x6e\x00\x00\x00\x00" + async, 0, 5},
		{"80-before", "\x80\x80" + async, 0, 2},
		{"two", async + async, 1, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			off, ok := FindSync([]byte(c.buf), c.from)
			if ok != (c.want >= 0) || ok && off != c.want {
				t.Errorf("FindSync(%x, %d) = %d, %v, want %d", c.buf, c.from, off, ok, c.want)
			}
		})
	}
}

// Catches an allocation in Reset or Next.
func TestLexerAllocatesNothing(t *testing.T) {
	buf := dataFile(t, "coresight", "snapshots", "tc2-ptm-rstk-t32", "PTM_0_2.bin")
	l := NewLexer(Format{}, nil, 0)
	var p Packet
	if n := testing.AllocsPerRun(3, func() {
		for l.Reset(buf, 0); l.Next(&p); {
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// BenchmarkLexer reads the packets of a real stream.
func BenchmarkLexer(b *testing.B) {
	buf := dataFile(b, "coresight", "snapshots", "tc2-ptm-rstk-t32", "PTM_0_2.bin")
	b.SetBytes(int64(len(buf)))
	l := NewLexer(Format{}, nil, 0)
	var q [256]Packet
	for b.Loop() {
		for l.Reset(buf, 0); l.Fill(q[:]) == len(q); {
		}
	}
}
