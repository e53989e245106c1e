package srclines

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"runtime"
	"slices"
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

// sections5 makes DWARF 5 by hand of a unit that was compiled in dir. Its lines are those of
// file 1, of 16 bytes at 0x1000. Directories and files are as a line table has them.
func sections5(dir string, dirs []string, files []named) map[string][]byte {
	le := binary.LittleEndian
	abbrev := []byte{1, 0x11, 0, 0x1b, 0x08, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0, 0} // compile unit: comp_dir, stmt_list, low_pc, high_pc
	body := append([]byte{5, 0, 1, 8, 0, 0, 0, 0, 1}, dir...)
	body = le.AppendUint64(le.AppendUint64(append(body, 0, 0, 0, 0, 0), 0x1000), 0x10)
	lineStr := []byte{0}
	head := []byte{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 1, contentPath, formLineStrp, byte(len(dirs))}
	for _, d := range dirs {
		head = le.AppendUint32(head, uint32(len(lineStr)))
		lineStr = append(append(lineStr, d...), 0)
	}
	head = append(head, 3, contentPath, formString, contentDirectory, formUdata, 5, formData16, byte(len(files))) // 5: MD5
	for _, f := range files {
		head = append(append(head, f.name...), 0, byte(f.dir))
		head = append(head, make([]byte, 16)...)
	}
	program := append(le.AppendUint64([]byte{0, 9, 2}, 0x1000), 1, 2, 16, 0, 1, 1)
	line := append(le.AppendUint32([]byte{5, 0, 8, 0}, uint32(len(head))), append(head, program...)...)
	return map[string][]byte{
		"abbrev": abbrev, "info": append(le.AppendUint32(nil, uint32(len(body))), body...),
		"line": append(le.AppendUint32(nil, uint32(len(line))), line...), "line_str": lineStr,
	}
}

// TestDirectories would catch the name of a file of DWARF 5 that is not joined to the
// directories that it is relative to, or joined to one twice.
func TestDirectories(t *testing.T) {
	for _, x := range []struct {
		dir  string
		dirs []string
		file named
		want string
	}{
		{"/b/obj", []string{"/b/obj", "../src"}, named{"m.c", 1}, "/b/src/m.c"},
		{"/b/obj", []string{"/b/obj", "../src"}, named{"m.c", 0}, "/b/obj/m.c"},
		{"/b/obj", []string{"/b/obj"}, named{"../src/m.c", 0}, "/b/src/m.c"},
		{"/b/obj", []string{"/b/obj", "/usr/include"}, named{"stdio.h", 1}, "/usr/include/stdio.h"},
		{"/b/obj", []string{"/b/obj"}, named{"/b/src/../m.c", 0}, "/b/m.c"},      // as clang has it of a file with an absolute name
		{"./elf", []string{"./elf", "../elf"}, named{"rtld.c", 0}, "elf/rtld.c"}, // as -ffile-prefix-map makes it
		{"./elf", []string{"./elf", "../elf"}, named{"dynamic.h", 1}, "elf/dynamic.h"},
		{"/b/obj", []string{".", "sub"}, named{"m.c", 1}, "/b/obj/sub/m.c"},
		{"/b/obj", []string{"", "sub"}, named{"m.c", 1}, "/b/obj/sub/m.c"},
		{"", []string{"", "sub"}, named{"m.c", 1}, "sub/m.c"},
		{"", []string{"/b/obj", "sub"}, named{"m.c", 1}, "/b/obj/sub/m.c"},
		{`C:\b\obj`, []string{`C:\b\obj`, `src`}, named{"m.c", 1}, `C:\b\obj\src\m.c`},
		{`C:/b/obj`, []string{`C:/b/obj`, `D:/inc`}, named{"x.h", 1}, `D:/inc/x.h`},
		{`C:\b\obj`, []string{`C:\b\obj`}, named{`\\host\inc\x.h`, 0}, `\\host\inc\x.h`},
	} {
		s := sections5(x.dir, x.dirs, []named{{"other.c", 0}, x.file})
		l, err := New(func(name string) []byte { return s[name] }, binary.LittleEndian, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := places(l, 0x1000), " "+x.want+":1"; got != want {
			t.Errorf("%+v: %q, want %q", x, got, want)
		}
	}
}

// TestCutHeader would catch a header of a line table that holds less than it promises, and
// is believed: package dwarf makes room for as many directories as it promises.
func TestCutHeader(t *testing.T) {
	s := sections5("/b", []string{"/b", "src"}, []named{{"m.c", 1}, {"m.c", 1}})
	at := bytes.Index(s["line"], []byte{contentPath, formLineStrp, 2}) + 2
	if at < 2 {
		t.Fatal("no directories in the line table")
	}
	line := slices.Concat(s["line"][:at], []byte{0xff, 0xff, 0x3f}, s["line"][at+1:])
	binary.LittleEndian.PutUint32(line, uint32(len(line)-4))
	s["line"] = line
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l, err := New(func(name string) []byte { return s[name] }, binary.LittleEndian, 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := places(l, 0x1000); got != "" {
		t.Error(got)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
		t.Errorf("%d bytes taken for a table of %d", n, len(line))
	}
	if _, err := (&Lines{order: binary.LittleEndian, line: s["line"][:at]}).fileNames(0, "/b"); err == nil {
		t.Error("a header that is cut is believed")
	}
}

// FuzzLines would catch DWARF that makes the reader panic.
func FuzzLines(f *testing.F) {
	s := sections()
	f.Add(s["abbrev"], s["info"], s["line"], uint64(0x1004))
	s = sections5("/b/obj", []string{"/b/obj", "../src"}, []named{{"m.c", 1}, {"m.c", 1}})
	f.Add(s["abbrev"], s["info"], s["line"], uint64(0x1004))
	f.Fuzz(func(_ *testing.T, abbrev, info, line []byte, addr uint64) {
		s := map[string][]byte{"abbrev": abbrev, "info": info, "line": line, "str": line, "ranges": info, "addr": line, "rnglists": info, "line_str": info}
		l, err := New(func(name string) []byte { return s[name] }, binary.LittleEndian, 1<<20)
		if err != nil {
			return
		}
		l.At(addr)
	})
}
