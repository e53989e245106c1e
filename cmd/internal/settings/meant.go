package settings

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// meant reports whether a default for all verbs is one of f, where same are the flags of other verbs with that
// name. Where one of them takes a word of a list, as text|jsonl, the default is of those that do, and take this word.
func meant(f *pflag.Flag, text string, same []*pflag.Flag) bool {
	own := words(f)
	return slices.Contains(own, text) || !slices.ContainsFunc(same, func(o *pflag.Flag) bool {
		theirs := words(o)
		return own == nil && theirs != nil || slices.Contains(theirs, text)
	})
}

// words returns the words of which f takes one; nil: it takes something else.
func words(f *pflag.Flag) []string {
	if name, _ := pflag.UnquoteUsage(f); strings.Contains(name, "|") {
		return strings.Split(name, "|")
	}
	return nil
}

// namesakes returns the flags of other verbs than c that are called name, but those that all verbs have.
func namesakes(root, c *cobra.Command, name string) (same []*pflag.Flag) {
	for _, v := range root.Commands() {
		if f := v.Flags().Lookup(name); f != nil && v.Name() != c.Name() {
			same = append(same, f)
		}
	}
	return same
}

// otherwise reports whether some of same take values of another kind than f.
func otherwise(f *pflag.Flag, same []*pflag.Flag) bool {
	return slices.ContainsFunc(same, func(o *pflag.Flag) bool { return o.Value.Type() != f.Value.Type() })
}
