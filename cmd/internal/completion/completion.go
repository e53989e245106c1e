// Package completion is the verb that writes completion scripts for shells.
package completion

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
)

// New returns the verb that writes completion scripts for shells.
func New() *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "write a completion script for a shell",
		Long: `Write a script that completes verbs, flags, their values and files for a shell. That for
bash needs the package bash-completion.`,
		Example: `  source <(ptdecode completion bash)
  ptdecode completion zsh > "${fpath[1]}/_ptdecode"
  ptdecode completion fish > ~/.config/fish/completions/ptdecode.fish`,
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		Args:      host.MaxArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			shell := ""
			if len(args) > 0 {
				shell = args[0]
			}
			root := c.Root()
			switch shell {
			case "bash":
				return root.GenBashCompletionV2(c.OutOrStdout(), true)
			case "zsh":
				return root.GenZshCompletion(c.OutOrStdout())
			case "fish":
				return root.GenFishCompletion(c.OutOrStdout(), true)
			case "powershell":
				return root.GenPowerShellCompletionWithDesc(c.OutOrStdout())
			case "":
				return wrong("name a shell: bash, zsh, fish or powershell")
			}
			return wrong("no completion for %q: only bash, zsh, fish and powershell", shell)
		},
	}
}

// Help completes what help is asked about: verbs and topics.
func Help(c *cobra.Command, args []string, begun string) (list []string, how cobra.ShellCompDirective) {
	for _, v := range c.Root().Commands() {
		if topic := !v.Runnable(); len(args) == 0 && (topic || !v.Hidden) && strings.HasPrefix(v.Name(), begun) {
			list = append(list, v.Name()+"\t"+v.Short)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// wrong is the error of a call that makes no sense.
func wrong(format string, args ...any) error {
	return &decoder.CallError{What: fmt.Sprintf(format, args...)}
}
