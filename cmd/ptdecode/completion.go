package main

import (
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
		if c.Name() == "calls" {
			c.ValidArgsFunction = a.completeFunction
		}
		if c.Name() == "hot" {
			_ = c.RegisterFlagCompletionFunc("annotate", func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
				return a.completeBy(args, "sym", begun), cobra.ShellCompDirectiveNoFileComp
			})
		}
		for _, flag := range filter.All {
			if c.Flags().Lookup(flag) == nil {
				continue
			}
			_ = c.RegisterFlagCompletionFunc(flag, func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
				if list := filter.Constant(flag); list != nil {
					return list, cobra.ShellCompDirectiveNoFileComp
				}
				return a.completeBy(args, flag, begun), cobra.ShellCompDirectiveNoFileComp
			})
		}
	}
}

// completeBy completes a value of a filter by what is in the recording that args name.
func (a *app) completeBy(args []string, flag, begun string) []string {
	a.ui.quiet = true
	cfg, err := a.open.decoderConfig(args)
	if err != nil || cfg.Recording == "-" {
		return nil
	}
	s, err := decoder.Open(cfg)
	if err != nil {
		return nil
	}
	defer s.Close()
	return filter.Complete(s, flag, begun)
}

// completeFunction completes the argument FUNC behind REC.
func (a *app) completeFunction(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return nil, cobra.ShellCompDirectiveDefault
	}
	return a.completeBy(args, "sym", begun), cobra.ShellCompDirectiveNoFileComp
}

// completeFields completes the last of the fields that -F names.
func completeFields(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	return filter.CompleteLast(begun, output.FieldNames()), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}
