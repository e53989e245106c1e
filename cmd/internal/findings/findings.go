// Package findings writes what the verb check found, as lines or as objects. What is found
// is a matter of package report.
package findings

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// Finding is a finding as an object.
type Finding struct {
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
	Limit  string `json:"limit,omitempty"` // the name of the limit for which alone it counts
}

// Limits are what is allowed: up to so much is no finding.
type Limits struct {
	Gaps      *int     `json:"max_gaps,omitempty"`      // nil: none is, and each one is a finding
	Ambiguous *float64 `json:"max_ambiguous,omitempty"` // of the instructions, percent; nil: all
}

// The names of limits.
const (
	maxGaps      = "max_gaps"
	maxAmbiguous = "max_ambiguous"
)

// Object makes an object of a finding. named says what names a stream: its CPU, its thread,
// or its trace ID.
func Object(k *report.Finding, named func(*decoder.Stream) (cpu, tid *int32, id string), most *Limits) *Finding {
	j := &Finding{Type: "finding", Kind: k.Kind, What: k.What, Hint: k.Hint, Sym: k.Symbol, Time: k.Time}
	if k.Addr != 0 {
		j.Addr = fmt.Sprintf("%016x", k.Addr)
	}
	if st := k.Stream; st != nil {
		j.Off = &k.Off
		j.CPU, j.TID, j.ID = named(st)
	}
	if k.Reason != event.ReasonNone {
		j.Reason = k.Reason.String()
	}
	if k.Kind == "gap" && most.Gaps != nil {
		j.Limit = maxGaps
	}
	if f := k.Finding; f != nil {
		j.Have, j.Want = hex.EncodeToString(f.Have), hex.EncodeToString(f.Want)
		j.Time, j.From, j.Until = 0, f.From, f.Until
	}
	return j
}

// Percent renders a share without needless zeros.
func Percent(p float64) string { return strconv.FormatFloat(p, 'g', 4, 64) }

// Flow is what the flow of a recording comes to, as an object.
type Flow struct {
	Type         string            `json:"type"`
	Instructions uint64            `json:"instructions"`
	Ambiguous    uint64            `json:"ambiguous"`
	Why          map[string]uint64 `json:"why"`
	Verdicts     map[string]uint64 `json:"verdicts"`
	Gaps         uint64            `json:"gaps"`
	GapReasons   map[string]uint64 `json:"gap_reasons"`
	Findings     uint64            `json:"findings"` // those that count: 0 is what the exit code 0 says
	Limits
	Exceeded []string `json:"exceeded,omitempty"` // the names of limits, each one a finding

	share float64 // of ambiguous instructions, percent
}

// Doubt makes an object of what the flow of a recording comes to, where n findings count besides
// the limits.
func Doubt(d *report.Doubt, n uint64, most Limits) *Flow {
	j := &Flow{
		Type: "doubt", Instructions: d.Instructions, Ambiguous: d.ByVerdict[decoder.Ambiguous], Why: d.Why,
		Verdicts: map[string]uint64{}, Gaps: d.GapCount(), GapReasons: map[string]uint64{},
		Limits: most, share: d.Share(),
	}
	if most.Gaps != nil && j.Gaps > uint64(*most.Gaps) {
		j.Exceeded = append(j.Exceeded, maxGaps)
	}
	if most.Ambiguous != nil && j.share > *most.Ambiguous {
		j.Exceeded = append(j.Exceeded, maxAmbiguous)
	}
	j.Findings = n + uint64(len(j.Exceeded))
	for v, n := range d.ByVerdict {
		if n > 0 {
			j.Verdicts[decoder.Verdict(v).String()] = n
		}
	}
	for r, n := range d.Gaps {
		j.GapReasons[r.String()] = n
	}
	return j
}

// Over says which limits are exceeded, and by what.
func (j *Flow) Over() (lines []string) {
	for _, name := range j.Exceeded {
		switch name {
		case maxGaps:
			lines = append(lines, fmt.Sprintf("%s: --max-gaps allows %d", plural.Count(j.Gaps, "gap"), *j.Limits.Gaps))
		case maxAmbiguous:
			lines = append(lines, fmt.Sprintf("%s %% of the instructions are ambiguous: --max-ambiguous allows %s %%", Percent(j.share), Percent(*j.Limits.Ambiguous)))
		}
	}
	return lines
}

// Line says what is ambiguous and why; "" where nothing is.
func Line(d *report.Doubt) string {
	n := d.ByVerdict[decoder.Ambiguous]
	if n == 0 {
		return ""
	}
	why := slices.SortedFunc(maps.Keys(d.Why), func(a, b string) int {
		return cmp.Or(cmp.Compare(d.Why[b], d.Why[a]), strings.Compare(a, b))
	})
	for i, k := range why {
		why[i] = fmt.Sprintf("%d %s", d.Why[k], k)
	}
	return fmt.Sprintf("ambiguous: %d of %s (%s %%): %s\n", n, plural.Count(d.Instructions, "instruction"), Percent(d.Share()), strings.Join(why, ", "))
}
