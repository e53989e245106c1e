package filter

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Empty refuses a flag that was given with nothing behind it, as of a variable of a shell that
// is not set: a list, a filter, or fields. Such a list would choose nothing, such a filter everything.
// preset has, by name, the flags that a file or a variable of the environment sets.
func Empty(fs *pflag.FlagSet, preset map[string]string) (err error) {
	fs.VisitAll(func(f *pflag.Flag) {
		l, list := f.Value.(pflag.SliceValue)
		switch {
		case err != nil, !f.Changed && preset[f.Name] == "":
		case list && strings.Join(l.GetSlice(), "") != "", !list && f.Value.String() != "":
		case !list && f.Name != "fields" && !slices.Contains(All, f.Name):
		default:
			what, _ := pflag.UnquoteUsage(f)
			err = callf("--%s: nothing is given; it needs %s", f.Name, what)
		}
	})
	return err
}
