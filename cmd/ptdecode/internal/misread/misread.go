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
	"int": "a whole number", "int64": "a whole number", "uint64": "a whole number of 0 or more", "float64": "a number", "duration": "a time with its unit, as 2us or 1.5ms", "bool": "true or false",
}

// Flag says what is wrong with the flags of c, by the error of who read them. all returns the tree
// with all verbs.
func Flag(c *cobra.Command, err error, all func() *cobra.Command) string {
	var value *pflag.InvalidValueError
	var unknown *pflag.NotExistError
	switch {
	case errors.As(err, &value):
		return Value(value.GetFlag(), value.GetValue(), value.Unwrap())
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() == "":
		return err.Error() + other(c, "--"+unknown.GetSpecifiedName(), all)
	}
	return err.Error()
}

// Value says what is wrong with a value that f does not take, by the error of who read it.
func Value(f *pflag.Flag, value string, err error) string {
	need := needs[f.Value.Type()]
	switch {
	case need == "":
		return fmt.Sprintf("--%s %q: %v", f.Name, value, err)
	case strings.Contains(err.Error(), "out of range"):
		need = "one that is not so large"
	}
	return fmt.Sprintf("--%s %q: need %s", f.Name, value, need)
}

// Stdin says which flag of all verbs names standard input, of which the recording alone may be read; "": none. Before
// or behind a file's name there may be what it is of, as in CPU:FILE.
func Stdin(c *cobra.Command) (what string) {
	c.Root().PersistentFlags().VisitAll(func(f *pflag.Flag) {
		if name, _ := pflag.UnquoteUsage(f); !strings.Contains(name, "FILE") && f.Name != "etm-config" {
			return
		}
		files := []string{f.Value.String()}
		if list, ok := f.Value.(pflag.SliceValue); ok {
			files = list.GetSlice()
		}
		for _, s := range files {
			if s == "-" || strings.HasPrefix(s, "-@") || strings.HasSuffix(s, ":-") {
				what = fmt.Sprintf("--%s %s: only REC may be standard input; a file of that name is ./-", f.Name, s)
			}
		}
	})
	return what
}

// Whose says of a message about a flag where the flag's value comes from, if the command line does not
// set it: from has that by the flag's name.
func Whose(message string, from map[string]string) string {
	short, rest, ok := strings.Cut(message, "--") // as in "-F, --fields"
	if !ok || len(short) > len("-F, ") {
		return message
	}
	name := rest[:len(rest)-len(strings.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz-"))]
	if where := from[name]; where != "" {
		return where + ": " + message
	}
	return message
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
