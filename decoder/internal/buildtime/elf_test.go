package buildtime

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"slices"
	"testing"
)

// Where the generated kernel is linked: code, and data behind it.
const (
	textAt = 0xffffffff81000000
	dataAt = 0xffffffff81010000
)

// Places in the generated kernel's code.
const (
	native    = textAt + 0x820
	nothing   = textAt + 0x810
	zero      = textAt + 0x830
	tramp     = textAt + 0x840
	setter    = textAt + 0x860 // calls __static_call_update
	thunks    = textAt + 0xc00
	otherThnk = textAt + 0xfe0
	builtThnk = textAt + 0xff0
)

// kernelMaker makes a vmlinux: code with sites, and tables of them.
type kernelMaker struct {
	text, data []byte
	sections   map[string][]byte
	at         map[string]uint64
}

func (m *kernelMaker) code(addr uint64, b ...byte) { copy(m.text[addr-textAt:], b) }

// direct puts a direct branch of 5 bytes.
func (m *kernelMaker) direct(addr uint64, op byte, to uint64) {
	branch(m.text[addr-textAt:], op, addr, to)
}

// place reserves n bytes of data and says where they lie.
func (m *kernelMaker) place(n int) uint64 {
	for len(m.data)%16 != 0 {
		m.data = append(m.data, 0xff)
	}
	at := dataAt + uint64(len(m.data))
	m.data = append(m.data, make([]byte, n)...)
	return at
}

// put writes b at addr in the data.
func (m *kernelMaker) put(addr uint64, b []byte) { copy(m.data[addr-dataAt:], b) }

// table makes a section of entries, each of which is told its address.
func (m *kernelMaker) table(name string, size int, entries ...func(at uint64) []byte) {
	at := m.place(size * len(entries))
	for i, e := range entries {
		m.put(at+uint64(i*size), e(at+uint64(i*size)))
	}
	m.at[name] = at
	if name[0] == '.' {
		m.sections[name] = m.data[at-dataAt : at-dataAt+uint64(size*len(entries))]
	}
}

func rel32(b []byte, at, to uint64) []byte {
	return binary.LittleEndian.AppendUint32(b, uint32(to-at))
}

// site is an entry that is a distance of 4 bytes.
func siteAt(addr uint64) func(uint64) []byte {
	return func(at uint64) []byte { return rel32(nil, at, addr) }
}

// label is an entry of the jump table.
func label(code, target, key uint64) func(uint64) []byte {
	return func(at uint64) []byte {
		b := rel32(rel32(nil, at, code), at+4, target)
		return binary.LittleEndian.AppendUint64(b, key-(at+8))
	}
}

// staticCall is an entry of the static call sites.
func staticCall(code, key uint64) func(uint64) []byte {
	return func(at uint64) []byte { return rel32(rel32(nil, at, code), at+4, key) }
}

// mcount is an entry of the ftrace sites.
func mcount(addr uint64) func(uint64) []byte {
	return func(uint64) []byte { return binary.LittleEndian.AppendUint64(nil, addr) }
}

// alternative is an entry of .altinstructions; the replacement lies at repl.
func alternativeOf(addr uint64, n int, feature uint16, repl uint64, m int) func(uint64) []byte {
	return func(at uint64) []byte {
		b := rel32(rel32(nil, at, addr), at+4, repl)
		return append(binary.LittleEndian.AppendUint16(b, feature), byte(n), byte(m))
	}
}

// paravirt is an entry of .parainstructions.
func paravirt(addr uint64, typ, n byte) func(uint64) []byte {
	return func(uint64) []byte {
		b := binary.LittleEndian.AppendUint64(nil, addr)
		return append(b, typ, n, 0, 0, 0, 0, 0, 0)
	}
}

// file returns the kernel as an ELF file.
func (m *kernelMaker) file() []byte {
	names := []byte{0}
	type section struct {
		name            string
		addr, off, size uint64
		typ             elf.SectionType
		flags           elf.SectionFlag
	}
	const textOff, dataOff = 0x1000, 0x3000
	list := []section{{}, {".text", textAt, textOff, uint64(len(m.text)), elf.SHT_PROGBITS, elf.SHF_ALLOC | elf.SHF_EXECINSTR}}
	for name, b := range m.sections {
		list = append(list, section{name, m.at[name], dataOff + m.at[name] - dataAt, uint64(len(b)), elf.SHT_PROGBITS, elf.SHF_ALLOC})
	}
	slices.SortFunc(list[2:], func(a, b section) int { return int(int64(a.addr - b.addr)) })
	out := make([]byte, dataOff)
	copy(out[textOff:], m.text)
	out = append(out, m.data...)
	strOff := uint64(len(out))
	at := []uint32{0}
	for _, s := range list[1:] {
		at = append(at, uint32(len(names)))
		names = append(append(names, s.name...), 0)
	}
	strName := uint32(len(names))
	names = append(names, ".shstrtab\x00"...)
	out = append(out, names...)
	var heads bytes.Buffer
	for i, s := range list {
		binary.Write(&heads, binary.LittleEndian, elf.Section64{Name: at[i], Type: uint32(s.typ), Flags: uint64(s.flags), Addr: s.addr, Off: s.off, Size: s.size})
	}
	binary.Write(&heads, binary.LittleEndian, elf.Section64{Name: strName, Type: uint32(elf.SHT_STRTAB), Off: strOff, Size: uint64(len(names))})
	shoff := uint64(len(out))
	out = append(out, heads.Bytes()...)
	var head bytes.Buffer
	h := elf.Header64{Type: uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: 1, Phoff: 64, Shoff: shoff, Ehsize: 64, Phentsize: 56, Phnum: 2, Shentsize: 64, Shnum: uint16(len(list) + 1), Shstrndx: uint16(len(list))}
	copy(h.Ident[:], "\x7fELF\x02\x01\x01")
	binary.Write(&head, binary.LittleEndian, h)
	for _, p := range []elf.Prog64{
		{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_X), Off: textOff, Vaddr: textAt, Filesz: uint64(len(m.text)), Memsz: uint64(len(m.text))},
		{Type: uint32(elf.PT_LOAD), Flags: uint32(elf.PF_R | elf.PF_W), Off: dataOff, Vaddr: dataAt, Filesz: uint64(len(m.data)), Memsz: uint64(len(m.data))},
	} {
		binary.Write(&head, binary.LittleEndian, p)
	}
	copy(out, head.Bytes())
	return out
}

// generated returns a kernel with a site of each kind, and where its keys lie.
func generated() (m *kernelMaker, jumpKey, callKey, noneKey, zeroKey uint64) {
	m = &kernelMaker{text: bytes.Repeat([]byte{opInt3}, 0x1000), sections: map[string][]byte{}, at: map[string]uint64{}}
	m.code(textAt+0x800, opRet) // __fentry__
	m.direct(nothing, opJump, builtThnk)
	m.code(native, 0x90, opRet)
	m.code(zero, 0x31, 0xc0)
	m.direct(zero+2, opJump, builtThnk)
	m.direct(tramp, opJump, native)
	m.code(tramp+5, trampolineMark...)
	m.code(builtThnk, opRet, opInt3)
	m.code(otherThnk, opRet, opInt3)

	ops := m.place(16)
	m.put(ops, binary.LittleEndian.AppendUint64(binary.LittleEndian.AppendUint64(nil, nothing), native))
	keys := m.place(64)
	jumpKey, callKey, noneKey, zeroKey = keys, keys+16, keys+32, keys+48
	m.put(callKey, binary.LittleEndian.AppendUint64(nil, native))
	m.put(zeroKey, binary.LittleEndian.AppendUint64(nil, zero))
	m.code(setter, append([]byte{0x48, 0xc7, 0xc2}, rel32(nil, 0, nothing)...)...)
	m.code(setter+7, append([]byte{0x48, 0xc7, 0xc7}, rel32(nil, 0, callKey)...)...)

	for i := range uint64(4) {
		m.direct(textAt+0x100+16*i, opCall, textAt+0x800)
	}
	m.table("mcount", 8, mcount(textAt+0x100), mcount(textAt+0x110), mcount(textAt+0x120), mcount(textAt+0x130))

	m.code(textAt+0x140, nops[5]...)
	m.code(textAt+0x150, nops[2]...)
	m.direct(textAt+0x160, opJump, textAt+0x400)
	m.code(textAt+0x170, opJumpShort, 0x0e)
	m.table("jump", 16, label(textAt+0x140, textAt+0x400, jumpKey), label(textAt+0x150, textAt+0x160, jumpKey|1), label(textAt+0x160, textAt+0x400, jumpKey), label(textAt+0x170, textAt+0x180, jumpKey))

	m.direct(textAt+0x180, opCall, tramp)
	m.direct(textAt+0x190, opJump, tramp)
	m.direct(textAt+0x1a0, opCall, tramp)
	m.direct(textAt+0x1b0, opCall, tramp)
	m.table("calls", 8, staticCall(textAt+0x180, callKey), staticCall(textAt+0x190, noneKey|1), staticCall(textAt+0x1a0, noneKey), staticCall(textAt+0x1b0, zeroKey))

	m.direct(textAt+0x200, opJump, builtThnk)
	m.direct(textAt+0x220, opJump, builtThnk)
	m.table(".return_sites", 4, siteAt(textAt+0x200), siteAt(textAt+0x220))

	m.direct(textAt+0x240, opCall, thunks)
	m.code(textAt+0x250, prefixCS)
	m.direct(textAt+0x251, opJump, thunks+11*thunkSize)
	m.code(textAt+0x260, prefixCS)
	m.direct(textAt+0x261, opCall, thunks+8*thunkSize)
	m.code(textAt+0x270, append([]byte{0x0f, 0x84}, rel32(nil, textAt+0x276, thunks+thunkSize)...)...)
	m.direct(textAt+0x280, opJump, thunks)
	m.table(".retpoline_sites", 4, siteAt(textAt+0x240), siteAt(textAt+0x250), siteAt(textAt+0x260), siteAt(textAt+0x270), siteAt(textAt+0x280))

	m.code(textAt+0x290, append([]byte{0xff, 0x15}, rel32(nil, textAt+0x296, ops+8)...)...)
	m.code(textAt+0x2a0, append([]byte{0xff, 0x15}, rel32(nil, textAt+0x2a6, ops)...)...)
	m.table(".parainstructions", 16, paravirt(textAt+0x290, 1, 6), paravirt(textAt+0x2a0, 0, 6))

	repl := m.place(64)
	m.put(repl, []byte{opCall})
	m.put(repl+1, rel32(nil, repl+5, native))
	m.put(repl+8, []byte{opJump})
	m.put(repl+9, rel32(nil, repl+13, textAt+0x330))
	m.put(repl+16, []byte{opJump})
	m.put(repl+17, rel32(nil, repl+21, textAt+0x200))
	m.put(repl+24, []byte{0x0f, 0xae, 0xe8})
	m.put(repl+28, []byte{0x0f, 0x01, 0xf9})
	m.code(textAt+0x300, opNop, opNop, opNop, opNop, opNop)
	m.direct(textAt+0x310, opJump, textAt+0x500)
	m.direct(textAt+0x320, opJump, textAt+0x500)
	m.code(textAt+0x330, opJumpShort, 0x10)
	m.code(textAt+0x340, 0x0f, 0x31, opNop, opNop, opNop)
	m.table(".altinstructions", alternativeSize,
		alternativeOf(textAt+0x300, 5, 1, repl, 5),
		alternativeOf(textAt+0x310, 5, 2, repl+8, 5),
		alternativeOf(textAt+0x320, 5, 2|1<<15, repl+16, 5),
		alternativeOf(textAt+0x330, 2, 3, repl, 0),
		alternativeOf(textAt+0x340, 5, 4, repl+24, 3),
		alternativeOf(textAt+0x340, 5, 5, repl+28, 3))
	return m, jumpKey, callKey, noneKey, zeroKey
}

// readGenerated reads what m makes.
func readGenerated(t testing.TB, m *kernelMaker, find Find) *Kernel {
	t.Helper()
	b := m.file()
	k, err := Read(bytes.NewReader(b), int64(len(b)), "vmlinux", find)
	if err != nil {
		t.Fatal(err)
	}
	return k
}
