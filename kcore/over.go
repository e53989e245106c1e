package kcore

import (
	"slices"

	"github.com/ptdecode/ptdecode/kcore/image"
)

// Relearned is NewText(j, img, opt), faster. t was made of the same image and options, but for what was learned.
func (t *Text) Relearned(j *Journal, img *image.Image, opt TextOptions) *Text {
	if t.j != j || t.bare != img || t.copies[1] != nil || !t.apart(t.learned) || !t.apart(opt.Learned) {
		return NewText(j, img, opt)
	}
	over := *t
	over.img, over.learned = layOver(img, opt.Learned), opt.Learned
	return &over
}

// apart reports whether all that list tells of lies in pages that no record changes. There the image does not say when it
// was taken.
func (t *Text) apart(list []Learned) bool {
	return !slices.ContainsFunc(list, func(l Learned) bool {
		for pg := l.Addr >> pageShift; l.Was == nil && l.wrong() == nil && t.pages[pg] == nil; pg++ {
			if pg == l.Range().Last()>>pageShift {
				return false
			}
		}
		return true
	})
}
