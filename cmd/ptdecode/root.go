package main

import (
	"context"
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/completion"
	"github.com/ptdecode/ptdecode/cmd/internal/explain"
	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/profile"
	"github.com/ptdecode/ptdecode/cmd/internal/shard"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/cmd/internal/version"
	"github.com/ptdecode/ptdecode/cmd/internal/view"
	"github.com/ptdecode/ptdecode/cmd/internal/vmlinux"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/misread"
)

// app is one run of the command.
type app struct {
	in   io.Reader
	out  io.Writer
	ui   *ui
	open openFlags
	ctx  context.Context // of the call of the verb: Ctrl-C cancels it

	vmlinux *vmlinux.File // of --vmlinux; nil: none
	screen  screen
	preset  map[string]string // where flags have values from that the call does not set, by name
	joined  *shard.Joined     // flow that merge takes from parts; nil: it is decoded
}

// newRoot returns the tree of verbs, or of the call's verb alone where args need no other: two
// thirds of a millisecond go into the flags of all.
func newRoot(a *app, args ...string) *cobra.Command {
	root := &cobra.Command{
		Use:   "ptdecode VERB REC",
		Short: "rebuild what each CPU executed, while the kernel was changing its own code",
		Long: `ptdecode rebuilds what each CPU executed from an Intel PT or Arm CoreSight trace,
while the kernel was changing its own code, and says how sure it is.

REC is a perf.data file, a directory made by perf record --kcore or one with a
perf.data in it, an Arm snapshot (a directory with a snapshot.ini), or a bundle. Without
REC and raw parts it is ./perf.data, as with perf. - reads a recording from standard
input, which messages call stdin. Raw parts work as well: trace bytes (--pt),
code (--kcore, --text) and the recording's events (--events).

Exit codes: 0 complete; 1 failed; 2 wrong usage; 3 there is output, but it is
incomplete; 4 recordings differ (diff). 130 is interrupted; with 141 the reader of the
output went away. Output is incomplete after gaps in the flow, findings from check, or a damaged recording.
With --allow-gaps the exit code is then 0.

ptdecode help words explains the words of the output, ptdecode explain WORD one.`,
		Example: `  perf record --kcore -e intel_pt//k -a -- sleep 1  # on Arm: -e cs_etm//k
  ptdecode info perf.data
  ptdecode flow perf.data | less
  ptdecode flow --pt 0:cpu0.pt --kcore kcore --digest
  ptdecode info snapshot/                    # a directory with a snapshot.ini
  ptdecode flow snapshot/ --level element`,
		Version:       version.Text(linked),
		SilenceErrors: true,
		SilenceUsage:  true,

		SuggestionsMinimumDistance: 2,
		Args:                       noVerb,
		RunE: func(c *cobra.Command, _ []string) error {
			if a.open.anyPart() {
				return usagef("no verb given: info, packets, flow, pokes, text, check or events")
			}
			return c.Help()
		},
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usagef("%s", misread.Flag(c, err, func() *cobra.Command { return newRoot(&app{ui: &ui{}}) }))
	})
	root.SetVersionTemplate("ptdecode {{.Version}}\n")
	root.SetHelpFunc(func(c *cobra.Command, _ []string) { printHelp(a, c) })
	root.SetHelpCommand(newHelpCmd(root))
	a.open.addOpenFlags(root)
	a.addScreenFlags(root)
	for _, v := range needed(args) {
		root.AddCommand(v.make(a))
	}
	a.completeFilters(root)
	return root
}

// needed returns the verbs that a call needs: its own, or all.
func needed(args []string) []verb {
	all := verbs()
	i := slices.IndexFunc(all, func(v verb) bool { return len(args) > 0 && args[0] == v.name && !v.all() })
	if i < 0 {
		return all
	}
	return all[i : i+1]
}

// newHelpCmd is "help VERB", the same as "VERB --help", "help words" and "help config". It is not
// listed as a verb.
func newHelpCmd(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		ValidArgsFunction: completion.Help,
		Use:               "help [VERB|words|config]", Short: "help for a verb, the words of the output, or defaults of flags", Hidden: true, Args: host.MaxArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			c, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return noVerb(root, args)
			}
			c.InitDefaultHelpFlag()
			return c.Help()
		},
	}
}

// verb is one of the command's, by the name that it has when it is made.
type verb struct {
	name string
	make func(*app) *cobra.Command
}

// all reports whether v looks at all verbs.
func (v *verb) all() bool {
	return slices.Contains([]string{"explain", "completion", "docs", "config"}, v.name)
}

// verbs returns the command's verbs, in the order of its help, and the topics of help. These
// are no verbs: they do nothing.
func verbs() []verb {
	return []verb{
		{"info", newInfoCmd},
		{"flow", newFlowCmd},
		{"summary", newSummaryCmd},
		{"calls", newCallsCmd},
		{"hot", newHotCmd},
		{"packets", newPacketsCmd},
		{"pokes", newPokesCmd},
		{"diff", newDiffCmd},
		{"step", newStepCmd},
		{"text", newTextCmd},
		{"check", newCheckCmd},
		{"events", newEventsCmd},
		{"export", newExportCmd},
		{"profile", func(a *app) *cobra.Command { return profile.New(a.host()) }},
		{"bundle", newBundleCmd},
		{"merge", newMergeCmd},
		{"view", func(a *app) *cobra.Command {
			return view.New(&view.Host{Open: a.host().Open, Times: filter.Times, Poke: a.tellPoke, Say: a.ui.say})
		}},
		{"record", newRecordCmd},
		{"explain", func(*app) *cobra.Command { return explain.New() }},
		{"demo", newDemoCmd},
		{"completion", func(*app) *cobra.Command { return completion.New() }},
		{"version", func(*app) *cobra.Command { return version.New(linked) }},
		{"docs", newDocsCmd},
		{"words", func(*app) *cobra.Command { return explain.WordsTopic() }},
		{"config", newConfigTopic},
	}
}

// noVerb is reached when the first argument names no verb.
func noVerb(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return usagef("%s", misread.Verb(c, args[0]))
}

// execute runs the command with args and returns the exit code.
func (a *app) execute(ctx context.Context, args []string) int {
	a.ui.args = args
	root := newRoot(a, args...)
	root.SetArgs(args)
	out := &terminal.Kept{Writer: outNow{a}}
	root.SetIn(a.in)
	root.SetOut(out)
	root.SetErr(a.ui.w)
	cmd, err := root.ExecuteContextC(ctx)
	if err == nil {
		err = out.Err
	}
	verb := "ptdecode"
	if cmd != nil {
		verb = cmd.CommandPath()
	}
	code := a.exit(ctx, err, verb)
	a.screen.leave()
	return code
}
