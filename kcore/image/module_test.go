package image

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// rela makes a relocation section for section info.
func rela(name string, info uint32, entries ...elf.Rela64) sect {
	var b bytes.Buffer
	for _, e := range entries {
		binary.Write(&b, binary.LittleEndian, e)
	}
	return sect{name: name, typ: elf.SHT_RELA, data: b.Bytes(), info: info, entsize: 24}
}

func reloc(off uint64, sym uint64, typ elf.R_X86_64, add int64) elf.Rela64 {
	return elf.Rela64{Off: off, Info: sym<<32 | uint64(typ), Addend: add}
}

// moduleFile assembles a small module with two sections of code and one of init.
// They hold a call into the kernel, one to an unknown symbol, an alternative, a
// return site, and a call to __fentry__.
func moduleFile() []byte {
	text := bytes.Clone([]byte{
		0xe8, 0, 0, 0, 0, // 0: call __fentry__
		0xe8, 0, 0, 0, 0, // 5: call kfree
		0xe8, 0, 0, 0, 0, // 10: call gone
		0x0f, 0x01, 0xca, // 15: clac, an alternative
		0xe9, 0, 0, 0, 0, // 18: jmp __x86_return_thunk
		0x90, // 23
	})
	more := []byte{0xe8, 0, 0, 0, 0, 0xc3}
	alt := make([]byte, 12)
	alt[10], alt[11] = 3, 3
	const code = elf.SHF_ALLOC | elf.SHF_EXECINSTR
	sects := []sect{
		{name: ".text", typ: elf.SHT_PROGBITS, flags: code, data: text, align: 16},                                   // 1
		{name: ".init.text", typ: elf.SHT_PROGBITS, flags: code, data: []byte{0xc3}},                                 // 2
		{name: ".text.unlikely", typ: elf.SHT_PROGBITS, flags: code, data: more, align: 16},                          // 3
		{name: ".altinstructions", typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, data: alt},                           // 4
		{name: ".return_sites", typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, data: make([]byte, 4)},                  // 5
		{name: "__mcount_loc", typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, data: make([]byte, 8)},                   // 6
		{name: ".modinfo", typ: elf.SHT_PROGBITS, flags: elf.SHF_ALLOC, data: []byte("license=GPL\x00name=m_1\x00")}, // 7
	}
	// Symbols: 1 .text, 2 .text.unlikely, 3 __fentry__, 4 kfree, 5 gone, 6 fn, 7 cold, 8 fn2
	tabs := symtab(9, sym{"", 1, 0, 3}, sym{"", 3, 0, 3}, sym{"__fentry__", 0, 0, 0x10}, sym{"kfree", 0, 0, 0x10},
		sym{"gone", 0, 0, 0x10}, sym{"fn", 1, 0, 0x12}, sym{"cold", 3, 0, 0x02}, sym{"fn2", 1, 5, 0x02})
	sects = append(sects, tabs...) // 8, 9
	sects = append(sects,
		rela(".rela__mcount_loc", 6, reloc(0, 1, elf.R_X86_64_64, 0)),
		rela(".rela.text", 1, reloc(1, 3, elf.R_X86_64_PLT32, -4), reloc(6, 4, elf.R_X86_64_PLT32, -4),
			reloc(11, 5, elf.R_X86_64_PLT32, -4), reloc(19, 4, elf.R_X86_64_PLT32, -4)),
		rela(".rela.text.unlikely", 3, reloc(1, 6, elf.R_X86_64_PLT32, -4)),
		rela(".rela.altinstructions", 4, reloc(0, 1, elf.R_X86_64_PC32, 15), reloc(4, 1, elf.R_X86_64_PC32, 0)),
		rela(".rela.return_sites", 5, reloc(0, 1, elf.R_X86_64_PC32, 18)),
	)
	for i := range sects {
		if sects[i].typ == elf.SHT_RELA {
			sects[i].link = 8
		}
	}
	return buildELF(elf.ET_REL, nil, sects)
}

// TestModuleFile would catch a module's section at a wrong address, a call that
// leads elsewhere than the loaded one, and bytes taken as known that the loader
// rewrote.
func TestModuleFile(t *testing.T) {
	const kernel = "ffffffff81234500 T kfree\nffffffff81000010 T __fentry__\n"
	for _, tt := range []struct {
		what      string
		kallsyms  string
		mods      []symbols.Module
		addr      uint64
		text, far uint64 // where the two sections lie
	}{
		{"by /proc/modules", kernel, []symbols.Module{{Name: "m_1", Size: 0x4000, Addr: 0xffffffffc0541000}}, 0, 0xffffffffc0541000, 0xffffffffc0541020},
		{"by FILE@ADDR", kernel, nil, 0xffffffffc0700000, 0xffffffffc0700000, 0xffffffffc0700020},
		{"by kallsyms", kernel + "ffffffffc0600000 t fn\t[m_1]\nffffffffc0600400 t cold\t[m_1]\n", nil, 0, 0xffffffffc0600000, 0xffffffffc0600400},
	} {
		k, err := symbols.ParseKallsyms(tt.kallsyms, "k")
		if err != nil {
			t.Fatal(err)
		}
		m, err := imageOf(moduleFile(), "dir/x.ko", Options{Kallsyms: k, Modules: tt.mods, Addr: tt.addr})
		if err != nil {
			t.Errorf("%s: %v", tt.what, err)
			continue
		}
		call := func(op byte, at, to uint64) string {
			b := binary.LittleEndian.AppendUint32([]byte{op}, uint32(to-at-5))
			return string(b)
		}
		for _, c := range []struct {
			off  uint64
			n    int
			want string
			what string
		}{
			{0, 5, string(nop5), "the call to __fentry__, a NOP once loaded"},
			{5, 5, call(0xe8, tt.text+5, 0xffffffff81234500), "the call to kfree"},
			{10, 5, "\xe8", "the call to a symbol that nobody has"},
			{15, 3, "", "the alternative"},
			{18, 5, "", "the return site"},
			{23, 9, "\x90", "the last byte"},
			{tt.far - tt.text, 9, call(0xe8, tt.far, tt.text) + "\xc3", "the call from the other section"},
		} {
			if g := got(m, tt.text+c.off, c.n); g != c.want {
				t.Errorf("%s: %s: % x, want % x", tt.what, c.what, g, c.want)
			}
		}
		var held uint64
		for _, r := range m.Ranges() {
			held += r.Len
		}
		if held != 24-4-3-5+6 {
			t.Errorf("%s: %d bytes known, want 18: .init.text is freed", tt.what, held)
		}
	}
	k, err := symbols.ParseKallsyms("ffffffffc0600000 t fn\t[m_1]\nffffffffc0600009 t fn2\t[m_1]\n", "k")
	if err != nil {
		t.Fatal(err)
	}
	const want = ".text lies at 0xffffffffc0600000 by fn and at 0xffffffffc0600004 by fn2: it is not the module of the kallsyms"
	if _, err := imageOf(moduleFile(), "x.ko", Options{Kallsyms: k}); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("another build of the module: %v", err)
	}
	if _, err := imageOf(moduleFile(), "dir/x.ko", Options{}); err == nil || !strings.Contains(err.Error(), `no address for "m_1"`) {
		t.Errorf("no address: %v", err)
	}
}
