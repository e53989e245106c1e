package process

// EachSymbol gives the names of all code of programs that are known, until yield returns
// false. They are those of the recording, of files that were mapped or that the call names,
// and of code that programs made. A name may come more than once.
func (u *Spaces) EachSymbol(yield func(name string) bool) {
	for _, list := range u.symbols {
		for i := range list {
			if !yield(list[i].Name) {
				return
			}
		}
	}
	f := finder{u}
	seen := map[*codeFile]bool{nil: true}
	each := func(b *codeFile) bool {
		if seen[b] {
			return true
		}
		seen[b] = true
		return f.tableOf(b).Each(yield)
	}
	f.givenAt(0) // opens them
	for _, g := range u.bins.given {
		if !each(g.file) {
			return
		}
	}
	paths := map[string]bool{}
	for pid, maps := range u.maps {
		if m, _ := f.perfMap(pid); m != nil && !m.Each(yield) {
			return
		}
		for i := range maps {
			switch m := &maps[i]; {
			case m.code != nil && !yield(m.code.Name):
				return
			case m.code != nil, !m.Exec, paths[m.Path]:
			default:
				paths[m.Path] = true
				if !each(f.binary(m)) {
					return
				}
			}
		}
	}
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
	for _, g := range u.bins.given {
		if !yield(g.path) {
			return
		}
	}
}
