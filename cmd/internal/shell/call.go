// Package shell renders calls of the command as a shell reads them, and opens browsers.
package shell

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// ofRun are flags that say how things look, how fast they come and how the command ends, and not what is read.
var ofRun = []string{"allow-gaps", "color", "jobs", "memory", "no-pager", "quiet", "width"}

// Call renders the call of another verb on what c reads: args, the flags of all verbs that were
// given, and more. Defaults, as of variables, hold for that call, too.
func Call(c *cobra.Command, args []string, verb string, more []string) string {
	words := []string{"ptdecode", verb}
	for _, a := range args {
		words = append(words, Quoted(a))
	}
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed || slices.Contains(ofRun, f.Name) {
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range list.GetSlice() {
				words = append(words, "--"+f.Name, Quoted(v))
			}
			return
		}
		if f.Value.Type() == "bool" {
			words = append(words, strings.TrimSuffix("--"+f.Name+"="+f.Value.String(), "=true"))
			return
		}
		words = append(words, "--"+f.Name, Quoted(f.Value.String()))
	})
	for _, m := range more {
		words = append(words, Quoted(m))
	}
	return strings.Join(words, " ")
}

// Quoted renders a word as a shell reads it.
func Quoted(s string) string {
	plain := func(r rune) bool {
		return strings.ContainsRune("-_./,:=+@%", r) || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
