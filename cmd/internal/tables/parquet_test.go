package tables

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// TestPackedNumbers would catch numbers that are packed in another order of bits. The example
// is that of Encodings.md, "Run Length Encoding / Bit-Packing Hybrid": 0 to 7 by three bits.
func TestPackedNumbers(t *testing.T) {
	got := packedNumbers([]uint64{0, 1, 2, 3, 4, 5, 6, 7}, 3)
	if want := []byte{3, 1<<1 | 1, 0b10001000, 0b11000110, 0b11111010}; !bytes.Equal(got, want) {
		t.Errorf("got %08b, want %08b", got, want)
	}
	if got := packedNumbers([]uint64{1}, 1); !bytes.Equal(got, []byte{1, 3, 1}) {
		t.Errorf("got %v", got)
	}
}

// TestThrift would catch metadata that is not in the compact protocol: field numbers count
// from the field before, numbers are zigzag, long lists state their length behind.
func TestThrift(t *testing.T) {
	var m thrift
	m.number(1, typeI32, 2)
	m.begin(3)
	m.text(4, "ab")
	m.stop()
	m.list(5, typeI32, 15)
	m.field(6, typeFalse)
	m.number(7, typeI64, -1)
	m.stop()
	want := []byte{0x15, 4, 0x2c, 0x48, 2, 'a', 'b', 0, 0x29, 0xf5, 15, 0x12, 0x16, 1, 0}
	if !bytes.Equal(m.b, want) {
		t.Errorf("got %x, want %x", m.b, want)
	}
}

// TestFiles would catch a file that lacks its magic or its footer, and rows that are lost at
// the end of a row group. It would catch files that stay under a temporary name.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	p, err := NewParquet(dir)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rowsPerGroup + 1 {
		if err := p.Row(tableSymbols, []Value{{N: uint64(i)}, {N: 1}, {S: "a"}, {}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := p.(*parquet).tables[tableSymbols].count; got != 1 {
		t.Errorf("%d row groups before the end, want 1", got)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if got := p.(*parquet).tables[tableSymbols]; got.count != 2 || got.total != rowsPerGroup+1 {
		t.Errorf("%d row groups with %d rows", got.count, got.total)
	}
	list, _ := os.ReadDir(dir)
	if len(list) != len(Tables) {
		t.Errorf("%d files, want %d", len(list), len(Tables))
	}
	for _, x := range Tables {
		b, err := os.ReadFile(filepath.Join(dir, x.Name+".parquet"))
		if err != nil {
			t.Fatal(err)
		}
		n := len(b) - 8
		if string(b[:4]) != parquetMagic || string(b[n+4:]) != parquetMagic || int(binary.LittleEndian.Uint32(b[n:])) > n-4 {
			t.Errorf("%s: it begins with %q and ends with %q", x.Name, b[:4], b[n:])
		}
	}
}

// TestQuoted would catch text that breaks a line of CSV.
func TestQuoted(t *testing.T) {
	for s, want := range map[string]string{"": "", "a b": "a b", "a,b": `"a,b"`, `a"b`: `"a""b"`, "a\nb": "\"a\nb\""} {
		if got := string(quoted(nil, s)); got != want {
			t.Errorf("%q: %s, want %s", s, got, want)
		}
	}
}
