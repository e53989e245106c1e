package vmlinux

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestPackedVmlinux would catch a vmlinux that is packed, as recordings' own files may be, and of
// which it is not said which file cannot be read, and what to do.
func TestPackedVmlinux(t *testing.T) {
	file := filepath.Join(t.TempDir(), "vmlinux.zst")
	if err := os.WriteFile(file, []byte("\x28\xb5\x2f\xfd"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(file); err == nil || err.Error() != file+": --vmlinux needs an ELF file: it is packed: unpack it by zstd -d" {
		t.Errorf("a packed file: %v", err)
	}
}

// TestDiffers would catch source lines of another kernel: one with another build ID, or whose functions lie elsewhere. It would also
// catch a kernel that is refused though it ran. Where both build IDs are known, the functions do not count.
func TestDiffers(t *testing.T) {
	k := &File{Text: 0x1000, Symbols: true, BuildID: "ab"}
	for i := range 16 {
		k.globals = append(k.globals, function{string(rune('a' + i)), 0x1000 + uint64(i)*16})
	}
	for _, c := range []struct {
		build         string
		known, others int // functions that the kernel has, and those that lie elsewhere in it
		want          string
	}{
		{"ab", 16, 16, ""}, {"cd", 16, 0, "its build ID is ab, that of the kernel is cd"}, {"", 16, 8, ""}, {"", 16, 0, ""},
		{"", 16, 9, "of 16 functions that both have, 7 lie where that kernel has them"}, {"", 7, 7, ""}, {"", 8, 8, "of 8 functions that both have, 0 lie where that kernel has them"},
	} {
		at := func(name string) (uint64, bool) {
			i := int(name[0] - 'a')
			off := uint64(i) * 16
			if i < c.others {
				off += 64
			}
			return off, i < c.known
		}
		if got := k.differs(c.build, at); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
	k.BuildID = ""
	if got := k.differs("cd", func(string) (uint64, bool) { return 0, false }); got != "" {
		t.Errorf("of a file without a build ID: %q", got)
	}
}

// TestBuildID would catch a build ID that is not found behind other notes, as in a vmlinux, and notes that end in their midst.
func TestBuildID(t *testing.T) {
	note := func(name string, kind uint32, desc ...byte) (b []byte) {
		for _, n := range []uint32{uint32(len(name)), uint32(len(desc)), kind} {
			b = binary.LittleEndian.AppendUint32(b, n)
		}
		for b = append(b, name...); len(b)%4 != 0; {
			b = append(b, 0)
		}
		for b = append(b, desc...); len(b)%4 != 0; {
			b = append(b, 0)
		}
		return b
	}
	xen, id := note("Xen\x00", 3, 1, 2, 3, 4, 5), note("GNU\x00", 3, 0xca, 0xfe, 1)
	for _, c := range []struct {
		notes []byte
		want  string
	}{{slices.Concat(xen, id, xen), "cafe01"}, {slices.Concat(xen, id[:len(id)-4]), ""}, {xen[:9], ""}, {note("GNU\x00", 1, 7), ""}, {id[:len(id)-1], "cafe01"}} {
		if got := idAmong(c.notes, binary.LittleEndian); got != c.want {
			t.Errorf("%x: %q, want %q", c.notes, got, c.want)
		}
	}
}
