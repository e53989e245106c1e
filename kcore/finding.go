package kcore

import (
	"fmt"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// FindingKind says which two sources disagree.
type FindingKind uint8

// The kinds of findings.
const (
	// Break: a poke's old text is not what the poke before it left: text was
	// changed without a record between them.
	Break FindingKind = iota
	// ImageDiffers: the image holds neither what the pokes say lay there when
	// it was taken, nor what they say of any other moment.
	ImageDiffers
)

// String returns the kind's name.
func (k FindingKind) String() string {
	if k == Break {
		return "break"
	}
	return "image-differs"
}

// Finding is code that was changed without a record, as two sources show that disagree.
type Finding struct {
	Kind FindingKind
	Addr uint64
	Have []byte     // Break: what the poke before left; ImageDiffers: what the image holds
	Want []byte     // what the next poke says it replaced; without one, what the last one left, or, of a Break, what the site holds at other times
	Last int        // the last poke at whose time the code was as recorded, an index in the journal; -1: none
	Next int        // the poke that shows the change; -1: the image, behind the last poke
	Span event.Span // for these epochs the bytes are unknown
	// From and Until are the times of Last and Next, ns: the change was made
	// between. They are 0 and math.MaxUint64 where there is none.
	From, Until uint64
	Symbol      string // symbol+offset of Addr, if it has one
	Lost        bool   // records were lost between From and Until
}

// String renders the finding on one line.
func (f *Finding) String() string {
	at := fmt.Sprintf("%#x", f.Addr)
	if f.Symbol != "" {
		at += " " + f.Symbol
	}
	s := fmt.Sprintf("%s: have % x, want % x", at, f.Have, f.Want)
	switch {
	case f.Kind == ImageDiffers:
		s += "; the image fits no time of the recording"
	default:
		s += fmt.Sprintf("; changed without a record between %d and %d ns", f.From, f.Until)
	}
	if f.Lost {
		s += "; records were lost there"
	}
	return s
}

// findingKey tells findings apart while they are gathered byte by byte.
type findingKey struct {
	kind       FindingKind
	last, next int
}

// newFinding begins a finding with Have equal to Want: the bytes on which the
// sources do not disagree.
func newFinding(j *Journal, kind FindingKind, last, next int, span event.Span) *Finding {
	f := &Finding{Kind: kind, Last: last, Next: next, Span: span}
	if next >= 0 {
		f.Addr, f.Want = j.pokes[next].Addr, j.pokes[next].Old
	} else {
		f.Addr, f.Want = j.pokes[last].Addr, j.pokes[last].New
	}
	f.Have, f.Want = slices.Clone(f.Want), slices.Clone(f.Want)
	return f
}

// complete fills what needs the whole text.
func (f *Finding) complete(t *Text, syms *symbols.Table) {
	f.Until = math.MaxUint64
	if f.Last >= 0 {
		f.From = t.j.pokes[f.Last].Time
	}
	if f.Next >= 0 {
		f.Until = t.j.pokes[f.Next].Time
	}
	for _, l := range t.j.lost {
		if l.Lo <= f.Until && l.Hi >= f.From {
			f.Lost = true
		}
	}
	if syms != nil {
		at := f.From
		if f.Next >= 0 {
			at = f.Until
		}
		if s, off, ok := syms.Lookup(f.Addr, at); ok {
			f.Symbol = s.Format(off)
		}
	}
}
