package recording

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// earlyKallsyms is a kallsyms that is read while the records are.
type earlyKallsyms struct {
	path string
	done chan struct{}
	syms *symbols.Kallsyms
	err  error
}

// startKallsyms begins to read a kallsyms, and of one of after the recording, "" for
// none, what it has besides.
func startKallsyms(tree files.Tree, path, after string) *earlyKallsyms {
	e := &earlyKallsyms{path: path, done: make(chan struct{})}
	go func() {
		defer close(e.done)
		e.syms, e.err = openKallsyms(tree, path, after)
	}()
	return e
}

// openKallsyms reads a copy of /proc/kallsyms, packed or not, and what another has
// besides; that one may be missing.
func openKallsyms(tree files.Tree, path, after string) (*symbols.Kallsyms, error) {
	text, err := tree.ReadText(path)
	if err != nil {
		return nil, err
	}
	if after != "" {
		if late, err := tree.ReadText(after); err == nil {
			text = symbols.WithLate(text, late)
		}
	}
	k, err := symbols.ParseKallsyms(text, path)
	if w, ok := tree.FS.(interface{ Named(addr uint64) }); ok && err == nil {
		k.Watch(w.Named) // a bundle is made
	}
	return k, err
}

// OpenKallsyms returns the symbols at path, which may have been read while the
// records were.
func (r *Recording) OpenKallsyms(path string) (*symbols.Kallsyms, error) {
	if e := r.early; e != nil && e.path == path {
		<-e.done
		return e.syms, e.err
	}
	return openKallsyms(r.tree, path, "")
}

// OpenModules returns the modules that a copy of /proc/modules lists, packed or not.
func (r *Recording) OpenModules(path string) ([]symbols.Module, error) {
	data, err := r.tree.Read(path)
	if err != nil {
		return nil, err
	}
	return symbols.ParseModules(data, path)
}

// AddModules appends the modules that came meanwhile, where a list of after says them.
func (r *Recording) AddModules(mods []symbols.Module) []symbols.Module {
	late, err := r.OpenModules(r.After.Modules)
	if r.After.Modules != "" && err != nil {
		r.WithoutLate(err, r.After.Modules)
	}
	return symbols.AddLate(mods, late)
}

// WithoutLate warns that one of the copies of after the recording cannot be used.
func (r *Recording) WithoutLate(err error, path string) {
	r.Warnf("the recording works without it; what came meanwhile is unknown", "%s+0x0: cannot be read, and is left out: %v", path, err)
}

// HiddenSymbols warns of symbols without addresses, for which err says why.
func (r *Recording) HiddenSymbols(err error) { r.Warnf(hintKallsyms, "%v", err) }

// breakEntries are the names of the breakpoint exception's entry
// (arch/x86/entry/entry_64.S: asm_exc_int3 since v5.8, int3 before;
// xen_asm_exc_int3 under Xen PV).
func breakEntries() []string {
	return []string{"asm_exc_int3", "int3", "xen_asm_exc_int3"}
}

// BreakEntries returns the addresses at which the breakpoint exception's handler
// begins: those that the symbols tell, nil if there are none, and those recorded.
func (r *Recording) BreakEntries(syms *symbols.Table) (list []uint64) {
	if syms != nil {
		for _, n := range breakEntries() {
			if y, ok := syms.Find(n); ok && y.Module == "" {
				list = append(list, y.Addr)
			}
		}
	}
	for _, a := range r.Breaks {
		if !slices.Contains(list, a) {
			list = append(list, a)
		}
	}
	return list
}
