package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/manual"
)

//go:generate go run . docs ../../docs

// newDocsCmd is the hidden verb that writes the documents made from the verbs'
// help, DIR/cli.md and the manual pages DIR/man/*.1, and the schemas of the objects that
// they print, DIR/formats/json-schema/*.json.
func newDocsCmd(*app) *cobra.Command {
	return &cobra.Command{
		Use:    "docs DIR",
		Short:  "write cli.md, the manual pages and the JSON schemas",
		Hidden: true,
		Args:   host.MaxArgs(1),
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
	for name, text := range pages(root) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o666); err != nil {
			return err
		}
	}
	return nil
}

// pages returns the documents that the code makes, by their names under docs.
func pages(root *cobra.Command) map[string][]byte {
	files := manual.Pages(root)
	for typ, s := range schemas() {
		files["formats/json-schema/"+typ+".json"] = s.Text()
	}
	return files
}
