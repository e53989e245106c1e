package recorder

import (
	"slices"
	"strings"
)

// args are perf record's arguments as they were given.
type args struct {
	options []string // all in front of "--"
	command []string // all behind it, and the first word that is no option
	output  string   // of -o; "" where it is not given
	events  []string // of each -e
	all     bool     // -a or -C: whole CPUs
	some    bool     // -p, -t, -u or -G: what runs already
	perTask bool     // --per-thread
	period  string   // of -c or -F, as given
	clock   string   // of -k
	has     map[string]bool
}

// Options of perf record that take a value behind a blank (tools/perf/builtin-record.c,
// __record_options, v6.19). Those with a value that may be missing take it behind = or
// attached.
const (
	shortValues = "ecCoFmptukrjDG"
	longValues  = " event count cpu output freq mmap-pages pid tid uid clockid realtime branch-filter delay cgroup filter affinity mmap-flush max-size" +
		" num-thread-synthesize proc-map-timeout switch-max-files switch-output-event synth vmlinux call-graph control clang-path clang-opt off-cpu-thresh setup-filter filter-pinned "
)

// longOf are the long names of short options that matter here.
var longOf = map[byte]string{
	'e': "event", 'o': "output", 'a': "all-cpus", 'C': "cpu", 'p': "pid", 't': "tid", 'u': "uid", 'G': "cgroup", 'c': "count", 'F': "freq",
	'k': "clockid", 'S': "snapshot", 'I': "intr-regs", 'N': "no-buildid-cache", 'D': "delay", 'T': "timestamp", 'm': "mmap-pages",
}

// parseArgs takes perf record's arguments apart as perf does.
func parseArgs(list []string) *args {
	a := &args{has: map[string]bool{}}
	for i := 0; i < len(list); i++ {
		w := list[i]
		if w == "--" {
			a.options, a.command = list[:i:i], list[i+1:]
			return a
		}
		if w == "-" || !strings.HasPrefix(w, "-") {
			a.options, a.command = list[:i:i], list[i:]
			return a
		}
		var name, value string
		var given, wants bool
		if long, ok := strings.CutPrefix(w, "--"); ok {
			name, value, given = strings.Cut(long, "=")
			wants = strings.Contains(longValues, " "+name+" ")
		} else {
			name, value, given, wants = a.cluster(w[1:])
		}
		if wants && !given && i+1 < len(list) {
			i++
			value = list[i]
		}
		a.take(name, value)
	}
	a.options = slices.Clip(list)
	return a
}

// cluster takes short options apart that stand behind one dash. The last may have a
// value: attached, or behind a blank.
func (a *args) cluster(s string) (name, value string, given, wants bool) {
	for i := 0; i < len(s); i++ {
		name = longOf[s[i]]
		if name == "" {
			name = s[i : i+1]
		}
		rest := s[i+1:]
		if strings.IndexByte(shortValues, s[i]) >= 0 {
			return name, rest, rest != "", true
		}
		if s[i] == 'S' || s[i] == 'I' || s[i] == 'z' { // what follows is their value
			return name, rest, true, false
		}
		if rest != "" {
			a.take(name, "")
		}
	}
	return name, "", false, false
}

// take notes an option that matters here.
func (a *args) take(name, value string) {
	a.has[name] = true
	switch name {
	case "output":
		a.output = value
	case "event":
		a.events = append(a.events, value)
	case "all-cpus", "cpu":
		a.all = true
	case "pid", "tid", "uid", "cgroup":
		a.some = true
	case "per-thread":
		a.perTask = true
	case "count":
		a.period = "-c " + value
	case "freq":
		a.period = "-F " + value
	case "clockid":
		a.clock = value
	}
}

// userOnly reports whether all events leave the kernel out, so that its code is not
// needed.
func (a *args) userOnly() bool {
	if a.has["all-user"] {
		return true
	}
	if len(a.events) == 0 {
		return false
	}
	for _, list := range a.events {
		for _, e := range splitEvents(list) {
			at := max(strings.LastIndexByte(e, '/'), strings.LastIndexByte(e, ':'))
			if at < 0 || strings.Contains(e[at:], "k") || !strings.Contains(e[at:], "u") {
				return false
			}
		}
	}
	return true
}

// asksFor reports whether an event of the trace unit is asked for.
func (a *args) asksFor(name string) bool {
	for _, list := range a.events {
		for _, e := range splitEvents(list) {
			if e == name || strings.HasPrefix(e, name+"/") {
				return true
			}
		}
	}
	return false
}

// splitEvents splits a list of events at its commas, but not inside of / /.
func splitEvents(s string) (list []string) {
	inside, from := false, 0
	for i := range len(s) {
		switch {
		case s[i] == '/':
			inside = !inside
		case s[i] == ',' && !inside:
			list, from = append(list, s[from:i]), i+1
		}
	}
	return append(list, s[from:])
}

// quote renders words as a shell reads them.
func quote(words []string) string {
	var out []string
	for _, w := range words {
		if w == "" || strings.Trim(w, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=:,./@%^") != "" {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		out = append(out, w)
	}
	return strings.Join(out, " ")
}
