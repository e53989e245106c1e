package symbols

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestKallsyms would catch a line read wrong, and one that is no symbol taken.
func TestKallsyms(t *testing.T) {
	k, err := ParseKallsyms("0000000000000000 A fixed_percpu_data\nffffffff81000000 T _text\r\n\nffffffffc050ba30 t a b\t[virtio_ring]\n", "k")
	if err != nil {
		t.Fatal(err)
	}
	want := []Entry{{0, 'A', "fixed_percpu_data", ""}, {0xffffffff81000000, 'T', "_text", ""}, {0xffffffffc050ba30, 't', "a b", "virtio_ring"}}
	if d := cmp.Diff(want, entries(k)); d != "" {
		t.Error(d)
	}
	for in, want := range map[string]string{
		"ffffffff81000000 T _text\nzz T x\n": "k+0x19: line 2: no address, want \"address type name [module]\": \"zz T x\"",
		"ffffffff81000000\n":                 "k+0x0: line 1: no address",
		"ffffffff81000000 TT x\n":            "line 1: no type",
		"ffffffff81000000 T \n":              "line 1: no name",
		"ffffffff81000000 T x\tmod\n":        "line 1: no module's name in brackets",
		"":                                   "k+0x0: kallsyms: no symbols",
		"0 T a\n0 T b\n":                     "k+0x0: kallsyms: all 2 addresses are zero: the kernel hid them (kernel.kptr_restrict): record as root",
		"12345678123456781 T x\n":            "line 1: no address",
	} {
		if _, err := ParseKallsyms(in, "k"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", in, err, want)
		}
	}
	if _, err := ParseKallsyms("0 T a\n", "k"); !errors.Is(err, ErrRestricted) {
		t.Errorf("all zero: %v is not ErrRestricted", err)
	}
}

// TestModules would catch the same in /proc/modules.
func TestModules(t *testing.T) {
	ms, err := ParseModules([]byte("virtio_blk 28672 0 - Live 0xffffffffc0541000\nzfs 100 1 spl,x, Live 0xffffffffc0600000 (PO)\n"), "m")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]Module{{"virtio_blk", 28672, 0xffffffffc0541000}, {"zfs", 100, 0xffffffffc0600000}}, ms); d != "" {
		t.Error(d)
	}
	for in, want := range map[string]string{
		"a 1 0 - Live 0x0\n":                 "m+0x0: modules: all 1 addresses are zero: the kernel hid them",
		"a 1 0 - Live\n":                     "m+0x0: line 1: 5 fields",
		"a x 0 - Live 0x1\n":                 "line 1: no size",
		"a 1 0 - Live y\n":                   "line 1: no address",
		"a 20 0 - Live 0xfffffffffffffff0\n": "line 1: the size reaches beyond the last address",
	} {
		if _, err := ParseModules([]byte(in), "m"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %s", in, err, want)
		}
	}
	if ms, err := ParseModules(nil, "m"); err != nil || ms != nil {
		t.Errorf("no modules: %v %v", ms, err)
	}
}

// TestLookup would catch an address given to a symbol that does not reach it,
// at each of the ends a symbol can have, and a name chosen by chance.
func TestLookup(t *testing.T) {
	k, err := ParseKallsyms(`0000000000001000 A percpu
ffffffff81000000 T _stext
ffffffff81000000 T startup
ffffffff81000100 t local
ffffffff81000100 W weak
ffffffff81000100 T global
ffffffff81000180 d data_in_text
ffffffff81000200 T last_text
ffffffff81000300 T _etext
ffffffff81001ff0 R rodata
ffffffff82000000 D data
ffffffffc0000000 t m_first	[m]
ffffffffc0000040 t m_last	[m]
ffffffffc0004000 t n_only	[n]
ffffffffc0009080 t o_first	[o]
`, "k")
	if err != nil {
		t.Fatal(err)
	}
	syms := New(k, []Module{{"m", 0x1800, 0xffffffffc0000000}}, []Ksymbol{
		{Name: "slots", Addr: 0xffffffffc0100000, Len: 0x1000, From: 100, Until: 200},
		{Name: "later", Addr: 0xffffffffc0100010, Len: 16, From: 200, Until: math.MaxUint64},
		{Name: "over", Addr: 0xffffffff81000104, Len: 4, From: 5, Until: 6},
	})
	compared := 0
	// Address, time, and the symbol, if there is one.
	for line := range strings.Lines(`1000 0
		ffffffff80ffffff 0
		ffffffff81000000 0 startup
		ffffffff810000ff 0 startup+0xff
		ffffffff81000105 0 global+0x5
		ffffffff81000105 5 over+0x1
		ffffffff81000181 0 data_in_text+0x1
		ffffffff810002ff 0 last_text+0xff
		ffffffff81000300 0 # _etext is where text ends, not what lies behind it
		ffffffff82000fff 0 data+0xfff # the kernel's last: to the end of its page
		ffffffff82001000 0
		ffffffffc0000045 0 m_last+0x5 [m]
		ffffffffc00017ff 0 m_last+0x17bf [m] # to the module's end, which modules states
		ffffffffc0001800 0
		ffffffffc0004fff 0 n_only+0xfff [n] # no size: to the end of the page
		ffffffffc0005000 0
		ffffffffc0009000 0
		ffffffffc0100008 150 slots+0x8
		ffffffffc0100018 150 slots+0x18
		ffffffffc0100008 99
		ffffffffc0100008 200
		ffffffffc0100018 200 later+0x8
		ffffffffffffffff 0
	`) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
		var addr, time uint64
		if n, _ := fmt.Sscanf(line, "%x %d", &addr, &time); n < 2 {
			continue
		}
		compared++
		want := strings.Join(strings.SplitN(line, " ", 3)[2:], "")
		s, off, ok := syms.Lookup(addr, time)
		g := ""
		if ok {
			g = s.Format(off)
		}
		for _, at := range []uint64{0, 5, 150, 200, math.MaxUint64} {
			if y, _, found := syms.Lookup(addr, at); syms.Steady(addr) && (y != s || found != ok) {
				t.Errorf("0x%x is said to be steady, but is %q at %d and %q at %d", addr, s.Name, time, y.Name, at)
			}
		}
		if g != want {
			t.Errorf("%#x at %d: %q, want %q", addr, time, g, want)
		}
	}
	if compared != 23 {
		t.Errorf("%d lines were compared", compared)
	}
	if s, ok := syms.Find("weak"); !ok || s.Addr != 0xffffffff81000100 || s.Len != 0x80 {
		t.Errorf("alias: %+v %v", s, ok)
	}
	arm, err := ParseKallsyms("ffff800001000000 t init\t[low]\nffff800008010000 T init\nffff800008020000 T _etext\n", "k")
	if err != nil {
		t.Fatal(err)
	}
	if s, _ := New(arm, nil, nil).Find("init"); s.Module != "" || s.Len != 0x10000 {
		t.Errorf("modules below the kernel, as on arm64: %+v, want the kernel's own", s)
	}
	if _, ok := syms.Find("nothing"); ok {
		t.Error("found nothing")
	}
}

// TestKsymbols would catch a life paired with the wrong end.
func TestKsymbols(t *testing.T) {
	got := Ksymbols([]KsymbolRecord{
		{30, "a", 0x10, 5, true}, {10, "a", 0x10, 5, false}, {40, "a", 0x10, 5, false}, // given out of order
		{20, "b", 0x10, 5, true}, {50, "a", 0x10, 9, false},
	})
	want := []Ksymbol{{"a", 0x10, 5, 10, 30}, {"b", 0x10, 5, 0, 20}, {"a", 0x10, 5, 40, 50}, {"a", 0x10, 9, 50, math.MaxUint64}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestSymbolsMarkers would catch a name that marks where a region begins or
// ends taken for the name of the function there.
func TestSymbolsMarkers(t *testing.T) {
	k, err := ParseKallsyms("ffffffff81001000 T __indirect_thunk_start\nffffffff81001000 T __static_call_text_end\n"+
		"ffffffff81001000 T __x86_indirect_thunk_rax\nffffffff81002000 t lone_start\nffffffff81003000 T next\n", "k")
	if err != nil {
		t.Fatal(err)
	}
	s := New(k, nil, nil)
	for addr, want := range map[uint64]string{0xffffffff81001004: "__x86_indirect_thunk_rax", 0xffffffff81002004: "lone_start"} {
		if y, _, ok := s.Lookup(addr, 0); !ok || y.Name != want {
			t.Errorf("%x: %q, want %q", addr, y.Name, want)
		}
	}
}

// entries returns all lines of k.
func entries(k *Kallsyms) (list []Entry) {
	for i := range k.Len() {
		list = append(list, k.Entry(i))
	}
	return list
}

// FuzzSymbols would catch a panic, a hang, and an address given to a symbol that
// does not hold it.
func FuzzSymbols(f *testing.F) {
	f.Add([]byte("ffffffff81000000 T _text\nffffffffc0541000 t f\t[virtio_blk]\n"))
	f.Add([]byte("virtio_blk 28672 0 - Live 0xffffffffc0541000\nvirtio 20480 2 virtio_blk,virtio_pci, Live 0xffffffffc051d000\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		k, _ := ParseKallsyms(string(data), "f")
		mods, _ := ParseModules(data, "f")
		syms := New(k, mods, nil)
		for _, y := range entries(k) {
			if s, off, ok := syms.Lookup(y.Addr, 0); ok && (off >= s.Len || s.Addr+off != y.Addr) {
				t.Fatalf("%#x is %+v+%d", y.Addr, s, off)
			}
			syms.Find(y.Name)
		}
	})
}

// TestMemory would catch symbols that cost several times their file.
func TestMemory(t *testing.T) {
	const lines = 100_000
	var b strings.Builder
	for i := range uint64(lines) {
		fmt.Fprintf(&b, "%016x t some_function_%d\t[module%d]\n", 0xffffffff80000000+i*64, i, i%50)
	}
	path := filepath.Join(t.TempDir(), "kallsyms")
	if err := os.WriteFile(path, []byte(b.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	k, err := OpenKallsyms(path)
	if err != nil {
		t.Fatal(err)
	}
	syms := New(k, nil, nil)
	runtime.ReadMemStats(&after)
	if syms.Len() != lines {
		t.Errorf("%d symbols, want %d", syms.Len(), lines)
	}
	// The file itself, 16 bytes a line, 24 a symbol, and 4 while they are sorted.
	if got, want := (after.TotalAlloc-before.TotalAlloc)/lines, uint64(b.Len()/lines+48); got > want {
		t.Errorf("%d bytes a line, want %d at most", got, want)
	}
}
