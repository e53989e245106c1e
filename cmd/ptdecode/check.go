package main

import (
	"bufio"
	"encoding/hex"
	"io"

	"github.com/spf13/cobra"

	"github.com/ptdecode/ptdecode/cmd/internal/story"
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

// newCheckCmd is the verb that checks a recording for contradictions.
func newCheckCmd(a *app) *cobra.Command {
	return withObjects(&cobra.Command{
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

Exit codes: 0 nothing found, 3 something found (0 with --allow-gaps), 1 failed.`,
		Example: `  ptdecode check perf.data && echo sound
  ptdecode check perf.data --kcore kcore.after
  ptdecode check snapshot/ --all-buffers
  ptdecode check perf.data -o jsonl | jq 'select(.kind == "journal")'`,
	}, a.check)
}

func (a *app) check(c *cobra.Command, asJSON bool, args []string) error {
	cfg, err := a.config(args)
	if err != nil {
		return err
	}
	s, err := decoder.Open(cfg)
	if err != nil {
		return err
	}
	defer s.Close()
	for _, w := range s.Warnings() {
		if !w.Doubt {
			a.ui.warn([]decoder.Warning{w})
		}
	}
	w := bufio.NewWriterSize(a.out, 1<<16)
	n := uint64(0)
	said := map[string]bool{}
	err = report.Check(c.Context(), s, decoder.Query{Jobs: a.open.jobs, Progress: a.ui.progress}, func(k *report.Finding) error {
		n++
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
	if e := w.Flush(); e != nil {
		return e
	}
	if err != nil || n == 0 {
		return err
	}
	a.ui.say("%d finding%s", n, pick(n, "", "s"))
	return a.gapCode()
}

// checkObject makes an object of a finding.
func checkObject(k *report.Finding) *jsonCheck {
	j := &jsonCheck{Type: "finding", Kind: k.Kind, What: k.What, Hint: k.Hint, Sym: k.Symbol, Time: k.Time}
	if k.Addr != 0 {
		j.Addr = hex16(k.Addr)
	}
	if st := k.Stream; st != nil {
		j.Off = &k.Off
		j.CPU, j.TID, j.ID = story.NamedBy(st)
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
