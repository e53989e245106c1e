package trials

import (
	"sort"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/kcore"
)

// learnedAt returns which of list, by address, tells of the code of r, as executed; nil: none.
func learnedAt(list []kcore.Learned, r *flow.Range) *kcore.Learned {
	i := sort.Search(len(list), func(i int) bool { return list[i].Addr+uint64(len(list[i].Code)) > r.Block.Addr })
	if i == len(list) || r.Block.Space != 0 || list[i].Addr >= r.End() {
		return nil
	}
	return &list[i]
}

// MarkLearned gives the ranges of b whose code is of list, by address, the verdict of that: the
// trace said so. Where other code does the same, it is one of several.
func MarkLearned(list []kcore.Learned, b *flow.Batch) {
	lo, end := list[0].Addr, uint64(0)
	for i := range list {
		end = max(end, list[i].Addr+uint64(len(list[i].Code)))
	}
	b.Unwalk()
	for i := range b.Ranges {
		r := &b.Ranges[i]
		if r.Block.End <= lo || r.Block.Addr >= end || r.Verdict == flow.Ambiguous {
			continue
		}
		if l := learnedAt(list, r); l != nil {
			if r.Verdict == flow.Certain {
				r.Verdict = flow.Trace
			}
			if len(l.Others) > 0 {
				r.Verdict = flow.Ambiguous
			}
		}
	}
}
