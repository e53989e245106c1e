package recording

import (
	"bytes"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// int3Gap is the room that the handler of INT3 makes for an emulated call, in its
// machine code: pushq 5*8(%rsp), six times. No other code does so
// (arch/x86/entry/entry_64.S: idtentry, X86_TRAP_BP, v5.8 and v6.18).
var int3Gap = bytes.Repeat([]byte{0xff, 0x74, 0x24, 0x28}, 6)

// textArea is where the text of an x86-64 kernel lies, and textSize the size of that area
// (arch/x86/include/asm/page_64_types.h, __START_KERNEL_map and KERNEL_IMAGE_SIZE; v6.1).
const (
	textArea = 0xffffffff80000000
	textSize = 1 << 30
)

// FindBreakEntries returns told, the addresses at which the breakpoint exception's handler
// begins. Where nobody told any, that of an x86-64 kernel is found by its shape in img.
func FindBreakEntries(told []uint64, mode isa.Mode, img *image.Image) []uint64 {
	if len(told) == 0 && mode == isa.Mode64 && img != nil {
		if a, ok := int3Entry(img); ok {
			return []uint64{a}
		}
	}
	return told
}

// int3Entry finds the handler of INT3 by its shape in a kernel's code. There must be
// one place alone that has it, in all of the area of the kernel's text. Elsewhere may be more,
// where nothing runs: the direct map has all memory.
func int3Entry(img *image.Image) (entry uint64, ok bool) {
	const piece, overlap = 1 << 20, 64 // more than a handler's begin and its gap
	buf := make([]byte, piece+overlap)
	for _, r := range img.Within(nil, image.Range{Addr: textArea, Len: textSize}) {
		for at := r.Addr; at-r.Addr < r.Len; at += piece {
			w := buf[:min(uint64(len(buf)), r.Len-(at-r.Addr))]
			w = w[:img.ReadAt(w, at)]
			for off := 0; ; off++ {
				i := bytes.Index(w[off:], int3Gap)
				if i < 0 {
					break
				}
				off += i
				a, found := int3Begin(w[:off], at)
				if found && ok && a != entry {
					return 0, false
				}
				if found {
					entry, ok = a, true
				}
			}
		}
	}
	return entry, ok
}

// int3Begin returns where the handler begins whose gap follows w, code at addr: w ends with
// what it begins with, and functions begin at multiples of 16.
func int3Begin(w []byte, addr uint64) (begin uint64, ok bool) {
	tail := len(w) - 2
	if tail < 0 || w[tail] != 0x75 { // jnz over the gap: from user space
		return 0, false
	}
	w = w[:tail]
	for _, part := range int3Front {
		i := slices.IndexFunc(part.forms, func(f []byte) bool { return bytes.HasSuffix(w, f) })
		if i < 0 && !part.optional {
			return 0, false
		}
		if i >= 0 {
			w = w[:len(w)-len(part.forms[i])]
		}
	}
	begin = addr + uint64(len(w))
	return begin, begin%16 == 0
}

// int3Front is what the handler begins with, last instruction first.
var int3Front = []struct {
	optional bool
	forms    [][]byte
}{
	{false, [][]byte{{0xf6, 0x44, 0x24, 0x10, 0x03}}},                            // testb $3, CS-ORIG_RAX(%rsp)
	{false, [][]byte{{0x6a, 0xff}}},                                              // pushq $-1
	{true, [][]byte{{0xfc}}},                                                     // cld
	{true, [][]byte{{0x0f, 0x01, 0xca}, {0x0f, 0x1f, 0x00}, {0x90, 0x90, 0x90}}}, // clac, or a NOP in its place
	{true, [][]byte{{0xf3, 0x0f, 0x1e, 0xfa}}},                                   // endbr64
}
