package main

import (
	"bytes"
	"embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/demo"
)

// demoFS is a small recording: a jump label is patched on CPU 0 while CPU 1
// runs through it.
//
//go:embed demo
var demoFS embed.FS

// newDemoCmd is the verb that decodes and explains an embedded recording.
func newDemoCmd(a *app) *cobra.Command {
	c := demo.New(&demo.Demo{Files: demoFS, Out: a.out, Run: func(args ...string) (string, error) {
		return runQuietly(append(args, "--width", strconv.Itoa(a.screen.width))...)
	}})
	c.Args = host.MaxArgs(0)
	return c
}

// runQuietly runs the command in this process and returns what it printed.
func runQuietly(args ...string) (string, error) {
	var out, errs bytes.Buffer
	if code := run(args, strings.NewReader(""), &out, &errs); code != exitWhole {
		return "", fmt.Errorf("%s: exit code %d: %s", args[0], code, errs.String())
	}
	return out.String(), nil
}
