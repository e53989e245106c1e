package main

import (
	"bufio"
	"cmp"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/findings"
	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/cmd/internal/story"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// checkFlags are the flags of check.
type checkFlags struct {
	where     filter.Flags
	ambiguous string // percent; "": no limit
	gaps      int    // -1: none is allowed
	limited   bool   // gaps is a limit that was given
}

// newCheckCmd is the verb that checks a recording for contradictions.
func newCheckCmd(a *app) *cobra.Command {
	o := checkFlags{gaps: -1}
	c := withObjects(&cobra.Command{
		Use:   "check REC",
		Short: "check a recording for contradictions: one line per finding",
		Long: `Check a recording against itself, and print one line per finding:

  - code that changed without a record, with both byte strings
  - an image of another boot
  - lost records and lost trace
  - records that cannot be read
  - every gap in the flow, which is decoded as a whole: where code and trace
    contradict each other, where code is missing, and where a segment does not
    end at the address at which the next one begins

Trace before the first sync point is no finding, though flow has a gap there: a
buffer that wrapped around begins anywhere. Hints on what to do go to standard
error. ptdecode help words explains gap, segment and sync point.

If instructions are ambiguous, a last line counts them, and says why. It is not a
finding, unless --max-ambiguous sets a limit. The reasons:

  change       it is open where a change to the code took effect
  outcomes     it is open how many branches were decided after a gap
  gap REASON   a gap follows by which the code may be wrong
  code         it is in doubt what code was there

With --max-gaps N, up to N gaps are not findings either.

Exit codes: 0 nothing found, 3 something found (0 with --allow-gaps), 1 failed.`,
		Example: `  ptdecode check perf.data && echo sound
  ptdecode check perf.data --kcore kcore.after
  ptdecode check perf.data --max-ambiguous 0.1 --max-gaps 5
  ptdecode check perf.data --cpu 1 --time 10%-20%
  ptdecode check snapshot/ --all-buffers
  ptdecode check perf.data -o jsonl | jq 'select(.kind == "journal")'`,
	}, func(c *cobra.Command, asJSON bool, args []string) error {
		o.limited = c.Flags().Changed("max-gaps")
		return a.check(c, &o, asJSON, args)
	})
	f := c.Flags()
	f.StringVar(&o.ambiguous, "max-ambiguous", "", "a finding if more than `PCT` percent of the instructions are ambiguous")
	f.IntVar(&o.gaps, "max-gaps", -1, "a finding if there are more than `N` gaps; up to so many are none")
	f.Lookup("max-gaps").DefValue = "0" // which help leaves out
	o.where.Add(f, filter.All[:4]...)
	o.where.Add(f, "time")
	return c
}

// limits reads the limits of o.
func (a *app) limits(o *checkFlags) (l findings.Limits, err error) {
	if o.limited {
		if l.Gaps = &o.gaps; o.gaps < 0 {
			return l, usagef("--max-gaps %d: need 0 or more", o.gaps)
		}
	}
	if o.ambiguous != "" {
		share, err := strconv.ParseFloat(strings.TrimSuffix(o.ambiguous, "%"), 64)
		if err != nil || !(0 <= share && share <= 100) {
			return l, usagef("--max-ambiguous %q: need a share in percent, from 0 to 100", o.ambiguous)
		}
		l.Ambiguous = &share
	}
	if a.open.allowGaps && (o.limited || o.ambiguous != "") {
		return l, usagef("--allow-gaps allows all: --max-gaps and --max-ambiguous do not go with it")
	}
	return l, o.where.Wrong()
}

func (a *app) check(c *cobra.Command, o *checkFlags, asJSON bool, args []string) error {
	most, err := a.limits(o)
	if err != nil {
		return err
	}
	s, err := named(a, args)
	if err != nil {
		return err
	}
	defer s.Close()
	only, err := o.where.Resolve(s)
	if err != nil {
		return err
	}
	a.ui.doubtful(s, only, nil)
	a.ui.doubtless(s)
	w := bufio.NewWriterSize(a.lines(asJSON, 4), 1<<16)
	n, said := uint64(0), map[string]bool{}
	q := decoder.Query{Jobs: a.open.jobs, Progress: a.ui.progress}
	only.Query(&q)
	d, err := report.Check(c.Context(), s, q, func(k *report.Finding) error {
		j := findings.Object(k, story.NamedBy, &most)
		if j.Limit == "" {
			n++
		}
		if asJSON {
			return printJSON(w, j)
		}
		if _, err := io.WriteString(w, terminal.Plain(k.What)+"\n"); err != nil {
			return err
		}
		if k.Hint == "" || said[k.Hint] {
			return nil
		}
		said[k.Hint] = true
		if err := w.Flush(); err != nil { // so that the hint stands behind its finding
			return err
		}
		a.ui.hint("%s", k.Hint)
		return nil
	})
	a.ui.done()
	if err != nil {
		return cmp.Or(w.Flush(), err)
	}
	whole := findings.Doubt(d, n, most)
	if asJSON {
		err = printJSON(w, whole)
	} else {
		_, err = io.WriteString(w, findings.Line(d))
	}
	if e := w.Flush(); e != nil {
		return e
	}
	if err != nil {
		return err
	}
	return a.found(whole)
}

// doubtless says what is missing and no finding.
func (u *ui) doubtless(s *decoder.Session) {
	for _, w := range s.Warnings() {
		if !w.Doubt {
			u.warn([]decoder.Warning{w})
		}
	}
}

// found says which limits are exceeded, and makes the exit code.
func (a *app) found(whole *findings.Flow) error {
	for _, l := range whole.Over() {
		a.ui.say("%s", l)
	}
	if whole.Findings == 0 {
		return nil
	}
	a.ui.say("%s", plural.Count(whole.Findings, "finding"))
	return a.gapCode()
}
