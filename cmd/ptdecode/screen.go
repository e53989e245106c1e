package main

import (
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/manual"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/misread"
)

// screen is how the output looks where it is read on a terminal.
type screen struct {
	when    string // --color
	noPager bool
	colour  bool
	width   int             // columns that lines shall fit; 0: any
	is      bool            // the output is read on a terminal
	pager   *terminal.Pager // nil: none
}

// unpaged are the verbs whose output is no text to read, or that write to the terminal
// while they work.
var unpaged = []string{"record", "bundle", "export", "merge", "completion", "docs", "view", "step", "__complete", "__completeNoDesc"}

// helping are the verbs that work also where a default is wrong, as they say what is right.
var helping = []string{"help", "explain", "version", "completion", "docs", "__complete", "__completeNoDesc"}

// addScreenFlags gives root and its verbs the flags.
func (a *app) addScreenFlags(root *cobra.Command) {
	f := root.PersistentFlags()
	f.StringVar(&a.screen.when, "color", "auto", "colours: `always|never|auto`; auto is on a terminal, without NO_COLOR")
	f.BoolVar(&a.screen.noPager, "no-pager", false, "on a terminal, do not show the output page by page")
	f.IntVar(&a.screen.width, "width", 0, "align columns, shorten names and wrap lines so that they fit `N` columns (on a terminal as many as it has)")
	complete(root, "color", "always", "never", "auto")
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		var err error
		a.ctx = c.Context()
		if a.preset, err = defaults(c); err != nil && !slices.Contains(helping, c.Name()) {
			return err
		}
		if a.ui.quiet = *a.open.quiet; !strings.HasPrefix(c.Name(), "__") {
			a.mistyped(err)
		}
		if !slices.Contains([]string{"always", "never", "auto"}, a.screen.when) {
			return usagef("--color %q: need always, never or auto", a.screen.when)
		}
		if what := misread.Stdin(c); what != "" {
			return usagef("%s", what)
		}
		if need := terminal.WrongWidth(a.screen.width); need != "" {
			return usagef("--width %d: need %s", a.screen.width, need)
		}
		a.page(c, c.Name())
		return nil
	}
}

// lines returns where lines of text go: to the output, wrapped where they shall fit. What is no
// text is as it is.
func (a *app) lines(asJSON bool, indent int) io.Writer {
	if asJSON {
		return a.out
	}
	return terminal.Wrapped(a.out, a.screen.width, indent)
}

// printHelp prints the help of c.
func printHelp(a *app, c *cobra.Command) {
	if a.screen.pager == nil {
		_, _ = defaults(c) // a file that is wrong keeps nobody from help
		a.page(c, "help")
	}
	width := manual.Columns
	if n := terminal.Width(a.out); n > 0 {
		width = min(width, n)
	}
	_ = manual.Help(c.OutOrStdout(), c, width) // Kept has the error
}

// page has the output of c, a verb of that name, appear on a terminal as the flags and the environment say.
func (a *app) page(c *cobra.Command, name string) {
	s, isTerminal := &a.screen, terminal.Is(a.out)
	s.is = isTerminal
	each, _ := c.Flags().GetBool("each") // false where a verb has no such flag
	a.ui.draw = draws(name, each, isTerminal, terminal.Is(a.ui.tty))
	if s.width == 0 && !c.Flags().Changed("width") {
		s.width = terminal.Width(a.out)
	}
	s.colour = terminal.Colour(s.when, isTerminal, os.Getenv)
	if !isTerminal || s.noPager || slices.Contains(unpaged, name) {
		return
	}
	command := terminal.PagerCommand(os.Getenv, os.LookupEnv)
	if command == "" {
		return
	}
	s.pager = terminal.NewPager(command, a.out, a.ui.tty)
	if terminal.Is(a.ui.w) {
		a.ui.w = s.pager // else messages would stand in the middle of a page
	}
	a.out = s.pager
}

// leave waits until what was written was read.
func (s *screen) leave() {
	if s.pager != nil {
		_ = s.pager.Close() // how the reader leaves the pager is no failure
	}
}
