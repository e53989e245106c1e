package report

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Doubt says how sure flow is.
type Doubt struct {
	Instructions uint64
	ByVerdict    [decoder.Ambiguous + 1]uint64 // instructions
	// Why has the ambiguous instructions by the reason. It is "change" where the trace does
	// not say where a change to the code took effect. It is "outcomes" where it does not say
	// how many branches were decided behind a gap. It is "gap" with the gap's reason where the flow
	// ends in a gap by which the code before it may be wrong. It is "code" where it is in doubt
	// what lay there.
	Why  map[string]uint64
	Gaps map[event.Reason]uint64
}

// newDoubt returns one in which nothing is counted.
func newDoubt() *Doubt { return &Doubt{Why: map[string]uint64{}, Gaps: map[event.Reason]uint64{}} }

// Share returns how many of a hundred instructions are ambiguous.
func (d *Doubt) Share() float64 {
	if d.Instructions == 0 {
		return 0
	}
	return 100 * float64(d.ByVerdict[decoder.Ambiguous]) / float64(d.Instructions)
}

// GapCount returns how many gaps there are.
func (d *Doubt) GapCount() (n uint64) {
	for _, k := range d.Gaps {
		n += k
	}
	return n
}

// doubtSink counts flow for a Doubt.
type doubtSink struct {
	d      *Doubt
	before map[int]*stretch // by stream
}

// stretch is ambiguous ranges in a row.
type stretch struct {
	n   uint64 // instructions
	cut string // what the first cut in it, or just before it, says; "": there is none
}

// count counts b.
func (c *doubtSink) count(b *decoder.Batch) {
	t := c.before[b.Stream]
	if t == nil {
		t = &stretch{}
		c.before[b.Stream] = t
	}
	n := 0
	for i := 0; i <= len(b.Ranges); i++ {
		for ; n < len(b.Notes) && b.Notes[n].At <= i; n++ {
			c.note(t, &b.Notes[n])
		}
		if i == len(b.Ranges) {
			return
		}
		r := &b.Ranges[i]
		c.d.Instructions += uint64(r.N)
		c.d.ByVerdict[r.Verdict] += uint64(r.N)
		if r.Verdict == decoder.Ambiguous {
			t.n += uint64(r.N)
		} else {
			c.close(t, "code")
		}
	}
}

// note takes what may say why ranges are ambiguous.
func (c *doubtSink) note(t *stretch, n *decoder.Note) {
	switch {
	case n.Kind == decoder.NoteGap:
		c.close(t, "gap "+n.Gap.Reason.String())
		c.d.Gaps[n.Gap.Reason]++
	case n.Kind == decoder.NoteCut && n.Verdict == decoder.Ambiguous && t.cut == "":
		if t.cut = "change"; n.Poke < 0 {
			t.cut = "outcomes"
		}
	}
}

// close counts t: its cut says why, else it ends for a reason.
func (c *doubtSink) close(t *stretch, why string) {
	if t.cut != "" {
		why = t.cut
	}
	if t.n > 0 {
		c.d.Why[why] += t.n
	}
	*t = stretch{}
}

// end closes what is open.
func (c *doubtSink) end() {
	for _, t := range c.before {
		c.close(t, "code")
	}
}
