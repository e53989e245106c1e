package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/output"
	"github.com/ptdecode/ptdecode/decoder"
)

// complete lets shells complete the values of a flag of c.
func complete(c *cobra.Command, flag string, values ...string) {
	_ = c.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// completeFilters lets shells complete the values of the filters of all verbs, by what is in
// the recording.
func (a *app) completeFilters(root *cobra.Command) {
	for _, c := range root.Commands() {
		for _, flag := range filter.All {
			if c.Flags().Lookup(flag) == nil {
				continue
			}
			_ = c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
				if list := filter.Constant(flag); list != nil {
					return list, cobra.ShellCompDirectiveNoFileComp
				}
				a.ui.quiet = true
				cfg, err := a.open.decoderConfig(args)
				if err != nil || cfg.Recording == "-" {
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
				s, err := decoder.Open(cfg)
				if err != nil {
					return nil, cobra.ShellCompDirectiveNoFileComp
				}
				defer s.Close()
				return filter.Complete(s, flag, begun), cobra.ShellCompDirectiveNoFileComp
			})
		}
	}
}

// completeFields completes the last of the fields that -F names.
func completeFields(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	at := strings.LastIndexByte(begun, ',') + 1
	before, last := begun[:at], begun[at:]
	sign := last[:len(last)-len(strings.TrimLeft(last, "+-"))]
	var list []string
	for _, name := range output.FieldNames() {
		list = append(list, before+sign+name)
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// newCompletionCmd is the verb that writes completion scripts for shells.
func newCompletionCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "write a completion script for a shell",
		Long:  "Write a script that completes verbs, flags, their values and files for a shell.",
		Example: `  source <(ptdecode completion bash)
  ptdecode completion zsh > "${fpath[1]}/_ptdecode"
  ptdecode completion fish > ~/.config/fish/completions/ptdecode.fish`,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      maxArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			shell := ""
			if len(args) > 0 {
				shell = args[0]
			}
			root := c.Root()
			switch shell {
			case "bash":
				return root.GenBashCompletionV2(a.out, true)
			case "zsh":
				return root.GenZshCompletion(a.out)
			case "fish":
				return root.GenFishCompletion(a.out, true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(a.out)
			case "":
				return usagef("name a shell: bash, zsh, fish or powershell")
			}
			return usagef("no completion for %q: only bash, zsh, fish and powershell", shell)
		},
	}
}
