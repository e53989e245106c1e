package decoder

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/internal/process"
)

// filter is one address range by which the trace unit filtered.
type filter struct {
	lo, hi uint64 // both included: of the kernel or, with a file, offsets in it, bytes
	stop   bool   // tracing stops where it is entered (ADDRn_CFG 2); else code outside of all others is not traced (1)
	file   string // that it lies in; "": none, addresses are meant
}

// parseFilters reads address filters as perf writes them: ACTION START/SIZE or
// ACTION START/SIZE@FILE, with blanks or commas between; the action is filter,
// or stop (tracestop), and both numbers are as C writes them
// (tools/perf/util/auxtrace.c, addr_filters__parse_bare_filter and
// addr_filter__to_str, v6.12). A start or stop at one address is refused: Intel
// PT filters by ranges (arch/x86/events/intel/pt.c, pt_event_addr_filters_validate).
func parseFilters(s string) ([]filter, error) {
	var list []filter
	words := strings.FieldsFunc(s, func(r rune) bool { return r == ' ' || r == ',' })
	for ; len(words) > 0; words = words[2:] {
		var f filter
		switch words[0] {
		case "filter":
		case "stop", "tracestop":
			f.stop = true
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
		f.lo, f.hi, f.file = lo, lo+(n-1), file
		list = append(list, f)
	}
	return list, nil
}

// filtered returns what tells which code is traced, nil where all is.
func (s *Session) filtered() func(space uint32, ip uint64) bool {
	if len(s.filters) == 0 {
		return nil
	}
	return func(space uint32, ip uint64) bool {
		var m process.Mapping
		user := !s.Kernel(ip)
		if user {
			m, _ = s.procs.Spaces.Find(space, ip)
		}
		some, in := false, false // a filter that lets code in; one that lets this in
		for i := range s.filters {
			f := &s.filters[i]
			at := ip
			if f.file != "" {
				if user && space == 0 {
					return true // where files lie is not known: nothing can be told
				}
				if at = m.Off + (ip - m.Addr); m.Path != f.file {
					some = some || !f.stop
					continue
				}
			}
			hit := f.lo <= at && at <= f.hi
			if f.stop && hit {
				return false
			}
			some, in = some || !f.stop, in || (!f.stop && hit)
		}
		return in || !some
	}
}
