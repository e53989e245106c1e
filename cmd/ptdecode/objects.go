package main

import (
	"bufio"
	"encoding/json"
	"io"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
)

// withObjects completes c, a verb that prints lines or, with --output jsonl, JSON
// objects: what it prints is run's business.
func withObjects(c *cobra.Command, run func(c *cobra.Command, asJSON bool, args []string) error) *cobra.Command {
	var format string
	var asJSON bool
	c.Flags().BoolVar(&asJSON, "json", false, "the same as -o jsonl")
	c.Flags().StringVarP(&format, "output", "o", "text", "lines or JSON objects: `text|jsonl`")
	complete(c, "output", "text", "jsonl")
	c.Args = host.MaxArgs(1)
	c.RunE = func(c *cobra.Command, args []string) error {
		if format != "text" && format != "jsonl" {
			return usagef("--output %q: need text or jsonl", format)
		}
		if f := c.Flags(); f.Changed("json") && f.Changed("output") && asJSON != (format == "jsonl") {
			return usagef("--json=%t: --output %s does not go with it", asJSON, format)
		}
		return run(c, format == "jsonl" || asJSON, args)
	}
	return c
}

// tell prints what a verb found out: as one object, or for people.
func (a *app) tell(found interface{ Print(io.Writer) }, asJSON bool) error {
	if asJSON {
		return printJSON(a.out, found)
	}
	w := bufio.NewWriter(a.lines(false, 11))
	found.Print(w)
	return w.Flush()
}

// printJSON prints v as one line.
func printJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
