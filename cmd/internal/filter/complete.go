package filter

import (
	"slices"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
)

// most is how many names are offered to complete one.
const most = 200

// Complete returns the values that a flag may have in s and that begin as begun does. What
// stands before the last comma of begun stays.
func Complete(s *decoder.Session, flag, begun string) (list []string) {
	at := 0
	if flag != "sym" {
		at = strings.LastIndexByte(begun, ',') + 1
	}
	before, last := begun[:at], begun[at:]
	seen := map[string]bool{}
	offer := func(name string) bool {
		if strings.HasPrefix(name, last) && name != "" && !seen[name] {
			seen[name] = true
			list = append(list, before+name)
		}
		return len(list) < most
	}
	functions, files, threads := namesIn(s)
	c := choice{s: s}
	switch flag {
	case "sym":
		functions(offer)
	case "dso":
		files(offer)
	case "comm":
		threads(offer)
	case "cpu", "id", "core", "source":
		for _, st := range s.Streams() {
			core, _, _ := strings.Cut(st.Core, " (")
			n := c.cpuOf(st)
			name := map[string]string{"cpu": strconv.FormatInt(n, 10), "id": st.ID, "core": core, "source": st.Source}[flag]
			if flag != "cpu" || n >= 0 {
				offer(name)
			}
		}
	}
	slices.Sort(list)
	return list
}

// CompleteLast returns begun, a list with commas, with each of names in place of its last
// part. Signs in front of that, as in +time, stay.
func CompleteLast(begun string, names []string) (list []string) {
	at := strings.LastIndexByte(begun, ',') + 1
	before, last := begun[:at], begun[at:]
	sign := last[:len(last)-len(strings.TrimLeft(last, "+-"))]
	for _, name := range names {
		list = append(list, before+sign+name)
	}
	return list
}

// Constant returns the values that a flag may have in any recording, nil if there are none.
func Constant(flag string) (list []string) {
	switch flag {
	case "verdict":
		for v := decoder.Certain; v <= decoder.Ambiguous; v++ {
			list = append(list, v.String())
		}
	case "flags":
		return Transfers()
	}
	return list
}
