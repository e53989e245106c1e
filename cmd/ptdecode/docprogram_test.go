package main

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/pt"
)

// docSource is the program of prog.tar.zst. Line 6 is never executed.
const docSource = `_start:	mov $3, %ecx
1:	dec %ecx
	jnz 1b
	call leaf
	syscall
	nop
leaf:	ret
`

// docProgram makes the recording prog.tar.zst of docSource, and prog.s.
func docProgram(t *testing.T) {
	t.Helper()
	check := must(t)
	const base, leaf = 0x401000, 0x11
	code, err := hex.DecodeString("b903000000" + "ffc9" + "75fc" + "e803000000" + "0f05" + "90" + "c3")
	check(err)
	syms, names := make([]byte, 24), []byte("\x00_start\x00leaf\x00")
	syms = fields(syms, uint32(1), uint8(1<<4|2), uint8(0), uint16(1), uint64(base), uint64(leaf))
	syms = fields(syms, uint32(8), uint8(1<<4|2), uint8(0), uint16(1), uint64(base+leaf), uint64(1))
	trace, err := pt.Assemble(nil, "psb\ntsc 0xc8\nmode.exec l\npsbend\ntip.pge 6: 0x401000\ntnt ttn\ntip 1: 0x100e\ntip.pgd\n")
	check(err)
	attr := fields(uint32(8), uint32(64), uint64(0x600), make([]byte, 24), uint64(1<<33), make([]byte, 16)) // asks for TEXT_POKE records
	check(os.Mkdir("prog", 0o777))
	for file, b := range map[string][]byte{
		"prog/prog":    elfFile(base, code, syms, names, docDWARF("prog.s", base, uint64(len(code)), 5, 2, 2, 5, 2, 1, 1)...),
		"prog/cpu0.pt": trace,
		"prog.s":       []byte(docSource),
		"prog/events.jsonl": fmt.Appendf(nil, `{"type":"stream","version":1}
{"type":"attr","name":"intel_pt//u","pmu":8,"config":"600","attr":"%x"}
{"type":"auxtrace_info","pmu":1,"priv":["8","0","1","0","1","400","800","3","0","1","200","3c000","50","2","2","a","0","0"]}
{"type":"time_conv","mult":1,"cap_zero":true}
{"type":"comm","time":1,"pid":10,"tid":10,"comm":"prog","exec":true}
{"type":"mmap","time":2,"pid":10,"tid":10,"addr":"401000","len":4096,"pgoff":"1000","prot":5,"file":"/prog"}
{"type":"itrace_start","time":3,"cpu":0,"pid":10,"tid":10}
`, attr),
	} {
		check(os.WriteFile(file, b, 0o666))
	}
	if out := docRun(t, "ptdecode bundle -q --pt 0:prog/cpu0.pt --events prog/events.jsonl --symfs prog -o prog.tar.zst"); out != "" {
		t.Fatal(out)
	}
}

// docVmlinux makes vmlinux: the kernel of the demonstration, with a symbol and a source line
// for each of its functions.
func docVmlinux(t *testing.T) {
	t.Helper()
	page := bytes.Repeat([]byte{0xcc}, 0x100)
	var syms []byte
	var lens []byte
	names := []byte("\x00_text\x00")
	syms = fields(append(syms, make([]byte, 24)...), uint32(1), uint8(1<<4), uint8(0), uint16(1), uint64(demoBase), uint64(0))
	for i, c := range demoCode {
		b, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		must(t)(err)
		if len(b) == 0 {
			continue // where the kernel ends
		}
		copy(page[c.off:], b)
		syms = fields(syms, uint32(len(names)), uint8(1<<4|2), uint8(0), uint16(1), uint64(demoBase+c.off), uint64(len(b)))
		names = append(append(names, c.name...), 0)
		lens = append(lens, byte(demoCode[i+1].off-c.off))
	}
	must(t)(os.WriteFile("vmlinux", elfFile(demoBase, page, syms, names, docDWARF("kernel.S", demoBase, uint64(len(page)), lens...)...), 0o666))
}

// docDWARF gives the sections .debug_abbrev, .debug_info and .debug_line of a source file in
// DWARF 4. Its code is size bytes from addr on; line i+1 is the next lens[i] bytes.
func docDWARF(source string, addr, size uint64, lens ...byte) [][]byte {
	le := binary.LittleEndian
	abbrev := []byte{1, 0x11, 0, 0x03, 0x08, 0x10, 0x17, 0x11, 0x01, 0x12, 0x07, 0, 0, 0} // a unit: name, stmt_list, low_pc, high_pc
	body := append([]byte{4, 0, 0, 0, 0, 0, 8, 1}, source+"\x00\x00\x00\x00\x00"...)
	body = le.AppendUint64(le.AppendUint64(body, addr), size)
	info := append(le.AppendUint32(nil, uint32(len(body))), body...)
	head := append([]byte{1, 1, 1, 0xfb, 14, 13, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1, 0}, source+"\x00\x00\x00\x00\x00"...)
	program := append(le.AppendUint64([]byte{0, 9, 2}, addr), 1) // set_address, copy
	for i, n := range lens {
		program = append(program, 2, n) // advance_pc
		if i < len(lens)-1 {
			program = append(program, 3, 1, 1) // advance_line, copy
		}
	}
	program = append(program, 0, 1, 1)
	line := append(le.AppendUint32([]byte{4, 0}, uint32(len(head))), append(head, program...)...)
	return [][]byte{abbrev, info, append(le.AppendUint32(nil, uint32(len(line))), line...)}
}
