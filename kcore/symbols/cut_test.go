package symbols

import (
	"fmt"
	"testing"
)

// TestCut would catch a symbol that is needed and not kept, and one whose end moves when
// its neighbour goes. It would also catch a name where the symbol was left out.
func TestCut(t *testing.T) {
	const text = "0000000000000000 A percpu\nffffffff81000000 T _text\nffffffff81000000 T first\nffffffff81000040 t second\nffffffff81000050 d data\n" +
		"ffffffff81000080 t third\nffffffff810000c0 T _etext\nffffffff81001000 t lone\nffffffffc0000000 t mod_a\t[m]\nffffffffc0000020 t mod_b\t[m]\nffffffffc0005000 t other\t[n]\n"
	mods := []Module{{"m", 0x30, 0xffffffffc0000000}}
	k, err := ParseKallsyms(text, "k")
	if err != nil {
		t.Fatal(err)
	}
	k.Watch(func(uint64) {})
	whole := New(k, mods, nil)
	var addrs []uint64
	for _, base := range []uint64{0xffffffff81000000, 0xffffffff81001000, 0xffffffffc0000000, 0xffffffffc0005000} {
		for _, off := range []uint64{0, 8, 0x1f, 0x20, 0x2f, 0x30, 0x40, 0x48, 0x50, 0x78, 0x80, 0xb8, 0xc0, 0xfff, 0x1000} {
			addrs = append(addrs, base+off)
		}
	}
	say := func(s *Table, addr uint64) string {
		y, off, ok := s.Lookup(addr, 0)
		return fmt.Sprintf("%t %s %s %x %t", ok, y.Name, y.Module, off, y.Code)
	}
	names := []string{"first", "second", "data", "third", "lone", "mod_a", "mod_b", "other"}
	for mask := range 1 << len(names) {
		wanted := map[string]bool{}
		for i, n := range names {
			wanted[n] = mask>>i&1 != 0
		}
		cut, err := ParseKallsyms(whole.Cut(func(addr, _ uint64) bool {
			y, _, _ := whole.Lookup(addr, 0)
			return wanted[y.Name]
		}), "cut")
		if err != nil {
			if mask == 0 {
				continue // nothing is left
			}
			t.Fatal(err)
		}
		part := New(cut, mods, nil)
		for _, a := range addrs {
			want := say(whole, a)
			if y, _, _ := whole.Lookup(a, 0); !wanted[y.Name] {
				want = "false   0 false"
			}
			if got := say(part, a); got != want {
				t.Fatalf("%b: %x is %q, want %q", mask, a, got, want)
			}
		}
	}
	if _, ok := k.Addr("_etext"); !ok {
		t.Fatal("no _etext")
	}
	if y, _ := ParseKallsyms(whole.Cut(func(uint64, uint64) bool { return false }), "cut"); y.Len() == 0 {
		t.Error("a name that was asked for is gone")
	} else if a, ok := y.Addr("_etext"); !ok || a != 0xffffffff810000c0 {
		t.Errorf("_etext is %x %t", a, ok)
	}
}
