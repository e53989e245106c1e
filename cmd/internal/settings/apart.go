package settings

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
)

// Pair is two lists of flags that do not go together: none of one with any of the other. Behind a name there
// may be the values for which that holds, as "level=insn|block"; without, it holds for all but false.
type Pair struct {
	Verb       string // "": any that has the flags
	One, Other []string
}

// Apart returns the flags that do not go together. Verbs refuse them where the command line has both. Where it
// has one of them, a default of the other does not count.
func Apart() []Pair {
	filters := filter.All[4:]
	untimed := slices.DeleteFunc(slices.Clone(filters), func(name string) bool { return name == "time" })
	return []Pair{
		{"", []string{"buffer"}, []string{"all-buffers"}},
		{"", []string{"json"}, []string{"output=text"}},
		{"", []string{"json=false"}, []string{"output=jsonl"}},
		{"", []string{"shard"}, []string{"reverse", "first", "last", "runs", "output=none"}},
		{"flow", []string{"first"}, []string{"last"}},
		{"flow", []string{"depth"}, []string{"last", "reverse", "level=insn|block|branch|element"}},
		{"flow", []string{"thunks"}, []string{"level=insn|block|branch|element"}},
		{"flow", []string{"flags", "raw-traps"}, []string{"level=insn|block|element"}},
		{"flow", []string{"fields"}, []string{"level=element"}},
		{"flow", []string{"output=none"}, append([]string{"last"}, untimed...)},
		{"flow", []string{"digest", "runs"}, append([]string{"level", "output", "fields", "reverse", "last", "notes", "raw-traps", "thunks", "bounds", "inlines"}, filters...)},
		{"pokes", []string{"no-flow"}, []string{"traps", "learned", "traced"}},
		{"pokes", []string{"traced"}, []string{"traps"}},
		{"pokes", []string{"learned"}, []string{"traps", "traced", "time", "poke", "kind", "cpu", "tid", "comm"}},
		{"text", []string{"diff"}, []string{"at", "write-kcore"}},
		{"text", []string{"write-kcore"}, []string{"sym", "range"}},
		{"check", []string{"allow-gaps"}, []string{"max-gaps", "max-ambiguous"}},
		{"calls", []string{"each"}, []string{"slowest", "split-at", "by", "sort"}},
		{"hot", []string{"by=edge"}, []string{"sort=instructions|time"}},
		{"hot", []string{"annotate"}, []string{"by", "first", "sort=instructions|executions"}},
		{"step", []string{"time"}, []string{"poke"}},
	}
}

// outdone reports whether the command line has a flag with which a default of c's flag name does not go.
func outdone(c *cobra.Command, name, text string) (found bool) {
	for _, p := range Apart() {
		if p.Verb != "" && p.Verb != c.Name() {
			continue
		}
		for _, of := range [][2][]string{{p.One, p.Other}, {p.Other, p.One}} {
			if has(of[0], name, text) {
				c.Flags().Visit(func(f *pflag.Flag) { found = found || has(of[1], f.Name, f.Value.String()) })
			}
		}
	}
	return found
}

// has reports whether a list of flags has one with a value.
func has(list []string, name, text string) bool {
	return slices.ContainsFunc(list, func(s string) bool {
		n, values, ok := strings.Cut(s, "=")
		return n == name && (ok && slices.Contains(strings.Split(values, "|"), text) || !ok && text != "false")
	})
}
