package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptdecode/ptdecode/cmd/internal/settings"
)

// TestApart would catch a pair of flags that do not go together in which one has no such name, or no such value.
func TestApart(t *testing.T) {
	verbs := allVerbs()
	known := func(verb, flag string) bool {
		name, value, _ := strings.Cut(flag, "=")
		return slices.ContainsFunc(verbs.Commands(), func(c *cobra.Command) bool {
			f := c.Flags().Lookup(name)
			if f == nil {
				f = verbs.PersistentFlags().Lookup(name)
			}
			if f == nil || verb != "" && verb != c.Name() {
				return false
			}
			words, _ := pflag.UnquoteUsage(f)
			for w := range strings.SplitSeq(value, "|") {
				if w != "" && w != "false" && !slices.Contains(strings.Split(words, "|"), w) {
					return false
				}
			}
			return true
		})
	}
	for _, p := range settings.Apart() {
		for _, flag := range slices.Concat(p.One, p.Other) {
			if !known(p.Verb, flag) {
				t.Errorf("%q: no flag %s", p.Verb, flag)
			}
		}
	}
}
