package main

import (
	"errors"

	"github.com/spf13/cobra"
)

// newPacketsCmd is the verb that prints packets.
func newPacketsCmd(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "packets REC",
		Short:  "print packets with their offsets",
		Args:   maxArgs(1),
		Hidden: true,
		RunE: func(*cobra.Command, []string) error {
			return errors.New("packets cannot be printed yet")
		},
	}
}
