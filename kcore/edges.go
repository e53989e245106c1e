package kcore

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Edges returns until when the epochs that Epochs gave stay so: lo while a
// moment's lower bound is below loEnd, hi while its upper bound is below
// hiEnd, both ns.
func (j *Journal) Edges(lo, hi event.Epoch) (loEnd, hiEnd uint64) {
	loEnd, hiEnd = math.MaxUint64, math.MaxUint64
	if int(lo) < len(j.ended) {
		loEnd = j.ended[lo]
	}
	if int(hi) < len(j.begun) {
		hiEnd = j.begun[hi]
	}
	return loEnd, hiEnd
}

// Edges is Journal.Edges.
func (t *Text) Edges(lo, hi event.Epoch) (loEnd, hiEnd uint64) { return t.j.Edges(lo, hi) }
