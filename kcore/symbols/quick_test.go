package symbols

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestQuickKsym holds quickKsym against parseKsym, on lines as kernels write them and on such
// with bytes changed. It would catch a digit read wrong, and a byte taken for a digit.
func TestQuickKsym(t *testing.T) {
	good, quick := 0, 0
	r := rand.New(rand.NewPCG(1, 2))
	for range 300_000 {
		line := []byte(fmt.Sprintf("%016x %c sym_%x", r.Uint64()>>r.IntN(64), "tTdDaAwW "[r.IntN(9)], r.Uint32()>>r.IntN(32)))
		if r.IntN(4) == 0 {
			line = append(line, "\t[module]"[:r.IntN(10)]...)
		}
		for range r.IntN(3) {
			i := r.IntN(len(line))
			switch at := byte(r.Uint32()); r.IntN(3) {
			case 0:
				line[i] = at
			case 1:
				line[i] = "gG`@/: \t"[at%8] // neighbours of digits
			default:
				line = append(line[:i], line[min(i+1+int(at%2), len(line)):]...)
			}
			if len(line) == 0 {
				line = []byte{' '}
			}
		}
		got, wrong := quickKsym(string(line))
		want, bad := parseKsym(string(line))
		if wrong != bad || bad == "" && got != want {
			t.Fatalf("%q: %+v %q, want %+v %q", line, got, wrong, want, bad)
		}
		if bad == "" {
			good++
			if _, ok := eightDigits(string(line)); ok {
				quick++
			}
		}
	}
	if good < 100_000 || quick < 100_000 {
		t.Errorf("only %d lines were good, %d of them read at once", good, quick)
	}
}

// TestFewLookups holds lookups line by line, and those in lines by address, against the symbols with their
// lengths. It would catch another name or length for a symbol, by how many were asked for before.
func TestFewLookups(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	found := 0
	for range 8000 {
		var b strings.Builder
		addr := func() uint64 { return 0xffff_ffff_ffff_f000 + uint64(r.IntN(64))*64 }
		for range 1 + r.IntN(40) {
			module := ""
			if m := r.IntN(4); m > 0 && r.IntN(3) == 0 {
				module = fmt.Sprintf("\t[m%d]", m)
			}
			a := addr()
			if r.IntN(10) == 0 {
				a = []uint64{0, 1, ^uint64(0)}[r.IntN(3)]
			}
			fmt.Fprintf(&b, "%016x %c %s%s\n", a, "tTdDaAwW"[r.IntN(8)], []string{"f", "g", "_etext", "x_start", "-"}[r.IntN(5)]+[]string{"", "1"}[r.IntN(2)], module)
		}
		k, err := ParseKallsyms(b.String(), "k")
		if err != nil {
			continue
		}
		var mods []Module
		for m := 1; m < 3; m++ {
			mods = append(mods, Module{fmt.Sprintf("m%d", m), uint64(r.IntN(1024)), addr()})
		}
		few, many, all := New(k, mods, nil), New(k, mods, nil), New(k, mods, nil)
		many.few.Store(unsorted)
		all.few.Store(unsorted)
		all.inOrder()
		all.alike = true
		for range unsorted {
			a := addr() + uint64(r.IntN(80))
			if r.IntN(10) == 0 {
				a = []uint64{0, 1, ^uint64(0)}[r.IntN(3)]
			}
			got, goff, gok := few.Lookup(a, 0)
			mid, moff, mok := many.Lookup(a, 0)
			want, woff, wok := all.Lookup(a, 0)
			if got != want || goff != woff || gok != wok || mid != want || moff != woff || mok != wok {
				t.Fatalf("%#x: %+v %d %v, and %+v %d %v, want %+v %d %v, in\n%s%v", a, got, goff, gok, mid, moff, mok, want, woff, wok, &b, mods)
			}
			if wok {
				found++
			}
		}
		few.few.Store(-1 << 20) // a name has many lines
		for _, name := range []string{"f", "g1", "_etext"} {
			got, gok := few.Find(name)
			mid, mok := many.Find(name)
			want, wok := all.Find(name)
			if got != want || gok != wok || mid != want || mok != wok {
				t.Fatalf("%s: %+v %v, and %+v %v, want %+v %v, in\n%s%v", name, got, gok, mid, mok, want, wok, &b, mods)
			}
		}
		if few.lines != nil || many.order != nil {
			t.Fatal("few lookups put symbols in order, or more gave all of them a length")
		}
	}
	if found < 4000 {
		t.Errorf("only %d were found", found)
	}
}

// TestManyAlike would catch look-ups each of which goes over all lines of one address, of which a file
// may have many, and another symbol found then.
func TestManyAlike(t *testing.T) {
	for n, many := range map[int]bool{maxAlike: false, maxAlike + 1: true} {
		k, err := ParseKallsyms("0000000000001000 t a\n"+strings.Repeat("0000000000002000 t many\n", n)+"0000000000003000 t z\n", "k")
		if err != nil {
			t.Fatal(err)
		}
		s := New(k, nil, nil)
		s.few.Store(unsorted)
		for addr, want := range map[uint64]string{0x1fff: "a", 0x2000: "many", 0x2fff: "many", 0x3000: "z"} {
			if got, off, ok := s.Lookup(addr, 0); !ok || got.Name != want || got.Addr+off != addr {
				t.Errorf("%d lines of one address: %#x is in %+v", n, addr, got)
			}
		}
		if s.alike != many || many != (s.order != nil) {
			t.Errorf("%d lines of one address count as many: %v, want %v", n, s.alike, many)
		}
	}
}
