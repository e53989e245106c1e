package elfnames

import (
	"os"
	"testing"
)

// TestDemangle would catch names of C++ and Rust that are not as a programmer writes them,
// parts of functions under the name of the whole, and other names that are changed.
func TestDemangle(t *testing.T) {
	for name, want := range map[string]string{
		"_ZN4shop4Book5priceEi":                          "shop::Book::price",
		"_ZN4shop4Book5priceEi.cold":                     "shop::Book::price.cold",
		"_ZN4shop4Book5priceEi@plt":                      "shop::Book::price@plt",
		"_ZNSt6vectorIiSaIiEE9push_backERKi":             "std::vector<int, std::allocator<int> >::push_back",
		"_ZN4core3fmt9Formatter3pad17h0123456789abcdefE": "core::fmt::Formatter::pad",
		"_RNvC6_123foo3bar":                              "123foo::bar",
		"main":                                           "main", "_start": "_start", "_Z": "_Z", "_ZN4": "_ZN4", "main.(*T).f": "main.(*T).f", "_dl_fixup": "_dl_fixup",
	} {
		if got := Demangle(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// FuzzTable would catch an ELF file that makes the reader panic.
func FuzzTable(f *testing.F) {
	if self, err := os.Executable(); err == nil {
		if b, err := os.ReadFile(self); err == nil {
			f.Add(b[:min(len(b), 4096)], uint64(0x401000))
		}
	}
	f.Add(smallFile(), uint64(0x1004))
	f.Fuzz(func(t *testing.T, data []byte, addr uint64) {
		x, err := OpenBytes(data)
		if err != nil {
			return
		}
		x.Vaddr(addr)
		x.BuildID()
		x.DebugLink()
		x.DebugSum()
		x.Value("main")
		x.Debug("info", 1<<20)
		n := NewTable(x, x, false)
		n.Lookup(addr)
		n.Mode(addr)
		if n.Size() > int64(64+4*len(data)) {
			t.Errorf("%d bytes of %d", n.Size(), len(data))
		}
	})
}

// TestTable would catch a name of another address, a label inside of a function in the
// place of its name, a stub without the name of what it leads to, and a version left on.
func TestTable(t *testing.T) {
	x, err := OpenBytes(smallFile())
	if err != nil {
		t.Fatal(err)
	}
	n := NewTable(x, nil, false)
	for addr, want := range map[uint64]string{0xfff: "", 0x1000: "main", 0x1005: "main", 0x1008: "tail", 0x100f: "tail", 0x1010: "read@plt", 0x1020: ""} {
		if name, _, _, _ := n.Lookup(addr); name != want {
			t.Errorf("%#x: %q, want %q", addr, name, want)
		}
	}
}
