// Package addrfilter knows the address filters by which a trace unit left code out: as
// perf writes them, and which code they let be traced.
package addrfilter

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

// Parse reads address filters as perf writes them, see decoder.ParseFilters.
func Parse(s string) ([]Filter, error) {
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

// Lets reports whether filters let the code at ip be traced. It lies in a file at off,
// bytes; known is false where that cannot be told.
func Lets(list []Filter, ip uint64, file string, off uint64, known bool) bool {
	some, in := false, false // a filter that lets code in; one that lets this in
	for i := range list {
		f, at := &list[i], ip
		if f.File != "" {
			if !known {
				return true
			}
			if at = off; f.File != file {
				some = some || !f.Stop
				continue
			}
		}
		hit := f.Lo <= at && at <= f.Hi
		if f.Stop && hit {
			return false
		}
		some, in = some || !f.Stop, in || (!f.Stop && hit)
	}
	return in || !some
}
