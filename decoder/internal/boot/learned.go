package boot

import (
	"slices"

	"github.com/ptdecode/ptdecode/kcore"
)

// Learned returns list with p laid over it, of which each place is one of list. nil lays nothing.
func (p *Patches) Learned(list []kcore.Learned) []kcore.Learned {
	if p == nil {
		return list
	}
	list = slices.Clone(list)
	for _, x := range p.list {
		for i := range list {
			if l := &list[i]; l.Range() == x.Range {
				l.Code = x.code
			}
		}
	}
	return list
}
