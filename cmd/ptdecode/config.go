package main

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/settings"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/misread"
)

// newConfigTopic is the help topic that says where flags get their defaults, and what is
// set now. It is no verb: it does nothing.
func newConfigTopic(a *app) *cobra.Command {
	c := &cobra.Command{Use: "config", Short: "defaults of flags: a file, and variables", Long: settings.Help}
	c.SetHelpFunc(func(c *cobra.Command, _ []string) {
		printHelp(a, c)
		fmt.Fprintln(c.OutOrStdout())
		s, err := settings.Read(os.LookupEnv)
		if err == nil {
			fmt.Fprint(c.OutOrStdout(), s.Now(c.Root()))
		} else if a.ctx == nil { // else mistyped told
			a.ui.fail(err)
		}
	})
	return c
}

// defaults gives the flags of c that are not set their defaults, and returns where these come from.
func defaults(c *cobra.Command) (map[string]string, error) {
	s, err := settings.Read(os.LookupEnv)
	if err != nil {
		return nil, err
	}
	return s.Apply(c, allVerbs, misread.Value)
}

// allVerbs returns the tree of all verbs.
func allVerbs() *cobra.Command { return newRoot(&app{ui: &ui{}}) }

// mistyped tells of variables that mean nothing, and of err, a default that was not taken.
func (a *app) mistyped(err error) {
	ms := settings.Unknown(os.Environ(), allVerbs)
	if err != nil {
		ms = append(ms, misread.Whose(err.Error(), a.preset))
	}
	if len(ms) > 0 {
		a.ui.say("%s", strings.Join(ms, "\n"))
		a.ui.hint("ptdecode help config says which variables there are")
	}
}
