package symbols

import (
	"slices"
	"strings"
)

// A copy of the kernel's symbols from after a recording names what came meanwhile. What is
// gone by then only the copy from before names. Symbols in such copies have no times. So a
// module of which both copies tell the same stands once.

// WithLate joins two copies of /proc/kallsyms, from before and from after a recording. It
// returns the first one, and behind it the lines of modules that only the second one has,
// or has elsewhere. All other code that came meanwhile is named by KSYMBOL records, with
// times (include/uapi/linux/perf_event.h).
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
