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

// EachSymbol gives the names of all code of programs that are known, until yield returns
// false. It reads the symbols of all files that programs mapped.
func (u *Spaces) EachSymbol(yield func(name string) bool) {
	for _, list := range u.symbols {
		for i := range list {
			if !yield(list[i].Name) {
				return
			}
		}
	}
	x := finder{u}
	for _, b := range x.namedFiles() {
		if !x.tableOf(b).Each(yield) {
			return
		}
	}
	for pid, maps := range u.maps {
		if m, _ := x.perfMap(pid); m != nil && !m.Each(yield) {
			return
		}
		for i := range maps {
			if c := maps[i].code; c != nil && !yield(c.Name) {
				return
			}
		}
	}
}

// namedFiles returns the files with names: those of the call, and those that programs mapped.
func (u finder) namedFiles() (list []*codeFile) {
	u.bins.mu.Lock()
	for _, g := range u.bins.given {
		if u.openGiven(g); g.file != nil {
			list = append(list, g.file)
		}
	}
	u.bins.mu.Unlock()
	seen := map[*codeFile]bool{}
	for _, maps := range u.maps {
		for i := range maps {
			m := &maps[i]
			if m.code != nil || !m.Exec || isAnonymous(m.Path) {
				continue
			}
			if b := u.binary(m); b != nil && !seen[b] {
				seen[b] = true
				list = append(list, b)
			}
		}
	}
	return list
}

// EachPath gives the paths of all files that were mapped, each once, until yield returns
// false.
func (u *Spaces) EachPath(yield func(path string) bool) {
	seen := map[string]bool{}
	for _, maps := range u.maps {
		for i := range maps {
			p := maps[i].Path
			if seen[p] {
				continue
			}
			if seen[p] = true; !yield(p) {
				return
			}
		}
	}
}
