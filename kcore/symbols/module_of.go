package symbols

// Module returns the module of a name, as the list of modules has it.
func (s *Table) Module(name string) (m Module, ok bool) {
	for _, m := range s.modules {
		if m.Name == name {
			return m, true
		}
	}
	return m, false
}

// Address returns the address that kallsyms states for a name, also of the markers of a
// region's end.
func (s *Table) Address(name string) (addr uint64, ok bool) {
	if s.names == nil {
		return 0, false
	}
	s.names.note(name)
	for i := range s.names.Len() {
		if s.names.name(i) == name && s.names.module(i) == "" {
			return s.names.syms[i].addr, true
		}
	}
	return 0, false
}
