package tables

import (
	"encoding/binary"
	"os"
	"strconv"
	"testing"

	"github.com/klauspost/compress/s2"
	"github.com/klauspost/compress/zstd"
)

// item is what a field of Thrift's compact protocol holds: a number, text, or fields by their
// numbers. Elements of a list count from 0.
type item struct {
	n     int64
	text  string
	under map[int]item
}

// readItem reads what a field of a kind holds, and returns what lies behind.
func readItem(b []byte, kind int) (x item, rest []byte) {
	switch kind {
	case typeFalse:
	case typeI32, typeI64:
		n, k := binary.Varint(b)
		return item{n: n}, b[k:]
	case typeBinary:
		n, k := binary.Uvarint(b)
		return item{text: string(b[k : k+int(n)])}, b[k+int(n):]
	case typeList:
		n, kind := int(b[0]>>4), int(b[0]&15)
		if b = b[1:]; n == 15 {
			long, k := binary.Uvarint(b)
			n, b = int(long), b[k:]
		}
		x.under = map[int]item{}
		for i := range n {
			x.under[i], b = readItem(b, kind)
		}
	case typeStruct:
		x.under = map[int]item{}
		at := 0
		for b[0] != 0 {
			at += int(b[0] >> 4)
			x.under[at], b = readItem(b[1:], int(b[0]&15))
		}
		b = b[1:]
	}
	return x, b
}

// readColumns reads a file of Parquet as this package writes them: the values of each column as CSV
// has them.
func readColumns(t *testing.T, path string, table int) [][]string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	n := len(b) - 8
	meta, _ := readItem(b[n-int(binary.LittleEndian.Uint32(b[n:])):], typeStruct)
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	page := func(at, codec int64) (head item, data []byte, end int64) {
		head, rest := readItem(b[at:], typeStruct)
		end = int64(len(b)-len(rest)) + head.under[3].n
		if codec == codecNone {
			return head, rest[:head.under[3].n], end
		}
		unpack := func(b []byte) ([]byte, error) { return z.DecodeAll(b, nil) }
		if codec == codecSnappy {
			unpack = func(b []byte) ([]byte, error) { return s2.Decode(nil, b) }
		}
		data, err := unpack(rest[:head.under[3].n])
		if err != nil || len(data) != int(head.under[2].n) {
			t.Fatalf("%s: a page at %d: %d bytes, want %d: %v", path, at, len(data), head.under[2].n, err)
		}
		return head, data, end
	}
	columns := make([][]string, len(Tables[table].Columns))
	rows := int64(0)
	for g := range len(meta.under[4].under) {
		group := meta.under[4].under[g]
		rows += group.under[3].n
		for i := range columns {
			x := group.under[1].under[i].under[3]
			if x.under[2].under[0].n == encodingDelta {
				head, data, _ := page(x.under[9].n, x.under[4].n)
				if from, ok := x.under[11]; ok || head.under[5].under[2].n != encodingDelta {
					t.Errorf("%s: %s has a dictionary at %d", path, Tables[table].Columns[i].Name, from.n)
				}
				for _, n := range readDeltas(t, data, int(head.under[5].under[1].n)) {
					columns[i] = append(columns[i], strconv.FormatInt(n, 10))
				}
				continue
			}
			_, data, at := page(x.under[11].n, x.under[4].n)
			values := readDictionary(data, Tables[table].Columns[i].Kind)
			if seen := map[string]bool{}; true {
				for _, v := range values {
					if seen[v] {
						t.Errorf("%s: %s is in the dictionary twice", path, v)
					}
					seen[v] = true
				}
			}
			if at != x.under[9].n {
				t.Errorf("%s: data of %s begins at %d, want %d", path, Tables[table].Columns[i].Name, x.under[9].n, at)
			}
			for until := x.under[11].n + x.under[7].n; at < until; {
				head, data, end := page(at, x.under[4].n)
				for _, id := range readNumbers(t, data, int(head.under[5].under[1].n)) {
					columns[i] = append(columns[i], values[id])
				}
				at = end
			}
		}
	}
	for i := range columns {
		if len(columns[i]) != int(rows) || rows != meta.under[3].n {
			t.Errorf("%s: %d rows, %d by its groups, %d by its footer", path, len(columns[i]), rows, meta.under[3].n)
		}
	}
	return columns
}

// readDictionary reads a dictionary's page.
func readDictionary(b []byte, kind Kind) (values []string) {
	for len(b) > 0 {
		if kind == Text {
			n := binary.LittleEndian.Uint32(b)
			values, b = append(values, string(b[4:4+n])), b[4+n:]
			continue
		}
		n := binary.LittleEndian.Uint64(b)
		if b = b[8:]; kind == Addr {
			values = append(values, "0x"+strconv.FormatUint(n, 16))
		} else {
			values = append(values, strconv.FormatInt(int64(n), 10))
		}
	}
	return values
}

// readNumbers reads n numbers by RLE_DICTIONARY, of any width.
func readNumbers(t *testing.T, b []byte, n int) (ids []uint64) {
	t.Helper()
	width := int(b[0])
	for b = b[1:]; len(ids) < n; {
		head, k := binary.Uvarint(b)
		b = b[k:]
		if head&1 == 0 {
			var v [8]byte
			size := (width + 7) / 8
			copy(v[:], b[:size])
			ids = append(ids, repeated(binary.LittleEndian.Uint64(v[:]), int(head>>1))...)
			b = b[size:]
			continue
		}
		size := int(head>>1) * width
		for i := range int(head>>1) * 8 {
			v := uint64(0)
			for bit := range width {
				at := i*width + bit
				v |= uint64(b[at/8]>>(at%8)&1) << bit
			}
			ids = append(ids, v)
		}
		b = b[size:]
	}
	if len(b) > 0 || len(ids) >= n+8 {
		t.Errorf("%d numbers and %d bytes more than the %d that the page has", len(ids)-n, len(b), n)
	}
	return ids[:n]
}

// repeated returns n times v.
func repeated(v uint64, n int) (list []uint64) {
	for range n {
		list = append(list, v)
	}
	return list
}

// readDeltas reads n numbers by DELTA_BINARY_PACKED, of any block.
func readDeltas(t *testing.T, b []byte, n int) (list []int64) {
	t.Helper()
	number := func() int {
		v, k := binary.Uvarint(b)
		b = b[k:]
		return int(v)
	}
	signed := func() int64 {
		v, k := binary.Varint(b)
		b = b[k:]
		return v
	}
	block, parts, all := number(), number(), number()
	list = append(list, signed())
	if all != n || block%128 != 0 || block/parts%32 != 0 {
		t.Errorf("%d numbers, want %d; blocks of %d in %d parts", all, n, block, parts)
	}
	for len(list) < n {
		least, widths := signed(), b[:parts]
		b = b[parts:]
		for _, w := range widths {
			if w > 0 && len(list) >= n {
				t.Errorf("a part behind the last number has %d bits", w)
			}
			for i := range block / parts {
				d := uint64(0)
				for bit := range int(w) {
					at := i*int(w) + bit
					d |= uint64(b[at/8]>>(at%8)&1) << bit
				}
				if len(list) < n {
					list = append(list, list[len(list)-1]+least+int64(d))
				}
			}
			b = b[block/parts*int(w)/8:]
		}
	}
	if len(b) > 0 {
		t.Errorf("%d bytes behind %d numbers", len(b), n)
	}
	return list
}
