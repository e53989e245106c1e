package recording

import (
	"fmt"
	"strconv"
	"strings"
)

// Filter is one address range by which the trace unit filtered.
type Filter struct {
	Lo, Hi uint64 // both included: of the kernel or, with a file, offsets in it, bytes
	Stop   bool   // tracing stops where it is entered (ADDRn_CFG 2); else code outside of all others is not traced (1)
	File   string // that it lies in; "": none, addresses are meant
}

// String returns the filter as perf writes it.
func (f Filter) String() string {
	action, file := "filter", ""
	if f.Stop {
		action = "tracestop"
	}
	if f.File != "" {
		file = "@" + f.File
	}
	return fmt.Sprintf("%s 0x%x/0x%x%s", action, f.Lo, f.Hi-f.Lo+1, file)
}

// takeFilters takes the address filters of the call, else those of the recording.
func (f *facts) takeFilters(c *Config) {
	if len(c.Filters) > 0 {
		var list []string
		for _, x := range c.Filters {
			list = append(list, x.String())
		}
		f.Filters, f.Meta.Filter = c.Filters, strings.Join(list, ", ")
		return
	}
	var err error
	if f.Filters, err = ParseFilters(f.Meta.Filter); err != nil {
		f.Warnf(hintFilter, "%s+0x0: AUXTRACE_INFO: %v", f.Name, err)
	}
}

// ParseFilters reads address filters as perf writes them, see decoder.ParseFilters.
func ParseFilters(s string) ([]Filter, error) {
	var list []Filter
	words := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' })
	for ; len(words) > 0; words = words[2:] {
		var f Filter
		switch words[0] {
		case "filter":
		case "stop", "tracestop":
			f.Stop = true
		default:
			return nil, fmt.Errorf("address filter %q: %q is no action, need filter, stop or tracestop", s, words[0])
		}
		if len(words) < 2 {
			return nil, fmt.Errorf("address filter %q: %s without a range, need START/SIZE", s, words[0])
		}
		where, file, _ := strings.Cut(words[1], "@")
		start, size, ranged := strings.Cut(where, "/")
		lo, err := strconv.ParseUint(start, 0, 64)
		if err != nil {
			return nil, fmt.Errorf("address filter %q: start %q is no number", s, start)
		}
		n, err := strconv.ParseUint(size, 0, 64)
		if err != nil || !ranged || n == 0 || lo+(n-1) < lo {
			return nil, fmt.Errorf("address filter %q: size %q is no number of bytes from %#x on", s, size, lo)
		}
		f.Lo, f.Hi, f.File = lo, lo+(n-1), file
		list = append(list, f)
	}
	return list, nil
}
