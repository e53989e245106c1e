package perfdata

import (
	"cmp"
	"math"
	"slices"
)

// auxQueue is one AUX area's pieces in file order.
type auxQueue struct {
	index    int
	cpu, tid int32
	sampled  bool
	missing  int64 // bytes of the last piece that the file does not have
	pieces   []Piece
	end      uint64     // of the data in the AUX area, by the AUX records; 0: not known
	format   uint64     // AuxFormatMask bits of the AUX records
	notes    []*auxNote // flagged AUX records
}

type queueKey struct {
	index   int
	tid     int32
	sampled bool
}

// auxNote is a flagged AUX record.
type auxNote struct {
	Aux
	id   uint64
	time uint64
	cpu  int32
	tid  int32
}

// areaKey names an AUX area by what its AUX records say.
type areaKey struct {
	id  uint64
	cpu int32
	tid int32
}

// areaEnd is what the AUX records of an area say together.
type areaEnd struct {
	end    uint64 // of the data, bytes
	format uint64
}

// auxQueues collects what streams are made of, in file order.
type auxQueues struct {
	queues    map[queueKey]*auxQueue
	notes     []auxNote
	ends      map[areaKey]areaEnd
	overwrite bool
}

func (q *auxQueues) get(k queueKey, cpu, tid int32) *auxQueue {
	if q.queues == nil {
		q.queues = map[queueKey]*auxQueue{}
	}
	a := q.queues[k]
	if a == nil {
		a = &auxQueue{index: k.index, cpu: cpu, tid: tid, sampled: k.sampled}
		q.queues[k] = a
	}
	return a
}

// auxtrace adds the data of an AUXTRACE record.
func (s *scanner) auxtrace(rec *Record, m Auxtrace) {
	a := s.queue.get(queueKey{index: int(m.Index)}, m.CPU, m.TID)
	a.missing = int64(min(m.Size-min(m.Size, uint64(len(rec.Data))), math.MaxInt64))
	if len(rec.Data) == 0 {
		return
	}
	p := Piece{AuxOff: m.Off, File: rec.File, FileOff: rec.Off + int64(rec.Size)}
	packed := false
	if p.data, packed = simpleAux(s.r, rec.Data); packed {
		p.File += inflatedSuffix
	}
	a.pieces = append(a.pieces, p)
}

// sample adds the AUX data of a SAMPLE, off bytes into its body.
func (q *auxQueues) sample(r *Recording, rec *Record, data []byte, off int) {
	k := queueKey{index: int(rec.CPU), tid: -1, sampled: true}
	cpu, tid := rec.CPU, int32(-1)
	if cpu < 0 {
		k.index, tid = 0, rec.TID
		if i, ok := r.idQueue[rec.ID]; ok && rec.ID != 0 {
			e := r.idIndex[i]
			k.index, cpu, tid = int(e.Index), e.CPU, e.TID
		}
		k.tid = tid
	}
	a := q.get(k, cpu, tid)
	a.pieces = append(a.pieces, Piece{Time: rec.Time, File: rec.File, FileOff: rec.Off + headerSize + int64(off), data: data})
}

// note keeps what an AUX record says.
func (q *auxQueues) note(rec *Record, m Aux) bool {
	k := areaKey{id: rec.ID, cpu: rec.CPU, tid: -1}
	if rec.ID == 0 {
		k.tid = rec.TID
	}
	if q.ends == nil {
		q.ends = map[areaKey]areaEnd{}
	}
	e := q.ends[k]
	q.ends[k] = areaEnd{max(e.end, m.Off+m.Size), e.format | m.Flags&AuxFormatMask}
	q.overwrite = q.overwrite || m.Flags&AuxOverwrite != 0
	if m.Flags&(AuxTruncated|AuxPartial|AuxCollision) == 0 {
		return false
	}
	q.notes = append(q.notes, auxNote{m, rec.ID, rec.Time, rec.CPU, rec.TID})
	return true
}

// owners finds the queue that AUX records are of.
type owners struct {
	r                   *Recording
	byCPU, byTID, byIdx map[int]*auxQueue
}

func newOwners(r *Recording, list []*auxQueue) *owners {
	o := &owners{r, map[int]*auxQueue{}, map[int]*auxQueue{}, map[int]*auxQueue{}}
	for _, a := range list {
		put := func(m map[int]*auxQueue, k int) {
			if k >= 0 && (m[k] == nil || m[k].sampled) {
				m[k] = a
			}
		}
		put(o.byCPU, int(a.cpu))
		if a.cpu < 0 {
			put(o.byTID, int(a.tid))
			put(o.byIdx, a.index)
		}
	}
	return o
}

// queueOf returns the queue of records that say id, cpu and tid, nil if none is.
func (o *owners) queueOf(id uint64, cpu, tid int32) *auxQueue {
	if a := o.byCPU[int(cpu)]; a != nil {
		return a
	}
	if i, ok := o.r.idQueue[id]; ok && id != 0 {
		e := &o.r.idIndex[i]
		if a := o.byCPU[int(e.CPU)]; a != nil {
			return a
		}
		return o.byIdx[int(e.Index)]
	}
	return o.byTID[int(tid)]
}

// streams joins the queues.
func (q *auxQueues) streams(r *Recording) []Stream {
	snapshot := q.overwrite
	if i := r.auxInfo; i != nil && i.PT != nil {
		snapshot = snapshot || i.PT.Snapshot
	} else if i != nil && i.CS != nil {
		snapshot = snapshot || i.CS.Snapshot
	}
	var list []*auxQueue
	for _, a := range q.queues {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b *auxQueue) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.tid, b.tid), cmp.Compare(len(a.pieces), len(b.pieces)))
	})
	q.placeFound(list)
	o := newOwners(r, list)
	for k, e := range q.ends {
		if a := o.queueOf(k.id, k.cpu, k.tid); a != nil {
			a.end = max(a.end, e.end)
			a.format |= e.format
		}
	}
	for i := range q.notes {
		n := &q.notes[i]
		if a := o.queueOf(n.id, n.cpu, n.tid); a != nil {
			a.notes = append(a.notes, n)
		}
	}
	var out []Stream
	for _, a := range list {
		s := Stream{Index: a.index, CPU: a.cpu, TID: a.tid, Sampled: a.sampled, Snapshot: snapshot && !a.sampled, Format: a.format}
		if s.Sampled || s.Snapshot {
			s.joinSnapshots(a.pieces)
		} else {
			s.join(a.pieces, a.end)
		}
		if a.missing > 0 {
			s.Losses = append(s.Losses, Loss{s.Size, s.Size, LossCutShort, 0})
			s.Missing = a.missing
		}
		s.lose(a.notes)
		slices.SortStableFunc(s.Losses, func(a, b Loss) int { return cmp.Compare(a.Off, b.Off) })
		if s.Size > 0 || len(s.Losses) > 0 {
			out = append(out, s)
		}
	}
	return out
}

// lose adds the losses that flagged AUX records tell.
func (s *Stream) lose(notes []*auxNote) {
	byAux := make([]*Piece, len(s.Pieces))
	if len(notes) > 0 {
		for i := range s.Pieces {
			byAux[i] = &s.Pieces[i]
		}
		slices.SortStableFunc(byAux, func(a, b *Piece) int { return cmp.Compare(a.AuxOff, b.AuxOff) })
	}
	// place turns an offset in the AUX area into one in the stream.
	place := func(aux uint64) int64 {
		i, found := slices.BinarySearchFunc(byAux, aux, func(p *Piece, o uint64) int { return cmp.Compare(p.AuxOff, o) })
		if found {
			return byAux[i].Off
		}
		if i == 0 {
			return 0
		}
		p := byAux[i-1]
		return p.Off + int64(min(aux-p.AuxOff, uint64(p.Len())))
	}
	for _, n := range notes {
		from, to := s.Size, s.Size // of snapshots: their offsets say nothing
		if !s.Snapshot && !s.Sampled {
			from, to = place(n.Off), place(n.Off+n.Size)
		}
		if n.Flags&AuxPartial != 0 {
			s.Losses = append(s.Losses, Loss{from, to, LossPartial, n.time})
		}
		if n.Flags&AuxTruncated != 0 {
			s.Losses = append(s.Losses, Loss{to, to, LossTruncated, n.time})
		}
		if n.Flags&AuxCollision != 0 {
			s.Losses = append(s.Losses, Loss{from, to, LossCollision, n.time})
		}
	}
}
