package jit

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// record makes a record of a jitdump.
func record(o binary.ByteOrder, id uint32, time uint64, body ...any) []byte {
	var b bytes.Buffer
	for _, x := range body {
		_ = binary.Write(&b, o, x)
	}
	var out bytes.Buffer
	_ = binary.Write(&out, o, id)
	_ = binary.Write(&out, o, uint32(16+b.Len()))
	_ = binary.Write(&out, o, time)
	return append(out.Bytes(), b.Bytes()...)
}

// dump makes a jitdump: code at 0x1000 with lines, moved to 0x2000, then other code at 0x1000.
func dump(o binary.ByteOrder) []byte {
	var b bytes.Buffer
	for _, x := range []any{uint32(magic), uint32(1), uint32(headerSize), uint32(62), uint32(0), uint32(7), uint64(0), uint64(1)} {
		_ = binary.Write(&b, o, x)
	}
	out := b.Bytes()
	out = append(out, record(o, recordDebug, 5, uint64(0x1000), uint64(2), uint64(0x1000), uint32(10), uint32(0), []byte("a.js\x00"), uint64(0x1002), uint32(11), uint32(0), []byte("\xff\x00"))...)
	out = append(out, record(o, recordLoad, 10, uint32(7), uint32(8), uint64(0x1000), uint64(0x1000), uint64(4), uint64(1), []byte("f\x00"), []byte{1, 2, 3, 4})...)
	out = append(out, record(o, recordMove, 20, uint32(7), uint32(8), uint64(0x2000), uint64(0x1000), uint64(0x2000), uint64(4), uint64(1))...)
	out = append(out, record(o, 77, 25, uint64(0))...) // a type of the future
	return append(out, record(o, recordLoad, 30, uint32(7), uint32(8), uint64(0x1000), uint64(0x1000), uint64(2), uint64(2), []byte("g\x00"), []byte{5, 6})...)
}

// TestParseDump would catch code of a jitdump at a wrong place, time or line, in either
// byte order, and records lost because one has an unknown type.
func TestParseDump(t *testing.T) {
	for _, o := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		data := dump(o)
		d, err := ParseDump(data, "d")
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Codes) != 3 || !d.TSC || d.PID != 7 || d.Cut != nil {
			t.Fatalf("%+v", d)
		}
		for i, want := range []struct {
			time, addr uint64
			name       string
			code       []byte
		}{{10, 0x1000, "f", []byte{1, 2, 3, 4}}, {20, 0x2000, "f", []byte{1, 2, 3, 4}}, {30, 0x1000, "g", []byte{5, 6}}} {
			c := &d.Codes[i]
			if c.Time != want.time || c.Addr != want.addr || c.Name != want.name || !bytes.Equal(data[c.Off:c.Off+c.Len], want.code) {
				t.Errorf("%v: code %d: %+v, want %+v", o, i, c, want)
			}
		}
		if l, ok := d.Codes[1].LineAt(3); !ok || l.File != "a.js" || l.Line != 11 {
			t.Errorf("%v: line of moved code: %+v", o, l)
		}
		for _, c := range []struct{ bytes, codes, known uint64 }{{1, 2, 30}, {44, 2, 30}, {45, 2, 25}, {59, 2, 25}} { // the header is there, or not
			cut, err := ParseDump(data[:uint64(len(data))-c.bytes], "d")
			if err != nil || uint64(len(cut.Codes)) != c.codes || cut.Cut == nil || cut.Cut.Off != int64(len(data))-60 || cut.Known != c.known {
				t.Errorf("%v: %d bytes cut off: %+v, %v", o, c.bytes, cut, err)
			}
		}
	}
}

// TestMap would catch a name of another address, and one of several that is left out.
func TestMap(t *testing.T) {
	m := ParseMap([]byte("1000 10 one\nbad line\n1008 4 two words\n0x2000 0x10 three\n1000 10 four\nffffffffffffffff 10 five\n"))
	for addr, want := range map[uint64]string{0xfff: "", 0x1000: "four|one", 0x1009: "four|two words|one", 0x100c: "four|one", 0x1010: "", 0x200f: "three"} {
		if name, _, _ := m.Lookup(addr); name != want {
			t.Errorf("%#x: %q, want %q", addr, name, want)
		}
	}
}

// FuzzDump would catch a jitdump that makes the reader panic, or tell of code outside of the file.
func FuzzDump(f *testing.F) {
	f.Add(dump(binary.LittleEndian))
	f.Add(dump(binary.BigEndian))
	f.Fuzz(func(t *testing.T, data []byte) {
		d, err := ParseDump(data, "d")
		if err != nil {
			return
		}
		for i := range d.Codes {
			if c := &d.Codes[i]; c.Off > uint64(len(data)) || c.Len > uint64(len(data))-c.Off {
				t.Fatalf("code %d: %+v of %d bytes", i, c, len(data))
			}
		}
	})
}

// FuzzMap would catch a perf-PID.map that makes the reader panic.
func FuzzMap(f *testing.F) {
	f.Add([]byte("1000 10 one\n1008 4 two\n"), uint64(0x1008))
	f.Fuzz(func(t *testing.T, data []byte, addr uint64) {
		if name, _, ok := ParseMap(data).Lookup(addr); ok && name == "" {
			t.Error("a name without letters")
		}
	})
}
