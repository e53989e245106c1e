// Package settings gives flags their defaults: from a file, and from variables of the
// environment. What stands on the command line comes before both.
package settings

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder"
)

// Help is what the help topic config says.
const Help = `Flags get their defaults from a file and from environment variables.

The file is the one that PTDECODE_CONFIG names, else ptdecode/config in XDG_CONFIG_HOME,
else ~/.config/ptdecode/config. A line is FLAG = VALUE, for all verbs that have the flag,
or VERB.FLAG = VALUE. What follows a # is a comment:

  syntax = intel
  no-pager = true
  flow.level = call        # of flow alone
  check.max-ambiguous = 0.1

The variable of a flag is PTDECODE_FLAG, or PTDECODE_VERB_FLAG for one verb, with _ for -.
An example is PTDECODE_SYNTAX=intel, or PTDECODE_FLOW_LEVEL=call.

The command line overrides variables, and these override the file. A value for one verb
overrides one for all verbs. A value for all verbs is not for those whose flag of that name
takes something else: output = jsonl is for none that write to a file, as merge does. And
where the command line has a flag with which another does not go, as --last with --first,
no default of the other counts.

Other variables: PTDECODE_PAGER and PAGER, the pager (cat: none); NO_COLOR; GOGC. A
message names other variables that begin with PTDECODE_, which mean nothing.`

const prefix = "PTDECODE_" // of the variables' names

// others are the variables that are no flag's, without the prefix: the command's, and those of its
// tests and benchmarks, which the command passes over.
var others = []string{"CONFIG", "PAGER",
	"A32_FILES", "A32_OBJDUMP", "A64_FILES", "A64_OBJDUMP", "BIG", "DATA", "FULL", "LONG", "OPENCSD", "PEERS", "PERF", "TURNS"}

// value is a default and where it comes from.
type value struct {
	text, from string
	alone      bool // of one verb alone
}

// Settings is what the file says.
type Settings struct {
	Path   string // "": there is no file
	values map[string]value
	env    func(string) (string, bool)
}

// Read reads the file that the environment names. That it is not there is an error only if
// PTDECODE_CONFIG names it.
func Read(env func(string) (string, bool)) (*Settings, error) {
	s := &Settings{values: map[string]value{}, env: env}
	path, named := env("PTDECODE_CONFIG")
	if !named {
		dir, ok := env("XDG_CONFIG_HOME")
		if !ok || dir == "" {
			home, ok := env("HOME")
			if !ok || home == "" {
				return s, nil
			}
			dir = filepath.Join(home, ".config")
		}
		path = filepath.Join(dir, "ptdecode", "config")
	}
	if path == "" {
		return s, nil
	}
	data, err := host.ReadText(path)
	switch {
	case err != nil && !named && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)):
		return s, nil
	case err != nil:
		return nil, err
	}
	s.Path = path
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		key, text, ok := strings.Cut(line, "=")
		if !ok {
			return nil, &decoder.CallError{What: fmt.Sprintf("%s:%d: %s: need FLAG = VALUE", path, n, terminal.Quote(line))}
		}
		s.values[strings.TrimSpace(key)] = value{text: strings.Trim(strings.TrimSpace(text), `"`), from: fmt.Sprintf("%s:%d", path, n)}
	}
	return s, nil
}

// Apply gives the flags of c that are not set their defaults, and returns where these come from, by
// the flag's name. It calls root, which makes the tree of all verbs, only where the file says
// something or a default is for all verbs. It calls wrong for what to say of a value that f does not take,
// and refuses what filter.Empty does. A default is passed over that is not meant for c (meant), or that does not go with what
// the command line has (Apart).
func (s *Settings) Apply(c *cobra.Command, root func() *cobra.Command, wrong func(f *pflag.Flag, value string, err error) string) (from map[string]string, err error) {
	if len(s.values) > 0 {
		if err := s.known(root()); err != nil {
			return nil, err
		}
	}
	from, root = map[string]string{}, sync.OnceValue(root)
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Changed || f.Name == "help" || f.Name == "version" || err != nil {
			return
		}
		v, ok := s.of(c.Name(), f.Name)
		if !ok || !v.alone && inPlace(c, f) || outdone(c, f.Name, v.text) {
			return
		}
		var same []*pflag.Flag
		if !v.alone {
			same = namesakes(root(), c, f.Name)
		}
		if !meant(f, v.text, same) {
			return
		}
		e := f.Value.Set(v.text)
		if e != nil && otherwise(f, same) {
			_ = f.Value.Set(f.DefValue)
			return
		}
		from[f.Name] = v.from
		if e != nil {
			err = &decoder.CallError{What: wrong(f, v.text, e)}
		} else if need := unfit(f.Name, v.text); need != "" {
			err = errors.Join(&decoder.CallError{What: fmt.Sprintf("--%s %q: need %s", f.Name, v.text, need)}, f.Value.Set(f.DefValue))
		}
	})
	if err == nil {
		err = filter.Empty(c.Flags(), from)
	}
	return from, err
}

// unfit returns what is needed in place of a default without which help would not be shown; "": it is right.
func unfit(flag, text string) string {
	switch {
	case flag == "color" && !slices.Contains([]string{"always", "never", "auto"}, text):
		return "always, never or auto"
	case flag == "width":
		if n, err := strconv.Atoi(text); err == nil {
			return terminal.WrongWidth(n)
		}
	}
	return ""
}

// inPlace reports whether f, a flag of c alone, stands in place of a flag that the other verbs have, and
// takes other values.
func inPlace(c *cobra.Command, f *pflag.Flag) bool {
	all := c.Root().PersistentFlags().Lookup(f.Name)
	return all != nil && all != f && all.Value.Type() != f.Value.Type()
}

// of returns the default of a verb's flag; ok is false if nothing sets one.
func (s *Settings) of(verb, flag string) (v value, ok bool) {
	for i, name := range []string{verb + "." + flag, flag} {
		if name = variable(name); name == prefix+"CONFIG" {
			continue
		}
		if text, ok := s.env(name); ok {
			return value{text, name, i == 0}, true
		}
	}
	for i, key := range []string{verb + "." + flag, flag} {
		if v, ok := s.values[key]; ok {
			v.alone = i == 0
			return v, true
		}
	}
	return value{}, false
}

// variable returns the name of the variable of a flag, or of VERB.FLAG.
func variable(flag string) string {
	return prefix + strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(flag))
}

// Unknown says of each variable of an environment, NAME=VALUE, that is named as if it were one of the
// command's that it is none. It calls root, which makes the tree of all verbs, only if there may be one.
func Unknown(environ []string, root func() *cobra.Command) (messages []string) {
	var known map[string]bool
	for _, v := range slices.Sorted(slices.Values(environ)) {
		name, _, _ := strings.Cut(v, "=")
		rest, ours := strings.CutPrefix(name, prefix)
		if !ours || slices.Contains(others, rest) {
			continue
		}
		if known == nil {
			known = map[string]bool{prefix + "CONFIG": true, prefix + "PAGER": true}
			for flag := range flags(root()) {
				known[variable(flag)] = true
			}
		}
		if known[name] {
			continue
		}
		m := name + " means nothing"
		near := filter.Near(rest, func(yield func(string) bool) {
			for k := range known {
				if !yield(k[len(prefix):]) {
					return
				}
			}
		}, 1)
		if len(near) > 0 {
			m += "; is it " + prefix + near[0]
		}
		messages = append(messages, m)
	}
	return messages
}

// flags returns the names of all flags, and of each verb's as VERB.FLAG.
func flags(root *cobra.Command) map[string]bool {
	names := map[string]bool{}
	add := func(verb string, fs *pflag.FlagSet) {
		fs.VisitAll(func(f *pflag.Flag) { names[f.Name], names[verb+"."+f.Name] = true, true })
	}
	for _, c := range root.Commands() {
		add(c.Name(), c.Flags())
		add(c.Name(), root.PersistentFlags())
	}
	return names
}

// known refuses a line of the file that names no flag.
func (s *Settings) known(root *cobra.Command) error {
	names := flags(root)
	for _, key := range slices.Sorted(maps.Keys(s.values)) {
		if !names[key] {
			return &decoder.CallError{What: fmt.Sprintf("%s: no flag %s%s", s.values[key].from, terminal.Quote(key), filter.Nearest(key, maps.Keys(names)))}
		}
	}
	return nil
}

// Now says what is set, a line each.
func (s *Settings) Now(root *cobra.Command) string {
	var b strings.Builder
	if s.Path == "" {
		b.WriteString("There is no file.\n")
	} else {
		fmt.Fprintf(&b, "The file is %s.\n", s.Path)
	}
	seen := map[string]bool{}
	for _, c := range root.Commands() {
		for _, fs := range []*pflag.FlagSet{root.PersistentFlags(), c.Flags()} {
			fs.VisitAll(func(f *pflag.Flag) {
				v, ok := s.of(c.Name(), f.Name)
				name := f.Name
				if v.alone {
					name = c.Name() + "." + name
				}
				line := fmt.Sprintf("  %s = %s   (%s)\n", name, v.text, v.from)
				if ok && !seen[line] {
					seen[line] = true
					b.WriteString(line)
				}
			})
		}
	}
	return b.String()
}
