// Package version is the verb that says which build this is.
package version

import (
	"fmt"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/decoder"
)

// New returns the verb. The linker may have been told a version of the build; "" means none.
func New(linked string) *cobra.Command {
	modules := false
	c := &cobra.Command{
		Use:   "version",
		Short: "say which build this is, and of what it was made",
		Long: `Print the version, the Go release and the platform of this build, as --version
does. Where the build recorded its commit, a second line names that and its time.`,
		Example: `  ptdecode version
  ptdecode version --modules               # and the modules it was built from`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &decoder.CallError{What: fmt.Sprintf("argument %q is one too many: takes 0", args[0])}
			}
			info, ok := debug.ReadBuildInfo()
			if !ok {
				info = &debug.BuildInfo{}
			}
			_, err := fmt.Fprint(c.OutOrStdout(), long(linked, info, modules))
			return err
		},
	}
	c.Flags().BoolVar(&modules, "modules", false, "list the modules that the build is made from, with their checksums")
	return c
}

// Text is the version in one line: that of the build, the Go release, system and architecture.
func Text(linked string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return line(linked, info)
}

// line is Text, of a build.
func line(linked string, info *debug.BuildInfo) string {
	v := linked
	if v == "" {
		v = info.Main.Version // go install MODULE@VERSION, or what the Go tool made of the commit
	}
	if v == "" {
		v = "(devel)"
	}
	for _, s := range []string{info.GoVersion, setting(info, "GOOS"), setting(info, "GOARCH")} {
		if s != "" {
			v += " " + s
		}
	}
	return v
}

// long is all that the verb prints.
func long(linked string, info *debug.BuildInfo, modules bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "ptdecode %s\n", line(linked, info))
	if commit := setting(info, "vcs.revision"); commit != "" {
		fmt.Fprintf(&b, "commit %s %s", commit, setting(info, "vcs.time"))
		if setting(info, "vcs.modified") == "true" {
			b.WriteString(", with changes")
		}
		b.WriteString("\n")
	}
	if modules {
		for _, m := range info.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			fmt.Fprintf(&b, "module %s %s %s\n", m.Path, m.Version, m.Sum)
		}
	}
	return b.String()
}

// setting returns one of a build's settings; "" means that it was not recorded.
func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
