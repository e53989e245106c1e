package perfdata

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
)

// Trace that no AUXTRACE record tells of, since that was damaged, is found by its sync
// points. It becomes a stream of the CPU whose AUX records fit it.

// syncPoints are what trace is known by: Intel PT's PSB (SDM, "PSB Packet Definition") and
// the A-sync of ETMv4 and ETE (IHI0064, "Alignment Synchronization packet").
var syncPoints = [][]byte{
	bytes.Repeat([]byte{0x02, 0x82}, 8),
	append(make([]byte, 11), 0x80),
}

// foundIndex is the first index of an AUX area that stands for trace found so.
const foundIndex = 1 << 30

// found makes of [off, end) an AUXTRACE record with the trace that its sync points show to
// be there; false where they show none.
func (m *mender) found(off, end int64) bool {
	if end-off <= auxtraceSize {
		return false
	}
	data := m.b[off+auxtraceSize : end]
	n := 0
	for _, s := range syncPoints {
		n = max(n, bytes.Count(data, s))
	}
	if n < 2 { // one may stand in a record
		return false
	}
	h := m.b[off : off+auxtraceSize]
	clear(h)
	none := ^uint32(0)
	binary.LittleEndian.PutUint32(h[32:], foundIndex+uint32(m.r.hints.Mended))
	binary.LittleEndian.PutUint32(h[36:], none) // thread
	binary.LittleEndian.PutUint32(h[40:], none) // CPU
	m.aux(off, end)
	return true
}

// placeFound gives the trace that was found by its sync points to CPUs that have no other.
// That is one whose AUX records tell of as many bytes, or the only one.
func (q *auxQueues) placeFound(list []*auxQueue) {
	var open []*auxQueue
	has := map[int32]bool{}
	for _, a := range list {
		if a.index >= foundIndex {
			open = append(open, a)
		}
		has[a.cpu] = true
	}
	if len(open) == 0 {
		return
	}
	type end struct {
		cpu  int32
		size uint64
	}
	var ends []end
	for k, e := range q.ends {
		if k.cpu >= 0 && !has[k.cpu] {
			ends = append(ends, end{k.cpu, (e.end + auxAlign - 1) &^ (auxAlign - 1)})
		}
	}
	slices.SortFunc(ends, func(a, b end) int { return cmp.Or(cmp.Compare(a.cpu, b.cpu), cmp.Compare(b.size, a.size)) })
	ends = slices.CompactFunc(ends, func(a, b end) bool { return a.cpu == b.cpu })
	for _, a := range open {
		size := uint64(0)
		for i := range a.pieces {
			size += uint64(a.pieces[i].Len())
		}
		i := slices.IndexFunc(ends, func(e end) bool { return e.size == size })
		if i < 0 && len(ends) == 1 && len(open) == 1 {
			i = 0
		}
		if i >= 0 {
			a.cpu = ends[i].cpu
			ends = slices.Delete(ends, i, i+1)
		}
	}
}
