package kcore

import (
	"bytes"
	"debug/elf"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// TestWriteMachines would catch a header that names another machine or class than
// the code is of. It would also catch one that this package or another reader of
// ELF files takes differently, of either width, and with more segments than
// e_phnum holds.
func TestWriteMachines(t *testing.T) {
	low, high := []image.Range{{Addr: 0x8000, Len: 3}, {Addr: 0xbfff0ffe, Len: 4}, {Addr: 0xfffffff0, Len: 16}}, []image.Range{{Addr: 0x8000, Len: 4}, {Addr: 0xffffffc000081000, Len: 8}}
	many := make([]image.Range, pnXNum+1)
	for i := range many {
		many[i] = image.Range{Addr: 0x10000 + 2*uint64(i), Len: 1}
	}
	for _, c := range []struct {
		name    string
		mode    isa.Mode
		ranges  []image.Range
		class   elf.Class
		machine elf.Machine
	}{
		{"x86", isa.Mode64, high, elf.ELFCLASS64, elf.EM_X86_64},
		{"a64", isa.ModeA64, high, elf.ELFCLASS64, elf.EM_AARCH64},
		{"a64 of low addresses", isa.ModeA64, low, elf.ELFCLASS64, elf.EM_AARCH64},
		{"a32", isa.ModeA32, low, elf.ELFCLASS32, elf.EM_ARM},
		{"t32", isa.ModeT32, low, elf.ELFCLASS32, elf.EM_ARM},
		{"a32 of high addresses", isa.ModeA32, high, elf.ELFCLASS64, elf.EM_AARCH64},
		{"many a32", isa.ModeA32, many, elf.ELFCLASS32, elf.EM_ARM},
		{"many a64", isa.ModeA64, many, elf.ELFCLASS64, elf.EM_AARCH64},
		{"none", isa.ModeA32, nil, elf.ELFCLASS32, elf.EM_ARM},
	} {
		m := &image.Image{}
		for _, r := range c.ranges {
			b := make([]byte, r.Len)
			for i := range b {
				b[i] = byte(r.Addr) + byte(i)
			}
			if err := m.AddBytes(r.Addr, b); err != nil {
				t.Fatal(err)
			}
		}
		j, err := NewJournal(nil)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := WriteKcore(&b, NewText(j, m, TextOptions{}), 0, c.mode); err != nil {
			t.Fatal(err)
		}
		if len(c.ranges) < pnXNum { // which debug/elf does not read
			f, err := elf.NewFile(bytes.NewReader(b.Bytes()))
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			if f.Class != c.class || f.Machine != c.machine || f.Type != elf.ET_CORE {
				t.Errorf("%s: %v of %v of %v, want %v of %v", c.name, f.Type, f.Class, f.Machine, c.class, c.machine)
			}
			var got []image.Range
			for _, p := range f.Progs {
				data := make([]byte, p.Filesz)
				if n, err := p.ReadAt(data, 0); n < len(data) || data[0] != byte(p.Vaddr) || p.Off%segAlign != p.Vaddr%segAlign || p.Memsz != p.Filesz {
					t.Errorf("%s: segment %+v begins with % x, %v", c.name, p.ProgHeader, data, err)
				}
				got = append(got, image.Range{Addr: p.Vaddr, Len: p.Filesz})
			}
			if d := cmp.Diff(c.ranges, got); d != "" {
				t.Errorf("%s: %s", c.name, d)
			}
		}
		if len(c.ranges) == 0 {
			continue // no image
		}
		back, err := image.Read(bytes.NewReader(b.Bytes()), int64(b.Len()), "written", image.Options{})
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if d := cmp.Diff(m.Ranges(), back.Ranges()); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
		for _, r := range c.ranges {
			var b [1]byte
			if n := back.ReadAt(b[:], r.Addr+r.Len-1); n != 1 || b[0] != byte(r.Addr+r.Len-1) {
				t.Errorf("%s: %#x holds %02x (%d), want %02x", c.name, r.Addr+r.Len-1, b[0], n, byte(r.Addr+r.Len-1))
			}
		}
	}
}

// TestWriteManySegments would catch a core of more segments than 16 bits count
// that is not written, or not read, as the ELF rules say.
func TestWriteManySegments(t *testing.T) {
	m := &image.Image{}
	const n = 0x10001
	for i := range n {
		if err := m.AddBytes(uint64(i)*64, []byte{1, 2, byte(i)}); err != nil {
			t.Fatal(err)
		}
	}
	j, _ := NewJournal(nil)
	tx := NewText(j, m, TextOptions{})
	back := writeAndRead(t, tx, 0)
	if d := cmp.Diff(m.Ranges(), back.Ranges()); d != "" {
		t.Fatalf("ranges (-written +read):\n%.600s", d)
	}
	if b, ok := byteAt(back, 64*0x1234+2); !ok || b != 0x34 {
		t.Error("bytes differ")
	}
}

// FuzzWrite would catch an image whose written core does not read back as what
// it was.
func FuzzWrite(f *testing.F) {
	f.Add([]byte("abcd"), uint64(0x1000), uint64(0x1800))
	f.Add([]byte("abcdefgh"), uint64(0xffffffff81000ffe), uint64(0xffffffff81001000))
	f.Fuzz(func(t *testing.T, data []byte, a, b uint64) {
		m := &image.Image{}
		for _, at := range []uint64{a, b} {
			if err := m.AddBytes(at, data); err != nil {
				return
			}
		}
		if len(m.Ranges()) == 0 {
			return
		}
		j, _ := NewJournal(nil)
		back := writeAndRead(t, NewText(j, m, TextOptions{}), 0)
		if d := cmp.Diff(m.Ranges(), back.Ranges()); d != "" {
			t.Fatal(d)
		}
	})
}
