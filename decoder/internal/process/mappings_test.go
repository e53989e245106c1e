package process

import (
	"slices"
	"testing"
)

// TestMappingsInTime would catch code of a mapping before it took another's place
// or after another took its own, in the process itself or in a child. It would also
// catch code given up because something was mapped elsewhere.
func TestMappingsInTime(t *testing.T) {
	u := NewSpaces("", nil)
	code := func(time, addr, size uint64, path string) Mapping {
		return Mapping{Time: time, Addr: addr, Len: size, Path: path, Exec: true}
	}
	u.Mapped(10, code(0, 0x1000, 0x3000, "/bin/main"))
	u.Mapped(10, code(100, 0x8000, 0x2000, "/lib/a"))
	u.Mapped(10, code(300, 0x9000, 0x1000, "/lib/b")) // over the second half of a
	u.Forked(11, 10, 200)
	u.Forked(12, 10, 400)
	u.Mapped(10, Mapping{Time: 500, Addr: 0x8000, Len: 0x1000, Path: "/data"}) // data over the rest of it
	u.Mapped(11, code(350, 0x8000, 0x2000, "/lib/c"))
	u.Execed(12, 600)
	u.Mapped(12, code(610, 0x1000, 0x1000, "/bin/other"))
	u.Forked(12, 11, 800) // the number is used again
	u.Forked(13, 99, 0)   // was there before
	u.Mapped(13, code(0, 0x1000, 0x1000, "/bin/third"))
	u.Seal()
	for _, tt := range []struct {
		pid        int32
		time, addr uint64
		want       string
	}{
		{10, 50, 0x1000, "/bin/main"}, {10, 150, 0x8000, "/lib/a"}, {10, 299, 0x9000, "/lib/a"},
		{10, 300, 0x9000, "/lib/b"}, {10, 300, 0x8fff, "/lib/a"}, {10, 501, 0x8000, ""}, {10, 501, 0x9000, "/lib/b"},
		{10, 501, 0x3fff, "/bin/main"}, {10, 501, 0x4000, ""},
		{11, 250, 0x9000, "/lib/a"}, {11, 400, 0x9000, "/lib/c"}, {11, 400, 0x1000, "/bin/main"},
		{12, 450, 0x9000, "/lib/b"}, {12, 450, 0x8000, "/lib/a"}, {12, 605, 0x8000, ""}, {12, 620, 0x1000, "/bin/other"},
		{12, 900, 0x9000, "/lib/c"}, {13, 900, 0x1000, "/bin/third"}, {13, 900, 0x2000, ""}, {14, 1, 0x1000, ""},
	} {
		m, _ := u.Find(u.At(tt.pid, tt.time), tt.addr)
		if !m.Exec {
			m.Path = ""
		}
		if m.Path != tt.want {
			t.Errorf("process %d at %d ns, %#x: %q, want %q", tt.pid, tt.time, tt.addr, m.Path, tt.want)
		}
	}
	if a, b := u.At(10, 1), u.At(10, 299); a != b {
		t.Errorf("a file mapped where none was makes another address space: %d and %d", a, b)
	}
	if a, b := u.At(10, 299), u.At(10, 300); a == b {
		t.Error("a file mapped over another makes no other address space")
	}
}

// TestNumbers would catch address spaces that are numbered as they are asked for: flow that one
// process decoded would name those of others in the next. It would also catch a number that says
// nothing until somebody asked for its process.
func TestNumbers(t *testing.T) {
	type moment struct {
		pid  int32
		time uint64
	}
	moments := []moment{{10, 1}, {10, 310}, {10, 510}, {11, 250}, {11, 400}, {12, 450}, {12, 620}, {12, 900}, {13, 5}, {77, 1}, {-1, 1}}
	var first map[moment]uint32
	for _, reverse := range []bool{false, true} {
		u := NewSpaces("", nil)
		for i, path := range []string{"/a", "/b", "/c"} {
			u.Mapped(10, Mapping{Time: uint64(100 + i*200), Addr: 0x8000, Len: 0x1000, Path: path, Exec: true})
		}
		u.Forked(11, 10, 200)
		u.Mapped(11, Mapping{Time: 350, Addr: 0x8000, Len: 0x1000, Path: "/d", Exec: true})
		u.Forked(12, 10, 400)
		u.Execed(12, 600)
		u.Mapped(12, Mapping{Time: 610, Addr: 0x8000, Len: 0x1000, Path: "/e", Exec: true})
		u.Forked(12, 11, 800)
		u.Forked(13, 99, 0)
		u.Seal()
		if reverse {
			for m, n := range first { // before their processes are asked for
				want, _ := u.Find(u.At(m.pid, m.time), 0x8000)
				fresh := NewSpaces("", nil)
				fresh.maps, fresh.births = u.maps, u.births
				if got, _ := fresh.Find(n, 0x8000); got.Path != want.Path {
					t.Errorf("process %d at %d, by its number %d alone: %q, want %q", m.pid, m.time, n, got.Path, want.Path)
				}
			}
			slices.Reverse(moments)
		}
		all := map[moment]uint32{}
		for _, m := range moments {
			all[m] = u.At(m.pid, m.time)
		}
		if first == nil {
			first = all
			continue
		}
		for m, n := range all {
			if n != first[m] {
				t.Errorf("process %d at %d: number %d, asked for in another order %d", m.pid, m.time, n, first[m])
			}
		}
	}
}
