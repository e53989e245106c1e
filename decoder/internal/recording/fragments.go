package recording

import (
	"cmp"
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/plural"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// What AUX records say of the AUX areas that hold CoreSight trace. Linux,
// tools/perf/util/cs-etm.c, cs_etm__queue_aux_fragment, v6.12.

// fragment is a stretch of an AUX area's stream that was stored at once.
type fragment struct {
	of        *stream.Stream
	aux       *perfdata.Stream
	from, end int64 // bytes
	cpu       int32 // that stored it; -1: not known
	raw       bool
	untold    bool         // no AUX record tells of it
	time      uint64       // ns: when it had been stored, or, untold, what lies before it had
	since     uint64       // ns: when what lies before it had been; 0: not known
	loss      *stream.Loss // not nil: bytes are missing in front of it
}

// csMark is a place in the stream of an AUX area at which a stretch begins.
type csMark struct {
	off  int64
	aux  *auxRecord   // that tells of the stretch, or nil
	ends bool         // aux tells of what lies before
	loss *stream.Loss // in front of it, or nil
}

// fragments cuts the stream of an AUX area where AUX records, those of its CPU
// or thread, and losses say.
func (f *facts) fragments(st *stream.Stream, p *perfdata.Stream, records []*auxRecord) (list []fragment) {
	var marks []csMark
	found := 0
	pieces := newAuxPieces(p)
	for _, r := range records {
		off, ok := pieces.start(r)
		if !ok || r.size == 0 {
			continue
		}
		found++
		marks = append(marks, csMark{off: off, aux: r})
		if end, ok := pieces.end(r); ok {
			marks = append(marks, csMark{off: end, aux: r, ends: true})
		}
	}
	if len(p.Pieces) > 0 && !p.Sampled {
		f.checkAux(p, records, found)
	}
	for i := range st.Losses {
		marks = append(marks, csMark{off: min(max(st.Losses[i].Off, 0), p.Size), loss: &st.Losses[i]})
	}
	slices.SortStableFunc(marks, func(a, b csMark) int {
		return cmp.Or(cmp.Compare(a.off, b.off), cmp.Compare(a.order(), b.order()))
	})
	var teller *auxRecord // of what lies at g.from
	since := storedBefore(records)
	raw := p.Format&perfdata.AuxFormatCoreSightRaw != 0 || len(records) > 0 && records[0].raw
	g := fragment{of: st, aux: p, end: p.Size, cpu: p.CPU, raw: raw, untold: true}
	for _, m := range marks {
		if m.ends && m.aux != teller {
			continue // another tells of it too
		}
		if m.off > g.from {
			g.end = m.off
			list = append(list, g)
			g.from, g.end, g.loss = m.off, p.Size, nil
		}
		switch {
		case m.ends:
			g.untold, teller = true, nil
		case m.aux != nil:
			g.cpu, g.time, g.raw, g.since, g.untold = m.aux.cpu, m.aux.time, m.aux.raw, since[m.aux], false
			teller = m.aux
		default:
			g.loss = m.loss
		}
	}
	return append(list, g)
}

// order is that of marks at one place: an end comes before a beginning.
func (m *csMark) order() int {
	switch {
	case m.ends:
		return 0
	case m.aux != nil:
		return 1
	}
	return 2
}

// storedBefore returns by AUX record of an area the time of the one before it: the
// sink was emptied then, so that what the record tells of came later.
func storedBefore(records []*auxRecord) map[*auxRecord]uint64 {
	since := make(map[*auxRecord]uint64, len(records))
	last := uint64(0)
	for _, r := range records {
		since[r] = last
		last = max(last, r.time)
	}
	return since
}

// checkAux tells of AUX records that cannot be those of an AUX area's data: none
// of its bytes, bytes that another told of, or more than there are. found is of
// how many of them the area has the first byte.
func (f *facts) checkAux(p *perfdata.Stream, records []*auxRecord, found int) {
	at := p.Pieces[0].FileOff
	if found == 0 {
		f.Damagedf("", "%s+0x%x: AUXTRACE: %s of which no AUX record tells: where the sink was stopped meanwhile is not known", f.Name, at, plural.Count(p.Size, "byte"))
		return
	}
	if p.Snapshot {
		return // what was told of may have been overwritten
	}
	end := uint64(0)
	for _, r := range slices.SortedStableFunc(slices.Values(records), func(a, b *auxRecord) int { return cmp.Compare(a.off, b.off) }) {
		if r.size > 0 && r.off < end {
			f.Damagedf("", "%s+0x%x: AUXTRACE: an AUX record tells of trace from 0x%x on, the one before it of trace up to 0x%x", f.Name, at, r.off, end)
			return
		}
		end = max(end, r.off+r.size)
	}
	last := &p.Pieces[len(p.Pieces)-1]
	if have := last.AuxOff + uint64(last.Len()); end > have {
		f.Damagedf("", "%s+0x%x: AUXTRACE: AUX records tell of trace up to 0x%x, there is some up to 0x%x", f.Name, at, end, have)
	}
}

// auxPieces finds what AUX records tell of among the pieces of an AUX area.
type auxPieces []*perfdata.Piece // by AuxOff

func newAuxPieces(p *perfdata.Stream) auxPieces {
	list := make(auxPieces, len(p.Pieces))
	for i := range p.Pieces {
		list[i] = &p.Pieces[i]
	}
	slices.SortStableFunc(list, func(a, b *perfdata.Piece) int { return cmp.Compare(a.AuxOff, b.AuxOff) })
	return list
}

// start returns where in the stream the trace begins that r tells of, as far as
// it was not overwritten.
func (l auxPieces) start(r *auxRecord) (int64, bool) {
	at := r.off
	if r.over {
		at--
	}
	i := sort.Search(len(l), func(i int) bool { return l[i].AuxOff > at })
	for _, k := range []int{i - 1, len(l) - 1} { // a ring's offsets may begin below 0, modulo 2^64
		if k < 0 {
			continue
		}
		d := at - l[k].AuxOff
		if d >= uint64(l[k].Len()) {
			continue
		}
		if r.over {
			d -= min(d, r.size-1)
		}
		return l[k].Off + int64(d), true
	}
	return 0, false
}

// end returns where in the stream the trace ends that r tells of; false where its last
// byte is not there.
func (l auxPieces) end(r *auxRecord) (int64, bool) {
	last := auxRecord{off: r.off + r.size - 1}
	if r.over {
		last.off = r.off - 1
	}
	at, ok := l.start(&last)
	return at + 1, ok
}
