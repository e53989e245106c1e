package shard

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/cmd/internal/wholefile"
	"github.com/ptdecode/ptdecode/decoder"
)

// Joiner writes what one process would have written where each part holds what one of bodies
// does, in their order.
type Joiner func(bodies []io.Reader, w io.Writer) error

// Concatenate is the Joiner of lines.
func Concatenate(bodies []io.Reader, w io.Writer) error {
	_, err := io.Copy(w, io.MultiReader(bodies...))
	return err
}

// NewMerge returns the verb that joins parts. joiners are by Head.Kind. What holds flow is
// joined by again. incomplete makes the exit code where parts of lines, of these numbers, have gaps.
func NewMerge(joiners map[string]Joiner, again Rerun, incomplete func(parts []string) error) *cobra.Command {
	var out, rec string
	c := &cobra.Command{
		Use:   "merge PART...",
		Short: "join what shards wrote to what one process writes",
		Long: `Join the parts that commands with --shard wrote. The result is, byte for byte, what the
command writes without --shard. A directory stands for all parts in it.

Parts of flow hold its rows. Those of export, calls and hot hold what was executed, and
merge does the rest of that command: it writes the files that the command named. It
needs the recording for names, but decodes nothing.

You may name the parts in any order. They must be all parts of one command, and each
must be complete. If a part is missing or cut short, merge names it and writes nothing. The
exit code is 3 if there are gaps in what the parts hold.`,
		Example: `  ptdecode flow perf.data --shard 1/2 --shard-dir parts
  ptdecode flow perf.data --shard 2/2 --shard-dir parts
  ptdecode merge parts > flow.txt
  ptdecode merge parts -o flow.txt    # flow.txt appears when it is whole
  ptdecode export perf.data -o autofdo:k.txt --shard 1/1 --shard-dir profile
  ptdecode merge profile                            # writes k.txt`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return &decoder.CallError{What: "nothing to join: name the parts, or the directory that they are in"}
			}
			more := given(c.InheritedFlags())
			if f := c.Flag("allow-gaps"); f != nil && f.Changed { // what the parts' commands were given does not count
				more = append(more, "--allow-gaps="+f.Value.String())
			}
			return merge(args, out, c.OutOrStdout(), joiners, func(j *Joined, w io.Writer) error {
				return again(c.Context(), j, j.arguments(rec, more), w)
			}, incomplete)
		},
	}
	c.Flags().StringVar(&rec, "recording", "", "of export, calls and hot: the recording is at `REC` now")
	c.Flags().StringVarP(&out, "output", "o", "-", "write to `FILE`; - is standard output")
	return c
}

// merge joins the parts that args name.
func merge(args []string, out string, stdout io.Writer, joiners map[string]Joiner, again func(*Joined, io.Writer) error, incomplete func([]string) error) error {
	parts, err := openAll(args)
	defer func() {
		for _, p := range parts {
			p.file.Close()
		}
	}()
	if err != nil {
		return err
	}
	if err := whole(parts); err != nil {
		return err
	}
	join := joiners[parts[0].Kind]
	if parts[0].Kind == flowKind {
		j, err := newJoined(parts)
		if err != nil {
			return err
		}
		join = func(_ []io.Reader, w io.Writer) error { return again(j, w) }
	}
	if join == nil {
		return fmt.Errorf("%s: parts of kind %q cannot be joined by this version", parts[0].path, parts[0].Kind)
	}
	var bodies []io.Reader
	var gapped []string
	for _, p := range parts {
		bodies = append(bodies, p.body)
		if p.incomplete {
			gapped = append(gapped, p.Spec.String())
		}
	}
	if err := write(bodies, join, out, stdout); err != nil || len(gapped) == 0 {
		return err
	}
	return incomplete(gapped)
}

// write joins bodies. What they make goes to a file, or to stdout.
func write(bodies []io.Reader, join Joiner, out string, stdout io.Writer) error {
	if out == "-" || out == "" {
		return join(bodies, stdout)
	}
	var gaps error
	err := WriteFile(out, func(w io.Writer) error {
		err := join(bodies, w)
		if x := (gapped)(nil); errors.As(err, &x) && x.Gapped() {
			gaps, err = err, nil
		}
		return err
	})
	return cmp.Or(err, gaps)
}

// gapped is an error that may only say that there are gaps: what was written is whole.
type gapped interface {
	error
	Gapped() bool
}

// openAll opens all parts that args name, in their order.
func openAll(args []string) (parts []*opened, err error) {
	for _, a := range args {
		paths := []string{a}
		if st, err := os.Stat(a); err == nil && st.IsDir() {
			if paths, err = filepath.Glob(filepath.Join(a, "part-*-of-*")); err != nil || len(paths) == 0 {
				return parts, fmt.Errorf("%s: no parts in it: their names are part-I-of-N", a)
			}
		}
		for _, path := range paths {
			p, err := open(path)
			if err != nil {
				return parts, err
			}
			parts = append(parts, p)
		}
	}
	slices.SortStableFunc(parts, func(a, b *opened) int { return a.I - b.I })
	return parts, nil
}

// whole says what is wrong with parts if they are not all parts of one call.
func whole(parts []*opened) error {
	first := parts[0]
	have := map[int]string{}
	for _, p := range parts {
		if p.Head != first.Head || p.Of != first.Of {
			return fmt.Errorf("%s: part %s of %s %s, but %s is part %s of %s %s: they are of different calls",
				p.path, p.Spec, p.Kind, p.Call, first.path, first.Spec, first.Kind, first.Call)
		}
		if have[p.I] != "" {
			return fmt.Errorf("%s: it is part %s, and so is %s", p.path, p.Spec, have[p.I])
		}
		have[p.I] = p.path
	}
	var missing []string
	for i := 1; i <= first.Of; i++ {
		if have[i] == "" {
			missing = append(missing, Spec{i, first.Of}.String())
		}
	}
	if n := len(missing); n > 0 {
		return fmt.Errorf("%d of %s missing: %s", n, plural.Count(first.Of, "part")+plural.Word(n, " is", " are"), strings.Join(missing[:min(n, 20)], " "))
	}
	return nil
}

// WriteFile fills a file, which appears under its name when it is whole.
func WriteFile(name string, fill func(io.Writer) error) error {
	f, err := wholefile.New(name, ".ptdecode-*")
	if err != nil {
		return err
	}
	if err = fill(f); err == nil {
		err = f.Chmod(0o644)
	}
	return wholefile.Keep(f, name, err)
}
