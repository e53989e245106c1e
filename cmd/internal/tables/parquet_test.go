package tables

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestRuns would catch numbers that are packed otherwise than Encodings.md has it ("Run Length
// Encoding / Bit-Packing Hybrid"). A run begins with twice its length, or with twice its eights and
// one. It would also catch runs that are lost, or that begin in the
// middle of eight.
func TestRuns(t *testing.T) {
	for _, x := range []struct {
		distinct int
		ids      []uint16
		want     []byte
	}{
		{8, []uint16{0, 1, 2, 3, 4, 5, 6, 7}, []byte{8, 1<<1 | 1, 0, 1, 2, 3, 4, 5, 6, 7}},
		{2, []uint16{1}, []byte{8, 3, 1, 0, 0, 0, 0, 0, 0, 0}},
		{1, []uint16{0}, []byte{8, 3, 0, 0, 0, 0, 0, 0, 0, 0}},
		{257, slices.Repeat([]uint16{256}, 100), []byte{16, 200, 1, 0, 1}},
		{256, append([]uint16{1}, slices.Repeat([]uint16{0}, 16)...), []byte{8, 3, 1, 0, 0, 0, 0, 0, 0, 0, 9 << 1, 0}},
		{1000, append(slices.Repeat([]uint16{7}, 8), 999), []byte{16, 16, 7, 0, 3, 0xe7, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}},
	} {
		b := bytes.Repeat([]byte{0xee}, 64)[:0] // what lies there is not what is packed
		c := column{kind: Int, numbers: make([]uint64, x.distinct)}
		for row, id := range x.ids {
			c.changed(row, uint32(id))
		}
		if got, _ := c.runs(b, nil, len(x.ids)); !bytes.Equal(got, x.want) {
			t.Errorf("%d of %d: got %x, want %x", x.ids, x.distinct, got, x.want)
		}
	}
}

// TestColumn would catch a value that is given another one's number: by the hint that came
// with it, as the dictionary grows, or from the row group before.
func TestColumn(t *testing.T) {
	for _, text := range []bool{false, true} {
		var c column
		c.begin(map[bool]Kind{true: Text, false: Int}[text])
		for range 2 {
			var want []Value
			for i := range 3000 {
				n := uint64(i*i%1009) << (i % 2 * 40)
				if i%7 == 0 {
					n = ^uint64(0)
				}
				v := Value{N: n}
				if text {
					v = Value{N: n % 3, S: fmt.Sprint(n)}
					c.takeText(i, &v)
				} else {
					c.takeNumber(i, n)
				}
				want = append(want, v)
			}
			dict := c.dictionary(nil)
			var values []string
			for len(dict) > 0 {
				if text {
					n := binary.LittleEndian.Uint32(dict)
					values = append(values, string(dict[4:4+n]))
					dict = dict[4+n:]
				} else {
					values = append(values, fmt.Sprint(binary.LittleEndian.Uint64(dict)))
					dict = dict[8:]
				}
			}
			if len(values) != c.distinct() {
				t.Fatalf("%d values, %d in the dictionary", c.distinct(), len(values))
			}
			page, _ := c.runs(nil, nil, len(want))
			ids := readNumbers(t, page, len(want))
			for i, v := range want {
				if !text {
					v.S = fmt.Sprint(v.N)
				}
				if got := values[ids[i]]; got != v.S {
					t.Fatalf("row %d: %s, want %s", i, got, v.S)
				}
			}
			c.forget()
		}
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
	p, err := NewParquet(dir, every(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := range rowsPerGroup + 1 {
		if err := p.Row(tableSymbols, []Value{{N: uint64(i)}, {N: 1}, {S: "a"}, {}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.Close(nil); err != nil {
		t.Fatal(err)
	}
	if got := p.(*parquet).tables[tableSymbols]; len(got.groups) != 2 || got.total != rowsPerGroup+1 {
		t.Errorf("%d row groups with %d rows", len(got.groups), got.total)
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

// every returns all tables.
func every(t *testing.T) Choice {
	t.Helper()
	c, err := Choose("all")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestColumnUTF8 would catch a text that is no UTF-8, which readers of Parquet refuse.
func TestColumnUTF8(t *testing.T) {
	var c column
	c.begin(Text)
	c.takeText(0, &Value{S: "a\xffb"})
	if got := string(c.dictionary(nil)[4:]); got != "a\uFFFDb" {
		t.Errorf("%q", got)
	}
}

// TestKeyed would catch numbers of calls that are packed as others: in few bits, in runs that end anywhere, or where a page is
// no multiple of eight. It would catch a run written over numbers that are not read yet, and runs that save nothing.
func TestKeyed(t *testing.T) {
	r, all := rand.New(rand.NewPCG(5, 6)), new(numbers)
	for _, distinct := range []int{1, 2, 3, 4, 5, 16, 17, 256, 257, 1000} {
		for _, kind := range []string{"tight", "mixed", "tight and mixed", "neither"} {
			for range 60 {
				c := column{kind: Int, numbers: make([]uint64, distinct), key: new(key), ids: all, tight: strings.Contains(kind, "tight"), mixed: strings.Contains(kind, "mixed")}
				keys := distinct
				if c.mixed {
					keys = distinct + r.IntN(300)
				}
				for i := range keys {
					id := uint16(i % distinct)
					if c.mixed || distinct <= 16 {
						c.lut = append(c.lut, id)
					}
				}
				rows, alike := 1+r.IntN(3000), 1+r.IntN(40)
				for i := 0; i < rows; {
					id := uint16(r.IntN(keys))
					for n := 1 + r.IntN(alike); n > 0 && i < rows; n-- {
						c.ids[i] = id
						i++
					}
				}
				from := r.IntN(rows)
				got, _ := c.keyed([]byte{0xee}, nil, from, rows)
				if again, _ := c.keyed(bytes.Repeat([]byte{0xee}, 1<<13)[:1], nil, from, rows); !bytes.Equal(got, again) {
					t.Fatalf("%s: what lay there before is packed, too", kind)
				}
				most := 4 + (rows-from+7)/8*8*widthOf(distinct)
				if len(got) > most {
					t.Fatalf("%s: %d numbers of %d take %d bytes, want %d at most", kind, rows-from, distinct, len(got), most)
				}
				if c.tight && (!c.mixed || distinct <= 16) && alike > 30 && rows-from > 1000 && len(got) > most*3/4 {
					t.Errorf("%s: %d numbers of %d, up to %d alike, take %d bytes", kind, rows-from, distinct, alike, len(got))
				}
				for i, id := range readNumbers(t, got[1:], rows-from) {
					want := c.ids[from+i]
					if len(c.lut) > 0 {
						want = c.lut[want]
					}
					if id != uint64(want) {
						t.Fatalf("%s: number %d of %d, of %d: %d, want %d", kind, i, rows-from, distinct, id, want)
					}
				}
			}
		}
	}
	c := column{kind: Int, numbers: make([]uint64, 20), ids: all, tight: true}
	copy(all[:], append(slices.Repeat([]uint16{7}, 11), 1, 2, 3))
	if got, _ := c.keyed(nil, nil, 0, 14); !bytes.Equal(got, []byte{8, 22, 7, 3, 1, 2, 3, 0, 0, 0, 0, 0}) {
		t.Errorf("eleven alike and three others: %x", got)
	}
}
