package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/manual"
)

//go:generate go run . docs ../../docs

// newDocsCmd is the hidden verb that writes the documents made from the verbs'
// help: DIR/cli.md and the manual pages DIR/man/*.1.
func newDocsCmd(*app) *cobra.Command {
	return &cobra.Command{
		Use:    "docs DIR",
		Short:  "write cli.md and the manual pages",
		Hidden: true,
		Args:   maxArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("docs needs the folder to write to")
			}
			return writeDocs(c.Root(), args[0])
		},
	}
}

// writeDocs writes the files of docs under dir.
func writeDocs(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(filepath.Join(dir, "man"), 0o777); err != nil {
		return err
	}
	for name, text := range manual.Pages(root) {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), text, 0o666); err != nil {
			return err
		}
	}
	return nil
}
