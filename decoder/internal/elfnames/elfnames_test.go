package elfnames

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestDemangle would catch names of C++ and Rust that are not as a programmer writes them.
// It would also catch parts of functions under the name of the whole, and other names changed.
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

// TestTable would catch a name of another address, and a label inside of a function in the
// place of its name. It would also catch a stub without its name, and a version left on.
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

// TestMode would catch code of Arm's read in another instruction set than mapping symbols
// say, and names that only look like one.
func TestMode(t *testing.T) {
	n := &Table{}
	for addr, name := range map[uint64]string{0x100: "$a", 0x200: "$t.1", 0x300: "$d", 0x400: "$x", 0x180: "$abc", 0x190: "$q"} {
		n.mapping(addr, []byte(name))
	}
	n.seal(&File{})
	for addr, want := range map[uint64]isa.Mode{0x100: isa.ModeA32, 0x1ff: isa.ModeA32, 0x200: isa.ModeT32, 0x3ff: isa.ModeUnknown, 0x400: isa.ModeA64} {
		if m, ok := n.Mode(addr); m != want || !ok {
			t.Errorf("%#x: %v, want %v", addr, m, want)
		}
	}
	if _, ok := n.Mode(0xff); ok {
		t.Error("a mode before the first mapping symbol")
	}
}
