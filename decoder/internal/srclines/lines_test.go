package srclines

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
)

// sections makes DWARF 4 by hand: the function outer at 0x1000, 16 bytes long, with inner
// inlined at 0x1004. Lines 10, 20 and 11 of a.c are from 0x1000, 0x1004 and 0x1008 on.
func sections() map[string][]byte {
	le := binary.LittleEndian
	abbrev := []byte{
		1, 0x11, 1, 0x03, 0x08, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0, // compile unit: name, stmt_list, low_pc, high_pc
		2, 0x2e, 0, 0x03, 0x08, 0, 0, // subprogram, abstract: name
		3, 0x2e, 1, 0x03, 0x08, 0x11, 0x01, 0x12, 0x07, 0, 0, // subprogram: name, low_pc, high_pc
		4, 0x1d, 0, 0x31, 0x13, 0x11, 0x01, 0x12, 0x07, 0x58, 0x0b, 0x59, 0x0b, 0, 0, // inlined: origin, low_pc, high_pc, call_file, call_line
		0,
	}
	addr := func(b []byte, lo, n uint64) []byte { return le.AppendUint64(le.AppendUint64(b, lo), n) }
	body := []byte{4, 0, 0, 0, 0, 0, 8, 1, 'a', '.', 'c', 0, 0, 0, 0, 0}
	body = addr(body, 0x1000, 0x10)
	inner := uint32(4 + len(body))
	body = append(body, 2, 'i', 'n', 'n', 'e', 'r', 0)
	body = addr(append(body, 3, 'o', 'u', 't', 'e', 'r', 0), 0x1000, 0x10)
	body = append(addr(le.AppendUint32(append(body, 4), inner), 0x1004, 4), 1, 10)
	body = append(body, 0, 0)
	info := append(le.AppendUint32(nil, uint32(len(body))), body...)
	head := []byte{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0, 'a', '.', 'c', 0, 0, 0, 0, 0}
	program := le.AppendUint64([]byte{0, 9, 2}, 0x1000)
	program = append(program, 3, 9, 1, 2, 4, 3, 10, 1, 2, 4, 3, 0x77, 1, 2, 8, 0, 1, 1)
	line := append(le.AppendUint32([]byte{4, 0}, uint32(len(head))), append(head, program...)...)
	line = append(le.AppendUint32(nil, uint32(len(line))), line...)
	return map[string][]byte{"abbrev": abbrev, "info": info, "line": line}
}

// places renders what is known of an address.
func places(l *Lines, addr uint64) string {
	var list []string
	for _, f := range l.At(addr) {
		list = append(list, fmt.Sprintf("%s %s:%d", f.Func, f.File, f.Line))
	}
	return strings.Join(list, " < ")
}

// TestLines would catch a wrong line, and a function that was inlined and is left out or
// in the wrong order.
func TestLines(t *testing.T) {
	s := sections()
	l, err := New(func(name string) []byte { return s[name] }, binary.LittleEndian, 1)
	if err != nil {
		t.Fatal(err)
	}
	for addr, want := range map[uint64]string{
		0xfff: "", 0x1000: "outer a.c:10", 0x1003: "outer a.c:10", 0x1004: "inner a.c:20 < outer a.c:10",
		0x1008: "outer a.c:11", 0x100f: "outer a.c:11", 0x1010: "",
	} {
		if got := places(l, addr); got != want {
			t.Errorf("%#x: %q, want %q", addr, got, want)
		}
	}
}

// FuzzLines would catch DWARF that makes the reader panic.
func FuzzLines(f *testing.F) {
	s := sections()
	f.Add(s["abbrev"], s["info"], s["line"], uint64(0x1004))
	f.Fuzz(func(_ *testing.T, abbrev, info, line []byte, addr uint64) {
		s := map[string][]byte{"abbrev": abbrev, "info": info, "line": line, "str": line, "ranges": info, "addr": line, "rnglists": info}
		l, err := New(func(name string) []byte { return s[name] }, binary.LittleEndian, 1<<20)
		if err != nil {
			return
		}
		l.At(addr)
	})
}
