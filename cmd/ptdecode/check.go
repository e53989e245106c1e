package main

import (
	"bufio"
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// jsonCheck is a finding as an object.
type jsonCheck struct {
	Type   string `json:"type"`
	Kind   string `json:"kind"`
	What   string `json:"what"`
	Hint   string `json:"hint,omitempty"`
	Addr   string `json:"addr,omitempty"`
	Sym    string `json:"sym,omitempty"`
	CPU    *int32 `json:"cpu,omitempty"`
	TID    *int32 `json:"tid,omitempty"`
	ID     string `json:"id,omitempty"`
	Off    *int64 `json:"trace_off,omitempty"` // bytes
	Time   uint64 `json:"time,omitempty"`      // ns
	Reason string `json:"reason,omitempty"`
	Have   string `json:"have,omitempty"`
	Want   string `json:"want,omitempty"`
	From   uint64 `json:"from,omitempty"`  // ns
	Until  uint64 `json:"until,omitempty"` // ns
}

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

Where instructions are ambiguous, a last line counts them, and says why. It is
no finding, unless --max-ambiguous sets a limit. The reasons:

  change       it is open where a change to the code took effect
  outcomes     it is open how many branches were decided behind a gap
  gap REASON   a gap follows by which the code may be wrong
  code         what lay there is in doubt

With --max-gaps so many gaps are no findings either.

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
	f.Lookup("max-gaps").DefValue = ""
	o.where.Add(f, filter.All[:4]...)
	o.where.Add(f, "time")
	return c
}

// limits reads the limits of o; ambiguous is percent, -1 without a limit.
func (a *app) limits(o *checkFlags) (ambiguous float64, err error) {
	ambiguous = -1
	if o.limited && o.gaps < 0 {
		return 0, usagef("--max-gaps %d: need 0 or more", o.gaps)
	}
	if o.ambiguous != "" {
		ambiguous, err = strconv.ParseFloat(strings.TrimSuffix(o.ambiguous, "%"), 64)
		if err != nil || !(0 <= ambiguous && ambiguous <= 100) {
			return 0, usagef("--max-ambiguous %q: need a share in percent, from 0 to 100", o.ambiguous)
		}
	}
	if a.open.allowGaps && (o.limited || o.ambiguous != "") {
		return 0, usagef("--allow-gaps allows all: --max-gaps and --max-ambiguous do not go with it")
	}
	return ambiguous, o.where.Wrong()
}

func (a *app) check(c *cobra.Command, o *checkFlags, asJSON bool, args []string) error {
	most, err := a.limits(o)
	if err != nil {
		return err
	}
	cfg, err := a.config(args)
	if err != nil {
		return err
	}
	s, err := decoder.Open(cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	only, err := o.where.Resolve(s)
	if err != nil {
		return err
	}
	for _, w := range s.Warnings() {
		if !w.Doubt {
			a.ui.warn([]decoder.Warning{w})
		}
	}
	w := bufio.NewWriterSize(a.out, 1<<16)
	n := uint64(0)
	said := map[string]bool{}
	q := decoder.Query{Jobs: a.open.jobs, Progress: a.ui.progress}
	only.Query(&q)
	d, err := report.Check(c.Context(), s, q, func(k *report.Finding) error {
		if k.Kind != "gap" || !o.limited {
			n++
		}
		if asJSON {
			return printJSON(w, checkObject(k))
		}
		if _, err := io.WriteString(w, k.What+"\n"); err != nil {
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
	if err == nil {
		err = printDoubt(w, d, asJSON)
	}
	if e := w.Flush(); e != nil {
		return e
	}
	if err != nil {
		return err
	}
	return a.found(o, n, d, most)
}

// found makes the exit code of n findings and of the limits.
func (a *app) found(o *checkFlags, n uint64, d *report.Doubt, most float64) error {
	if gaps := d.GapCount(); o.limited && gaps > uint64(o.gaps) {
		n++
		a.ui.say("%d gap%s: --max-gaps allows %d", gaps, pick(gaps, "", "s"), o.gaps)
	}
	if most >= 0 && d.Share() > most {
		n++
		a.ui.say("%s %% of the instructions are ambiguous: --max-ambiguous allows %s %%", percent(d.Share()), percent(most))
	}
	if n == 0 {
		return nil
	}
	a.ui.say("%d finding%s", n, pick(n, "", "s"))
	return a.gapCode()
}

// percent renders a share without needless zeros.
func percent(p float64) string { return strconv.FormatFloat(p, 'g', 4, 64) }

// jsonDoubt is what the flow of a recording comes to, as an object.
type jsonDoubt struct {
	Type         string            `json:"type"`
	Instructions uint64            `json:"instructions"`
	Ambiguous    uint64            `json:"ambiguous"`
	Why          map[string]uint64 `json:"why"`
	Verdicts     map[string]uint64 `json:"verdicts"`
	Gaps         uint64            `json:"gaps"`
	GapReasons   map[string]uint64 `json:"gap_reasons"`
}

// printDoubt prints what is ambiguous and why. A line is printed only where something is.
func printDoubt(w io.Writer, d *report.Doubt, asJSON bool) error {
	if asJSON {
		j := jsonDoubt{
			Type: "doubt", Instructions: d.Instructions, Ambiguous: d.ByVerdict[decoder.Ambiguous], Why: d.Why,
			Verdicts: map[string]uint64{}, Gaps: d.GapCount(), GapReasons: map[string]uint64{},
		}
		for v, n := range d.ByVerdict {
			if n > 0 {
				j.Verdicts[decoder.Verdict(v).String()] = n
			}
		}
		for r, n := range d.Gaps {
			j.GapReasons[r.String()] = n
		}
		return printJSON(w, j)
	}
	n := d.ByVerdict[decoder.Ambiguous]
	if n == 0 {
		return nil
	}
	why := slices.SortedFunc(maps.Keys(d.Why), func(a, b string) int {
		return cmp.Or(cmp.Compare(d.Why[b], d.Why[a]), strings.Compare(a, b))
	})
	for i, k := range why {
		why[i] = fmt.Sprintf("%d %s", d.Why[k], k)
	}
	_, err := fmt.Fprintf(w, "ambiguous: %d of %d instructions (%s %%): %s\n", n, d.Instructions, percent(d.Share()), strings.Join(why, ", "))
	return err
}

// checkObject makes an object of a finding.
func checkObject(k *report.Finding) *jsonCheck {
	j := &jsonCheck{Type: "finding", Kind: k.Kind, What: k.What, Hint: k.Hint, Sym: k.Symbol, Time: k.Time}
	if k.Addr != 0 {
		j.Addr = hex16(k.Addr)
	}
	if st := k.Stream; st != nil {
		j.Off = &k.Off
		j.CPU, j.TID, j.ID = namedBy(st)
	}
	if k.Reason != event.ReasonNone {
		j.Reason = k.Reason.String()
	}
	if f := k.Finding; f != nil {
		j.Have, j.Want = hex.EncodeToString(f.Have), hex.EncodeToString(f.Want)
		j.Time, j.From, j.Until = 0, f.From, f.Until
	}
	return j
}
