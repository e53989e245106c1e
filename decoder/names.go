package decoder

import "iter"

// NamesIn gives the names in a recording: of functions, of the files and modules that code
// is from, and of threads. A name may come more than once.
func NamesIn(s *Session) (functions, files, threads iter.Seq[string]) {
	spaces := s.rec.Processes.Spaces
	functions = func(yield func(string) bool) {
		if s.symbols == nil || s.symbols.Each(yield) {
			spaces.EachSymbol(yield)
		}
	}
	files = func(yield func(string) bool) {
		seen := map[string]bool{}
		one := func(module string) bool {
			name := kernelFile
			if module != "" {
				name = "[" + module + "]"
			}
			if seen[name] {
				return true
			}
			seen[name] = true
			return yield(name)
		}
		if s.symbols == nil || s.symbols.EachModule(one) {
			spaces.EachPath(yield)
		}
	}
	return functions, files, s.rec.Processes.Tasks.EachComm
}
