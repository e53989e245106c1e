package main

import (
	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/explain"
)

// newWordsTopic is the help topic that explains the words of the output. It is
// no verb: it does nothing.
func newWordsTopic() *cobra.Command {
	return &cobra.Command{
		Use:   "words",
		Short: "what the words of the output mean",
		Long:  explain.Glossary(),
	}
}
