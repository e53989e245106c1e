package symbols

import (
	"slices"
	"strings"
)

// Copies of the kernel's symbols of after a recording name what came meanwhile. What is
// gone by then only the copy of before names. Symbols have no times, so a module of
// which both tell the same stands once.

// WithLate returns the kallsyms of before, and behind it the lines of modules that
// only the one of after has, or has elsewhere. KSYMBOL records name all other code that
// came (include/uapi/linux/perf_event.h), with their times.
func WithLate(before, after string) string {
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

// AddLate appends to the modules of before those of after that were not there.
func AddLate(before, after []Module) []Module {
	for _, m := range after {
		if !slices.ContainsFunc(before, func(x Module) bool { return x.Name == m.Name && x.Addr == m.Addr }) {
			before = append(before, m)
		}
	}
	return before
}
