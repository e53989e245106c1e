package items

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/kcore"
)

// WasLearned reports whether some of the n bytes at addr are among the code that no record
// tells of and the trace shows. list is by address. Where the code is as it was, and only other code is possible, nothing was learned.
func WasLearned(list []kcore.Learned, addr, n uint64) bool {
	i, _ := slices.BinarySearchFunc(list, addr, func(l kcore.Learned, a uint64) int { return cmp.Compare(l.Addr+uint64(len(l.Code))-1, a) })
	for ; i < len(list) && list[i].Addr < addr+n; i++ {
		if !bytes.Equal(list[i].Code, list[i].Had) {
			return true
		}
	}
	return false
}

// LearnedRange reports whether a range has code that was learned.
func LearnedRange(list []kcore.Learned, r *decoder.BatchRange) bool {
	return len(list) > 0 && r.Block.Space == 0 && WasLearned(list, r.Block.Addr, r.End()-r.Block.Addr)
}
