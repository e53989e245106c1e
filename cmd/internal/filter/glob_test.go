package filter

import (
	"slices"
	"testing"
)

// TestFits would catch a glob that stops at a slash, and a C++ name that is taken for one.
func TestFits(t *testing.T) {
	for _, x := range []struct {
		pattern, name string
		want          bool
	}{
		{"vfs_*", "vfs_read", true},
		{"vfs_*", "ksys_vfs_read", false},
		{"*/libc*", "/usr/lib/x86_64-linux-gnu/libc.so.6", true},
		{"/usr/*", "/usr/lib/libc.so.6", true},
		{"vfs_rea?", "vfs_read", true},
		{"cpu[0-3]", "cpu2", true},
		{"cpu[0-3]", "cpu4", false},
		{"operator[]", "operator[]", true},
		{"V::operator[]*", "V::operator[](int)", true},
		{"*operator[]", "V::operator[]", true},
		{"V::operator[](int[3])", "V::operator[](int[3])", true},
		{"V::operator[]", "V::operator", false},
		{"f[^]*", "f[^]]", true},
		{"x[]]", "x[]]", true},
		{"a[b-]", "a[b-]", true},
		{"a[b-]", "ab", false},
		{"a\\[b", "a[b", true},
		{"[[]a", "[a", true},
		{"[^[]a", "ba", true},
		{"operator new[](unsigned long)", "operator new[](unsigned long)", true},
		{"f(char*)", "f(char*)", true},
		{"f", "f.cold", false},
		{"[kernel*", "[kernel.kallsyms]", true},
		{"*[0-9][", "a7[", true},
		{"kworker*", "kworker/0:2-eve", true},
	} {
		if got := Fits(x.pattern, x.name); got != x.want {
			t.Errorf("Fits(%q, %q) = %t", x.pattern, x.name, got)
		}
	}
}

// TestNearest would catch a typo that finds nothing, and names that are nothing like it.
func TestNearest(t *testing.T) {
	names := slices.Values([]string{"vfs_read", "vfs_readv", "vfs_write", "schedule", "__schedule", "swapper", "sh", "", "vfs_read"})
	for name, want := range map[string][]string{
		"vfs_reed": {"vfs_read", "vfs_readv"},
		"VFS_READ": {"vfs_read", "vfs_readv"},
		"schedul":  {"schedule", "__schedule"},
		"shedule":  {"schedule"},
		"chedul":   {"schedule", "__schedule"},
		"edul":     {"__schedule", "schedule"},
		"xyz":      nil,
		"s":        {"sh"},
	} {
		if got := Near(name, names, 2); !slices.Equal(got, want) {
			t.Errorf("Near(%q) = %q, want %q", name, got, want)
		}
	}
}
