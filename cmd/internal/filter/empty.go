package filter

import (
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// Empty refuses a flag that was given with nothing behind it, as of a variable of a shell that
// is not set: a list, or a filter. Such a list would choose nothing, such a filter everything.
func Empty(fs *pflag.FlagSet) (err error) {
	fs.Visit(func(f *pflag.Flag) {
		l, list := f.Value.(pflag.SliceValue)
		switch {
		case err != nil, list && strings.Join(l.GetSlice(), "") != "", !list && (f.Value.String() != "" || !slices.Contains(All, f.Name)):
		default:
			what, _ := pflag.UnquoteUsage(f)
			err = callf("--%s: nothing is given; it needs %s", f.Name, what)
		}
	})
	return err
}
