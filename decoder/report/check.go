package report

import (
	"context"
	"fmt"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/plural"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/pt"
)

// Finding is something that does not fit together.
type Finding struct {
	Kind   string          // "recording", "image", "journal", "stream", "gap", "learned"
	Addr   uint64          // journal, gap: of the text; 0: none
	Symbol string          // of Addr; may be empty
	CPU    int32           // stream, gap; -1: none
	Off    int64           // stream, gap: in the stream, bytes
	Time   uint64          // ns; 0: not known
	Stream *decoder.Stream // stream, gap; nil: none
	What   string          // on one line, with its place in front
	Hint   string          // what to do; may be empty

	Finding *kcore.Finding // journal: both byte strings
	Reason  event.Reason   // gap
}

// maxGaps is how many gaps of one reason are told for each stream; the rest
// are counted.
const maxGaps = 20

// Check compares all that the session knows with itself, and gives what does not fit to
// found, in this order:
//
//   - what is missing from the recording so that its decoding is doubtful
//   - each stream: none of it can be read, or trace was lost
//   - the image of the code against the journal of changes, and the journal against itself
//   - gaps in the flow that q asks for, and ends of segments that the next does not continue
//   - code that had to be learned from the trace
//   - the last three for each virtual machine
//
// It returns how sure the flow of all machines is, and how often it could not be followed.
// An error is one of found, of ctx, or of decoder.Session.Flow.
func Check(ctx context.Context, s *decoder.Session, q decoder.Query, found func(*Finding) error) (*Doubt, error) {
	d := newDoubt()
	return d, checkAll(ctx, s, q, d, found)
}

// checkAll is Check; it counts in d.
func checkAll(ctx context.Context, s *decoder.Session, q decoder.Query, d *Doubt, found func(*Finding) error) error {
	for i := range s.Warnings() {
		if w := &s.Warnings()[i]; w.Doubt {
			kind := "recording"
			if w.Image {
				kind = "image"
			}
			if err := found(&Finding{Kind: kind, CPU: -1, What: w.What, Hint: w.Hint}); err != nil {
				return err
			}
		}
	}
	for _, st := range s.Streams() {
		if st.Guest != 0 {
			continue // the host's bytes
		}
		if err := checkStream(s, st, found); err != nil {
			return err
		}
	}
	if err := checkMachine(ctx, s, q, d, found); err != nil {
		return err
	}
	for _, g := range decoder.Guests(s) {
		err := checkMachine(ctx, g, q, d, func(f *Finding) error {
			f.What = fmt.Sprintf("guest%d: %s", g.Meta().Guest, f.What)
			return found(f)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkMachine is Check for the code and the flow of one machine.
func checkMachine(ctx context.Context, s *decoder.Session, q decoder.Query, d *Doubt, found func(*Finding) error) error {
	if err := checkText(s, found); err != nil {
		return err
	}
	c := &gapSink{s: s, found: found, told: map[gapKey]int{}, doubt: doubtSink{d: d, before: map[int]*stretch{}}}
	if err := s.Flow(ctx, own(s, q), c); err != nil {
		return err
	}
	c.doubt.end()
	if err := eachLearned(s, func(l *kcore.Learned, sym, line string) error {
		f := &Finding{Kind: "learned", Symbol: sym, CPU: -1, What: line}
		if l != nil {
			f.Addr = l.Addr
		}
		return found(f)
	}); err != nil {
		return err
	}
	for _, st := range s.Streams() {
		for reason := event.ReasonNone; reason < event.NumReasons; reason++ {
			more := c.told[gapKey{st.Index, reason}] - maxGaps
			if more <= 0 {
				continue
			}
			w := &Finding{Kind: "gap", CPU: st.CPU, Stream: st, Reason: reason, What: fmt.Sprintf("%s: %s of %s", st.Name, plural.Count(more, "more gap"), reason)}
			if err := found(w); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkText gives what image and journal do not agree on. A foreign image was
// told of already, and contradicts everywhere.
func checkText(s *decoder.Session, found func(*Finding) error) error {
	if s.Foreign() != "" {
		return nil
	}
	fs := s.Text().Findings()
	for i := range fs {
		f := &fs[i]
		c := &Finding{Kind: "journal", Addr: f.Addr, Symbol: f.Symbol, CPU: -1, Time: f.From, What: describeFinding(f), Finding: f}
		switch {
		case f.Lost:
			c.Hint = "records were lost meanwhile: record with larger buffers, perf record -m 16M,64M"
		case f.Kind == kcore.ImageDiffers:
			c.Hint = "the image holds text that the records do not know: it was changed outside of the recording"
		default:
			c.Hint = "the kernel records no change to text that a module's loading makes; until the next record the text there is taken as unknown"
		}
		if err := found(c); err != nil {
			return err
		}
	}
	return nil
}

// describeFinding renders a finding on one line, its address first.
func describeFinding(f *kcore.Finding) string {
	at := fmt.Sprintf("%016x", f.Addr)
	if f.Symbol != "" {
		at += " " + f.Symbol
	}
	if f.Kind == kcore.ImageDiffers {
		return fmt.Sprintf("%s: image differs: has % x, the records say % x", at, f.Have, f.Want)
	}
	s := fmt.Sprintf("%s: unrecorded change: % x became % x", at, f.Have, f.Want)
	switch {
	case f.Last < 0:
		return s + fmt.Sprintf(", before %s", event.Seconds(f.Until))
	case f.Next < 0:
		return s + fmt.Sprintf(", after %s", event.Seconds(f.From))
	}
	return s + fmt.Sprintf(", between %s and %s", event.Seconds(f.From), event.Seconds(f.Until))
}

// checkStream gives what is wrong with a stream's bytes.
func checkStream(s *decoder.Session, st *decoder.Stream, found func(*Finding) error) error {
	if st.Empty() && st.Size > 0 && (len(st.Losses) == 0 || st.Losses[0].Off > 0) {
		err := found(&Finding{Kind: "stream", CPU: st.CPU, Stream: st, What: fmt.Sprintf("%s+0x0: %s: none in %s, need 1 to begin", st.Name, st.Protocol.Sync, plural.Count(st.Size, "byte")),
			Hint: st.Protocol.SyncHint})
		if err != nil {
			return err
		}
	}
	for _, l := range st.Losses {
		only := "cs_etm//k"
		if _, ok := st.Unit.(pt.Config); ok {
			only = "intel_pt//k"
		}
		c := &Finding{Kind: "stream", CPU: st.CPU, Stream: st, Off: l.Off, Time: l.Time, What: fmt.Sprintf("%s: trace lost: %s%s", st.Where(l.Off), l.Why, missingAt(st, l.Off)),
			Hint: "record with a larger AUX buffer, perf record -m ,64M, or trace less: -e " + only}
		if missingAt(st, l.Off) != "" {
			c.Hint = cutHint
		}
		if err := found(c); err != nil {
			return err
		}
	}
	return nil
}

// gapKey is what gaps are counted by.
type gapKey struct {
	stream int
	reason event.Reason
}

// gapSink gives gaps as findings.
type gapSink struct {
	s     *decoder.Session
	found func(*Finding) error
	told  map[gapKey]int
	doubt doubtSink
}

// Flow takes the gaps of b.
func (c *gapSink) Flow(b *decoder.Batch) error {
	c.doubt.count(b)
	for i := range b.Notes {
		n := &b.Notes[i]
		if n.Kind != decoder.NoteGap {
			continue
		}
		g := &n.Gap
		k := gapKey{b.Stream, g.Reason}
		if c.told[k]++; c.told[k] > maxGaps {
			continue
		}
		w := gapFinding(c.s, g)
		if c.told[k] > 1 {
			w.Hint = ""
		}
		if err := c.found(&w); err != nil {
			return err
		}
	}
	return nil
}

// gapFinding makes a finding of a gap.
func gapFinding(s *decoder.Session, g *event.Gap) Finding {
	st := s.Streams()[g.Stream]
	c := Finding{Kind: "gap", Addr: g.IP, CPU: st.CPU, Stream: st, Off: g.Off, Reason: g.Reason, Hint: GapHint(s, g)}
	if g.Time.Known() {
		c.Time = g.Time.Likely()
	}
	c.Symbol = s.KernelSymbol(g.IP, c.Time)
	c.What = fmt.Sprintf("%s: %s", st.Where(g.Off), g.Reason)
	if g.IP != 0 {
		c.What += fmt.Sprintf(" at %016x", g.IP)
	}
	if c.Symbol != "" {
		c.What += " " + c.Symbol
	}
	if g.What != "" {
		c.What += ": " + g.What
	}
	if g.Reason == event.Lost {
		c.What += missingAt(st, g.Off)
	}
	return c
}
