package image

import (
	"bytes"
	"compress/gzip"
	"debug/elf"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"

	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// prog is a loadable segment of a test file.
type prog struct {
	vaddr uint64
	flags elf.ProgFlag
	data  []byte
	memsz uint64 // 0: as data
}

// sect is a section of a test file.
type sect struct {
	name       string
	typ        elf.SectionType
	flags      elf.SectionFlag
	addr       uint64
	data       []byte
	link, info uint32
	entsize    uint64
	align      uint64
}

// buildELF assembles a 64-bit little-endian file; the section of names is added.
func buildELF(typ elf.Type, progs []prog, sects []sect) []byte {
	le := binary.LittleEndian
	var body, heads, names bytes.Buffer
	names.WriteByte(0)
	base := uint64(64 + 56*len(progs))
	for _, p := range progs {
		if p.memsz == 0 {
			p.memsz = uint64(len(p.data))
		}
		binary.Write(&heads, le, elf.Prog64{Type: uint32(elf.PT_LOAD), Flags: uint32(p.flags), Off: base + uint64(body.Len()),
			Vaddr: p.vaddr, Filesz: uint64(len(p.data)), Memsz: p.memsz})
		body.Write(p.data)
	}
	var sh bytes.Buffer
	binary.Write(&sh, le, elf.Section64{})
	add := func(s sect) {
		binary.Write(&sh, le, elf.Section64{Name: uint32(names.Len()), Type: uint32(s.typ), Flags: uint64(s.flags), Addr: s.addr,
			Off: base + uint64(body.Len()), Size: uint64(len(s.data)), Link: s.link, Info: s.info, Entsize: s.entsize, Addralign: max(s.align, 1)})
		names.WriteString(s.name + "\x00")
		body.Write(s.data)
	}
	n := 0
	if len(sects) > 0 {
		for _, s := range sects {
			add(s)
		}
		names.WriteString("\x00")
		add(sect{name: ".shstrtab", typ: elf.SHT_STRTAB, data: append(bytes.Clone(names.Bytes()), ".shstrtab\x00"...)})
		n = len(sects) + 2
	}
	h := elf.Header64{Type: uint16(typ), Machine: uint16(elf.EM_X86_64), Version: 1, Phoff: 64, Ehsize: 64,
		Phentsize: 56, Phnum: uint16(len(progs)), Shentsize: 64, Shnum: uint16(n)}
	copy(h.Ident[:], elf.ELFMAG+"\x02\x01\x01")
	if n > 0 {
		h.Shoff, h.Shstrndx = base+uint64(body.Len()), uint16(n-1)
	}
	var out bytes.Buffer
	binary.Write(&out, le, h)
	out.Write(heads.Bytes())
	out.Write(body.Bytes())
	if n > 0 {
		out.Write(sh.Bytes())
	}
	return out.Bytes()
}

// sym is a symbol of a test file.
type sym struct {
	name  string
	shndx uint16
	value uint64
	info  byte
}

// symtab returns the sections .symtab, linked to section link, and .strtab.
func symtab(link uint32, syms ...sym) []sect {
	var tab, str bytes.Buffer
	str.WriteByte(0)
	binary.Write(&tab, binary.LittleEndian, elf.Sym64{})
	for _, s := range syms {
		binary.Write(&tab, binary.LittleEndian, elf.Sym64{Name: uint32(str.Len()), Info: s.info, Shndx: s.shndx, Value: s.value})
		str.WriteString(s.name + "\x00")
	}
	return []sect{
		{name: ".symtab", typ: elf.SHT_SYMTAB, data: tab.Bytes(), link: link, entsize: 24},
		{name: ".strtab", typ: elf.SHT_STRTAB, data: str.Bytes()},
	}
}

// got returns what the image has at addr, up to n bytes.
func got(m *Image, addr uint64, n int) string {
	b := make([]byte, n)
	return string(b[:m.ReadAt(b, addr)])
}

// TestImageELF would catch a segment at a wrong address, bytes behind a file
// size taken as zeros, and a packed file that is not unfiles.
func TestImageELF(t *testing.T) {
	file := buildELF(elf.ET_CORE, []prog{
		{vaddr: 0xffffffff81000000, data: []byte("abcd"), memsz: 0x2000},
		{vaddr: 0xffffffff81000004, data: []byte("efgh")},
		{vaddr: 0xfffffffffffffffc, data: []byte("last")},
	}, nil)
	var gz, zs bytes.Buffer
	z := gzip.NewWriter(&gz)
	z.Write(file)
	z.Close()
	y, _ := zstd.NewWriter(&zs)
	y.Write(file)
	y.Close()
	for name, data := range map[string][]byte{"plain": file, "gzip": gz.Bytes(), "zstd": zs.Bytes()} {
		path := filepath.Join(t.TempDir(), "kcore.bin")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := Open(path, Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if s := got(m, 0xffffffff81000002, 100); s != "cdefgh" {
			t.Errorf("%s: %q, want cdefgh", name, s)
		}
		if s := got(m, 0xfffffffffffffffd, 9); s != "ast" {
			t.Errorf("%s: %q at the end of memory, want ast", name, s)
		}
		if s := got(m, 0xffffffff80ffffff, 9); s != "" {
			t.Errorf("%s: %q before the first segment", name, s)
		}
		want := []Range{{0xffffffff81000000, 8}, {0xfffffffffffffffc, 4}}
		if d := cmp.Diff(want, m.Ranges()); d != "" {
			t.Errorf("%s: ranges %s", name, d)
		}
	}
	m, err := readImage(bytes.NewReader(file), nil, int64(len(file)), "large", Options{}) // as files too large to keep
	if err != nil || got(m, 0xffffffff81000002, 100) != "cdefgh" || got(m, 0xfffffffffffffffd, 9) != "ast" {
		t.Errorf("read where needed: %v", err)
	}
	m, err = imageOf(file, "k", Options{Addr: 0x1000})
	if err != nil || got(m, 0xffffffff81001000, 8) != "abcdefgh" {
		t.Errorf("shifted by 0x1000: %v", err)
	}
}

// TestImageLayers would catch a layer that does not hide what is below, or
// hides more; against an array.
func TestImageLayers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(6, 6))
	for range 300 {
		var flat [200]int
		m := &Image{}
		for k := range 1 + rnd.IntN(12) {
			a, n := rnd.IntN(150), 1+rnd.IntN(50)
			if rnd.IntN(4) == 0 {
				m.Remove(Range{uint64(a), uint64(n)})
				for i := range n {
					flat[a+i] = 0
				}
				continue
			}
			data := bytes.Repeat([]byte{byte(k + 1)}, n)
			o, err := imageOf(data, "raw", Options{Addr: uint64(a)})
			if err != nil {
				t.Fatal(err)
			}
			m.Add(o)
			for i := range n {
				flat[a+i] = k + 1
			}
		}
		var held uint64
		for a := range flat {
			var want []byte
			for i := a; i < len(flat) && flat[i] != 0; i++ {
				want = append(want, byte(flat[i]))
			}
			if g := got(m, uint64(a), 300); g != string(want) {
				t.Fatalf("at %d: % x, want % x", a, g, want)
			}
			if flat[a] != 0 {
				held++
			}
		}
		for _, r := range m.Ranges() {
			held -= r.Len
		}
		if held != 0 {
			t.Fatalf("ranges miss %d bytes", int64(held))
		}
	}
}

// TestImageErrors would catch a broken file that is taken, and an error that
// does not say where and what.
func TestImageErrors(t *testing.T) {
	core := buildELF(elf.ET_CORE, []prog{{vaddr: 0x1000, data: []byte("abcd")}}, nil)
	edit := func(off int, b ...byte) []byte { c := bytes.Clone(core); copy(c[off:], b); return c }
	zeros := make([]byte, 1<<16)
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	z.Write(zeros)
	z.Close()
	for _, tt := range []struct {
		what string
		data []byte
		want string
	}{
		{"empty", nil, "f+0x0: image: the file is empty"},
		{"header cut", core[:30], "f+0x0: ELF header: cut short: have 30 bytes, need 64"},
		{"class", edit(4, 3), "f+0x4: ELF header: class 3, want 1 or 2"},
		{"encoding", edit(5, 9), "f+0x5: ELF header: data encoding 9, want 1 or 2"},
		{"too many program headers", edit(56, 0xfe, 0xff), "f+0x0: ELF header: 65534 program headers of 56 bytes at 0x40, the file has"},
		{"section 0 missing", edit(56, 0xff, 0xff), "number of program headers is in section header 0, at 0x0 of"},
		{"small program headers", edit(54, 8, 0), "program headers of 8 bytes, need 56"},
		{"no segment", edit(64, 4), "no loadable segment among 1 program headers"},
		{"offset", edit(72, 0, 0, 0, 0, 1), "f+0x40: program header 0: offset 0x100000000 and 0x4 bytes, the file has 0x7c: 1 of 1 segments"},
		{"beyond memory", edit(80, bytes.Repeat([]byte{0xff}, 8)...), "f+0x40: program header 0: 4 bytes at 0xffffffffffffffff reach beyond the last address"},
		{"gzip cut", bomb.Bytes()[:20], "gzip: unexpected EOF"},
		{"gzip bomb", bomb.Bytes(), "gzip: unpacks to over 4096 bytes"},
		{"zstd", []byte{0x28, 0xb5, 0x2f, 0xfd, 0, 0}, "zstd: "},
		{"module", buildELF(elf.ET_REL, nil, symtab(2)), "f+0x0: module: no address for \"f\": it is not among the 0 modules given; give it as FILE@ADDR"},
	} {
		_, err := imageOf(tt.data, "f", Options{Limit: 4096})
		var fe *badfile.Error
		if !errors.As(err, &fe) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: error %v, want %s", tt.what, err, tt.want)
		}
	}
	if _, err := imageOf(bomb.Bytes(), "f", Options{Limit: 4096}); !errors.Is(err, files.ErrTooLarge) {
		t.Errorf("bomb: %v", err)
	}
	// A copy cut short still has what it has.
	m, err := imageOf(core[:len(core)-2], "f", Options{})
	if err != nil || got(m, 0x1000, 9) != "ab" {
		t.Errorf("cut in a segment: %v", err)
	}
	if _, err := Open(t.TempDir(), Options{}); err == nil {
		t.Error("a directory is taken")
	}
}

// TestVmlinux would catch a kernel left where it was linked, moved by a wrong
// distance, or taken though it is another one.
func TestVmlinux(t *testing.T) {
	progs := []prog{
		{vaddr: 0xffffffff81000000, flags: elf.PF_R | elf.PF_X, data: []byte("text")},
		{vaddr: 0xffffffff82000000, flags: elf.PF_R | elf.PF_W, data: []byte("data")},
		{vaddr: 0, flags: elf.PF_R | elf.PF_W, data: []byte("percpu")},
	}
	tabs := symtab(2, sym{"_text", 1, 0xffffffff81000000, 0x10}, sym{"_stext", 1, 0xffffffff81000000, 0x10}, sym{"_etext", 1, 0xffffffff81e00000, 0x10})
	whole, stripped := buildELF(elf.ET_EXEC, progs, tabs), buildELF(elf.ET_EXEC, progs, nil)
	moved := kallsyms(t, "ffffffffa2a00000 T _text\nffffffffa2a00000 T _stext\nffffffffa3800000 T _etext\n")
	for name, file := range map[string][]byte{"whole": whole, "stripped": stripped} {
		m, err := imageOf(file, "vmlinux", Options{Kallsyms: moved})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff([]Range{{0xffffffffa2a00000, 4}}, m.Ranges()); d != "" || got(m, 0xffffffffa2a00000, 4) != "text" {
			t.Errorf("%s: ranges %s", name, d)
		}
	}
	if m, err := imageOf(whole, "vmlinux", Options{}); err != nil || got(m, 0xffffffff82000000, 4) != "data" {
		t.Errorf("without kallsyms: %v", err)
	}
	for text, want := range map[string]string{
		"ffffffffa2a00000 T _text\nffffffffa3900000 T _etext\n": "_text is moved by 0x21a00000 and _etext by 0x21b00000 from where it was linked",
		"ffffffffa2a00000 T schedule\n":                         "kallsyms has none of the 3 symbols",
	} {
		if _, err := imageOf(whole, "vmlinux", Options{Kallsyms: kallsyms(t, text)}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %s", err, want)
		}
	}
	user := buildELF(elf.ET_EXEC, []prog{{vaddr: 0x400000, flags: elf.PF_X, data: []byte("user")}}, nil)
	if m, err := imageOf(user, "a.out", Options{Kallsyms: moved}); err != nil || got(m, 0x400000, 4) != "user" {
		t.Errorf("a program: %v", err)
	}
}

// FuzzImage would catch a panic, a hang, and memory out of proportion in the
// readers of images of all kinds, and ranges out of order.
func FuzzImage(f *testing.F) {
	f.Add(buildELF(elf.ET_CORE, []prog{{vaddr: 0xffffffff81000000, data: []byte("abcd"), memsz: 0x2000}}, nil))
	f.Add(buildELF(elf.ET_EXEC, []prog{{vaddr: 0xffffffff81000000, flags: 5, data: []byte("abcd")}}, symtab(2, sym{"_text", 1, 0xffffffff81000000, 0x10})))
	f.Add(moduleFile())
	f.Fuzz(func(t *testing.T, data []byte) {
		opt := Options{
			Limit: 1 << 20, Kallsyms: kallsyms(t, "ffffffffa2a00000 T _text\n"),
			Modules: []symbols.Module{{Name: "m", Size: 0x10000, Addr: 0xffffffffc0541000}}, Module: "m",
		}
		m, err := imageOf(data, "f", opt)
		if err != nil {
			return
		}
		var last uint64
		for i, r := range m.Ranges() {
			if r.Len == 0 || r.Last() < r.Addr || i > 0 && r.Addr <= last {
				t.Fatalf("range %d: %#x", i, r)
			}
			last = r.Last()
		}
	})
}

// kallsyms reads symbols.
func kallsyms(t *testing.T, text string) *symbols.Kallsyms {
	t.Helper()
	k, err := symbols.ParseKallsyms(text, "k")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// imageOf is Read for bytes in memory.
func imageOf(data []byte, name string, opt Options) (*Image, error) {
	return Read(bytes.NewReader(data), int64(len(data)), name, opt)
}

// TestHoles would catch a dump that is read whole, which as a file with holes may
// be larger than any memory.
func TestHoles(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "dump"))
	if err != nil {
		t.Fatal(err)
	}
	const size = 1 << 38
	if err := f.Truncate(size); err != nil {
		t.Skip("no files with holes here: ", err)
	}
	if _, err := f.WriteAt([]byte("code"), size-4); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	m := &Image{}
	defer m.Close()
	if err := m.AddFile(0x1000, f, 16, size-16); err != nil {
		t.Fatal(err)
	}
	if s := got(m, 0x1000+size-16-4, 9); s != "code" {
		t.Errorf("the end is %q", s)
	}
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > 1<<16 {
		t.Errorf("%d bytes for a file of holes", n)
	}
	if err := (&Image{}).AddFile(1<<63, bytes.NewReader(nil), 0, 1<<62); err != nil {
		t.Error(err)
	}
	if err := (&Image{}).AddFile(^uint64(0), bytes.NewReader(nil), 0, 2); err == nil {
		t.Error("bytes beyond the last address are taken")
	}
}
