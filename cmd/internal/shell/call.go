// Package shell renders calls of the command as a shell reads them, and opens browsers.
package shell

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Call renders the call of another verb on what c reads.
func Call(c *cobra.Command, args []string, verb string, more []string) string {
	words := []string{"ptdecode", verb}
	for _, a := range args {
		words = append(words, Quoted(a))
	}
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !f.Changed {
			return
		}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			for _, v := range list.GetSlice() {
				words = append(words, "--"+f.Name, Quoted(v))
			}
			return
		}
		if f.Value.Type() == "bool" {
			words = append(words, "--"+f.Name)
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
