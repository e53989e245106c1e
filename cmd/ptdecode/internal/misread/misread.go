// Package misread says what is wrong with a call that cannot be read: unknown flags and verbs, and
// values of another kind than a flag takes.
package misread

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/shell"
)

// needs are the values that flags take, by the name that pflag has for their type.
var needs = map[string]string{
	"int": "a whole number", "uint64": "a whole number of 0 or more", "float64": "a number", "duration": "a time with its unit, as 2us or 1.5ms", "bool": "true or false",
}

// Flag says what is wrong with the flags of c, by the error of who read them. all returns the tree
// with all verbs.
func Flag(c *cobra.Command, err error, all func() *cobra.Command) string {
	var value *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &value):
		f := value.GetFlag()
		name := "--" + f.Name
		if need := needs[f.Value.Type()]; need != "" {
			if strings.Contains(err.Error(), "out of range") {
				need = "one that is not so large"
			}
			return fmt.Sprintf("%s %q: need %s", name, value.GetValue(), need)
		}
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		return err.Error() + other(c, "--"+unknown.GetSpecifiedName(), all)
	}
	return err.Error()
}

// other is the end of a message about a flag that c has not: what it is called there, which verbs have
// it, or which flags are like it.
func other(c *cobra.Command, name string, all func() *cobra.Command) string {
	if same := map[string]string{"--at": "time", "--time": "at"}[name]; c.Flags().Lookup(same) != nil {
		return "; is it \"--" + same + `"` // the other verbs' name of it
	}
	var have []string
	for _, v := range all().Commands() {
		if v.Runnable() && !v.Hidden && v.LocalFlags().Lookup(name[2:]) != nil {
			have = append(have, v.Name())
		}
	}
	const most = 4
	switch n := len(have); {
	case n > most:
		return fmt.Sprintf("; %s and %d other verbs have it", strings.Join(have[:most-1], ", "), n-most+1)
	case n > 1:
		return fmt.Sprintf("; %s and %s have it", strings.Join(have[:n-1], ", "), have[n-1])
	case n == 1:
		return "; " + have[0] + " has it"
	}
	return filter.Nearest(name, func(yield func(string) bool) {
		going := true
		c.Flags().VisitAll(func(f *pflag.Flag) { going = going && yield("--"+f.Name) })
	})
}

// Verb says what is wrong with a first argument that names no verb of c.
func Verb(c *cobra.Command, name string) string {
	if near := c.SuggestionsFor(name); len(near) > 0 {
		return fmt.Sprintf("no verb %q; is it %s", name, strings.Join(near, " or "))
	}
	if _, err := os.Stat(name); err == nil {
		return fmt.Sprintf("no verb %q: what to do with it comes first, as in ptdecode info %s", name, shell.Quoted(name))
	}
	return fmt.Sprintf("no verb %q", name)
}
