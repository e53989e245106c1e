package process

import (
	"cmp"
	"slices"
	"sort"
)

// Symbol is a symbol of a program's file.
type Symbol struct {
	Off  uint64 // in the file, bytes
	Len  uint64 // bytes; 0: up to the next
	Name string
}

// Symbols records the symbols of a file that the recording itself holds.
func (u *Spaces) Symbols(path string, list []Symbol) {
	slices.SortStableFunc(list, func(a, b Symbol) int { return cmp.Compare(a.Off, b.Off) })
	if u.symbols == nil {
		u.symbols = map[string][]Symbol{}
	}
	u.symbols[path] = list
}

// Name returns the symbol of what lies at off in a file and how far into it that is,
// bytes; ok is false if none is known.
func (u *Spaces) Name(path string, off uint64) (name string, in uint64, ok bool) {
	list := u.symbols[path]
	i := sort.Search(len(list), func(i int) bool { return list[i].Off > off }) - 1
	if i < 0 {
		return "", 0, false
	}
	if in = off - list[i].Off; list[i].Len > 0 && in >= list[i].Len {
		return "", 0, false
	}
	return list[i].Name, in, true
}
