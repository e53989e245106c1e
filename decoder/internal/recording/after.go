package recording

import (
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// Copies of the kernel's symbols of after a recording name what came meanwhile. What is
// gone by then only the copy of before names. Symbols have no times, so a module of
// which both tell the same stands once.

// withModules returns the kallsyms of before, and behind it the lines of modules that
// only the one of after has, or has elsewhere. KSYMBOL records name all other code that
// came (include/uapi/linux/perf_event.h), with their times.
func withModules(before, after string) string {
	was := map[string]map[string]bool{} // by module: addresses
	for line := range strings.Lines(before) {
		if addr, module, ok := moduleLine(line); ok {
			if was[module] == nil {
				was[module] = map[string]bool{}
			}
			was[module][addr] = true
		}
	}
	stayed := map[string]bool{} // modules that have an address of before
	for line := range strings.Lines(after) {
		if addr, module, ok := moduleLine(line); ok && was[module][addr] {
			stayed[module] = true
		}
	}
	var b strings.Builder
	b.WriteString(before)
	if before != "" && !strings.HasSuffix(before, "\n") {
		b.WriteByte('\n')
	}
	for line := range strings.Lines(after) {
		addr, module, ok := moduleLine(line)
		if ok && !stayed[module] && strings.Trim(addr, "0") != "" {
			b.WriteString(line)
		}
	}
	return b.String()
}

// moduleLine takes a line of kallsyms apart that names code or data of a module; ok is
// false for all others (kernel/kallsyms.c, s_show, v6.12).
func moduleLine(line string) (addr, module string, ok bool) {
	at := strings.LastIndexByte(line, '[')
	if at < 0 {
		return "", "", false
	}
	module, _, ok = strings.Cut(line[at+1:], "]")
	if !ok || module == "bpf" || strings.HasPrefix(module, "__builtin__") {
		return "", "", false
	}
	addr, _, ok = strings.Cut(line, " ")
	return addr, module, ok
}

// AddModules appends the modules of after the recording that it has a list of, but for
// those that were there before.
func (r *Recording) AddModules(mods []symbols.Module) []symbols.Module {
	if r.After.Modules == "" {
		return mods
	}
	late, err := r.OpenModules(r.After.Modules)
	if err != nil {
		r.Warnf("the recording works without it; modules that came meanwhile end where the next symbol begins", "%s+0x0: cannot be read, and is left out: %v", r.After.Modules, err)
		return mods
	}
	for _, m := range late {
		if !slices.ContainsFunc(mods, func(x symbols.Module) bool { return x.Name == m.Name && x.Addr == m.Addr }) {
			mods = append(mods, m)
		}
	}
	return mods
}

// WithoutLate warns that the copy of the kernel's code of after the recording cannot be
// used.
func (r *Recording) WithoutLate(err error) {
	r.Warnf("the recording works without it; code that came meanwhile is unknown", "%s+0x0: cannot be read, and is left out: %v", r.After.Kcore, err)
}
