package buildtime

import (
	"bytes"
	"encoding/binary"
	"testing"
)

// words returns words of A64 as bytes.
func words(list ...uint32) (b []byte) {
	for _, w := range list {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return b
}

// TestArmReplace would catch an instruction of a replacement that leads elsewhere once it
// lies at the site, 4096 bytes before, and one that is changed and must not be.
func TestArmReplace(t *testing.T) {
	const site, from = 0xffff800080011000, 0xffff800080012000
	for _, c := range []struct {
		name       string
		repl, want []byte
	}{
		{"b", words(0x14000010), words(0x14000410)},                              // 0x40 ahead
		{"bl, back", words(0x97fffff0), words(0x940003f0)},                       // 0x40 back
		{"b.eq", words(0x54000800), words(0x54008800)},                           // 0x100 ahead
		{"cbz", words(0xb4000400), words(0xb4008400)},                            // 0x80 ahead
		{"tbnz, back", words(0x370ff800), words(0x37087800)},                     // 0x100 back
		{"adrp", words(0xb0000000), words(0xd0000000)},                           // the next page
		{"adrp, back", words(0xf0ffffe0), words(0x90000000)},                     // the page before
		{"inside", words(0x14000001, 0xd503201f), words(0x14000001, 0xd503201f)}, // to its second word
		{"no branch", words(0xd538d080), words(0xd538d080)},                      // MRS
	} {
		got := make([]byte, len(c.repl))
		armReplace(got, c.repl, site, from)
		if !bytes.Equal(got, c.want) {
			t.Errorf("%s: %x becomes %x, want %x", c.name, c.repl, got, c.want)
		}
	}
}

// TestArmJump would catch a static branch of arm64 that is read or written wrong.
func TestArmJump(t *testing.T) {
	const nop, jump = 0xd503201f, 0x17fffff0
	e := jumpEntry{code: 0xffff800080010100, target: 0xffff8000800100c0}
	for _, c := range []struct {
		word      uint32
		ok, jumps bool
	}{{nop, true, false}, {jump, true, true}, {jump + 1, false, false}, {0xd503201e, false, false}, {0x97fffff0, false, false}} {
		x := e
		if ok := x.armJump(words(c.word)); ok != c.ok || x.jumps != c.jumps {
			t.Errorf("%#x: %v, jumps: %v", c.word, ok, x.jumps)
		}
	}
	e.n = armSize
	for _, jumps := range []bool{false, true} {
		code, want := make([]byte, 4), words(nop)
		if e.write(code, jumps); jumps {
			want = words(jump)
		}
		if !bytes.Equal(code, want) {
			t.Errorf("jumps: %v: %x, want %x", jumps, code, want)
		}
	}
}
