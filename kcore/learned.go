package kcore

import (
	"fmt"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// Candidate is a site whose code may be other than what images and records say. What
// it may be comes from the kernel's tables, from another image, or from what the
// kernel does with such sites.
type Candidate struct {
	Addr uint64
	Code [][]byte // what may lie there, the likeliest first
	Why  string   // how it is known, for people: "jump label", "static call"
}

// Learned is code that no record tells of and the trace shows.
type Learned struct {
	Addr uint64
	Code []byte // throughout, or, where Was is set, from the change on
	// Was is what lay there until it changed once, as long as Code; nil: it did not.
	Was []byte
	// Change bounds when it changed, ns: from the last visit that only Was explains
	// to the first one that only Code explains.
	Change event.Time
	// Others is what may have lain there too: it does the same on every visit.
	Others [][]byte
	Why    string // as Candidate.Why
	// For counts the visits that it explains, Against those that it contradicts.
	For, Against int
}

// Range returns the addresses whose code is learned.
func (l *Learned) Range() image.Range { return image.Range{Addr: l.Addr, Len: uint64(len(l.Code))} }

// check returns what is wrong with l.
func (l *Learned) check() error {
	switch n := uint64(len(l.Code)); {
	case n == 0 || n > 16:
		return fmt.Errorf("learned code at %#x: %d bytes, need 1 to 16", l.Addr, n)
	case l.Addr+(n-1) < l.Addr:
		return fmt.Errorf("learned code at %#x: %d bytes reach beyond the last address", l.Addr, n)
	case l.Was != nil && len(l.Was) != len(l.Code):
		return fmt.Errorf("learned code at %#x: %d bytes became %d", l.Addr, len(l.Was), n)
	case l.Change.Lo > l.Change.Hi:
		return fmt.Errorf("learned code at %#x: changed after %d ns and before %d ns", l.Addr, l.Change.Lo, l.Change.Hi)
	}
	return nil
}

// WithLearned returns the journal with a poke for each of list that changed once. It
// is j itself where none did.
func (j *Journal) WithLearned(list []Learned) (*Journal, error) {
	var more []Poke
	for i := range list {
		l := &list[i]
		if err := l.check(); err != nil {
			return nil, err
		}
		if l.Was == nil {
			continue
		}
		// Nothing is known of how it was written, so nothing of any order. That a CPU
		// saw it complete says nothing of other pokes, as for slots.
		more = append(more, Poke{
			Time: l.Change.Likely(), Begin: l.Change.Lo, End: l.Change.Hi, Addr: l.Addr, CPU: -1,
			Old: l.Was, New: l.Code, Scheme: SchemeSlot, Learned: true,
		})
	}
	if len(more) == 0 {
		return j, nil
	}
	pokes := slices.DeleteFunc(slices.Clone(j.pokes), func(p Poke) bool { return p.Mark() })
	return orderedJournal(append(pokes, more...), j.opt, j.rules), nil
}

// layOver returns img with the code of list over it that never changed.
func layOver(img *image.Image, list []Learned) *image.Image {
	over := img
	for i := range list {
		l := &list[i]
		if l.Was != nil || img == nil || l.check() != nil {
			continue
		}
		if over == img {
			over = img.View()
		}
		if over.AddBytes(l.Addr, l.Code) != nil {
			panic("kcore: learned code that was checked does not fit")
		}
	}
	return over
}
