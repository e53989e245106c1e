package main

import (
	"bytes"
	"encoding/hex"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// scriptELF is the command "elf IN OUT": a program of x86. A line "code ADDR HEX" of IN is
// its code, "symbol ADDR SIZE NAME" a function. The code lies 4096 bytes into the file.
func scriptELF(ts *testscript.TestScript, _ bool, args []string) {
	number := func(s string, base int) uint64 {
		n, err := strconv.ParseUint(s, base, 64)
		ts.Check(err)
		return n
	}
	var addr uint64
	var code []byte
	syms, names := make([]byte, 24), []byte{0}
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		w := strings.Fields(line)
		switch {
		case len(w) > 2 && w[0] == "code":
			addr = number(w[1], 16)
			b, err := hex.DecodeString(strings.Join(w[2:], ""))
			ts.Check(err)
			code = b
		case len(w) == 4 && w[0] == "symbol":
			syms = fields(syms, uint32(len(names)), uint8(1<<4|2), uint8(0), uint16(1), number(w[1], 16), number(w[2], 10))
			names = append(append(names, w[3]...), 0)
		}
	}
	ts.Check(os.MkdirAll(filepath.Dir(ts.MkAbs(args[1])), 0o777))
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), elfFile(addr, code, syms, names), 0o666))
}

// elfFile makes an ELF file of code, symbols and their names (System V gABI), and of the
// sections .debug_abbrev, .debug_info and .debug_line, if they are given.
func elfFile(addr uint64, code, syms, names []byte, dwarf ...[]byte) []byte {
	const page, section = 4096, 64
	strings := []byte("\x00.text\x00.symtab\x00.strtab\x00.shstrtab\x00")
	dwarfNames := len(strings)
	strings = append(strings, ".debug_abbrev\x00.debug_info\x00.debug_line\x00"...)
	symsAt := uint64(page + len(code) + -len(code)&7)
	namesAt := symsAt + uint64(len(syms))
	stringsAt := namesAt + uint64(len(names))
	dwarfAt := stringsAt + uint64(len(strings))
	shoff := dwarfAt
	for _, d := range dwarf {
		shoff += uint64(len(d))
	}
	shoff = (shoff + 7) &^ 7
	b := fields([]byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"), uint16(2), uint16(62), uint32(1), addr, uint64(64), shoff,
		uint32(0), uint16(64), uint16(56), uint16(1), uint16(section), uint16(5+len(dwarf)), uint16(4),
		uint32(1), uint32(5), uint64(page), addr, addr, uint64(len(code)), uint64(len(code)), uint64(page))
	b = append(b, make([]byte, page-len(b))...)
	b = append(append(b, code...), make([]byte, -len(code)&7)...)
	b = append(append(append(b, syms...), names...), strings...)
	b = append(b, bytes.Join(dwarf, nil)...)
	b = append(b, make([]byte, shoff-uint64(len(b)))...)
	head := func(name, typ uint32, flags, at, off uint64, size int, link uint32, entry uint64) {
		b = fields(b, name, typ, flags, at, off, uint64(size), link, uint32(1), uint64(8), entry)
	}
	b = append(b, make([]byte, section)...)
	head(1, 1, 6, addr, page, len(code), 0, 0)
	head(7, 2, 0, 0, symsAt, len(syms), 3, 24)
	head(15, 3, 0, 0, namesAt, len(names), 0, 0)
	head(23, 3, 0, 0, stringsAt, len(strings), 0, 0)
	for i, d := range dwarf {
		head(uint32(dwarfNames+[]int{0, 14, 26}[i]), 1, 0, 0, dwarfAt, len(d), 0, 0)
		dwarfAt += uint64(len(d))
	}
	return b
}

// scriptDump is the command "jitdump IN OUT": a jitdump of process 10. A line "TIME ADDR
// NAME HEX" of IN is code that was made.
func scriptDump(ts *testscript.TestScript, _ bool, args []string) {
	b := fields(uint32(0x4A695444), uint32(1), uint32(40), uint32(62), uint32(0), uint32(10), uint64(1), uint64(0))
	index := uint64(0)
	for line := range strings.Lines(ts.ReadFile(args[0])) {
		w := strings.Fields(line)
		if len(w) < 4 {
			continue
		}
		time, err := strconv.ParseUint(w[0], 10, 64)
		ts.Check(err)
		addr, err := strconv.ParseUint(w[1], 16, 64)
		ts.Check(err)
		code, err := hex.DecodeString(strings.Join(w[3:], ""))
		ts.Check(err)
		index++
		body := fields(uint32(10), uint32(10), addr, addr, uint64(len(code)), index, append([]byte(w[2]), 0), code)
		b = fields(b, uint32(0), uint32(16+len(body)), time, body)
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[1]), b, 0o666))
}
