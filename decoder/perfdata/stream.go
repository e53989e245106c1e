package perfdata

import (
	"bytes"
	"cmp"
	"io"
	"slices"
)

// Stream is the hardware trace of one CPU or thread: the pieces of its AUX
// area joined, without the padding between them and without what overlapping
// snapshots hold twice.
type Stream struct {
	Index    int   // of the AUX area in the recording
	CPU      int32 // -1: a thread's stream
	TID      int32 // -1: a CPU's stream
	Snapshot bool  // made of snapshots: what lies between them was not kept
	Sampled  bool  // made of PERF_SAMPLE_AUX samples
	Size     int64 // bytes
	Pieces   []Piece
	Losses   []Loss // by Off
}

// Piece is a stretch of a stream that is contiguous in a file.
type Piece struct {
	Off     int64  // in the stream, bytes
	AuxOff  uint64 // in the AUX area, bytes; 0 for a sample's
	Time    uint64 // ns, of the sample; 0 for others
	File    string
	FileOff int64 // bytes
	data    []byte
}

// Len is the piece's length, bytes.
func (p *Piece) Len() int64 { return int64(len(p.data)) }

// Bytes are the piece's bytes; they alias the file.
func (p *Piece) Bytes() []byte { return p.data }

// LossKind says why bytes are missing from a stream.
type LossKind uint8

// The kinds of losses.
const (
	LossTruncated LossKind = 1 + iota // the buffer was full: data was dropped at Off
	LossPartial                       // the data in [Off, End) has holes
	LossCollision                     // a sample's data collided with another sample
	LossGap                           // the AUX area's offsets jump at Off
	LossSnapshot                      // two snapshots meet at Off and do not overlap
	LossCutShort                      // the file ends before the data does
)

var lossNames = [...]string{"none", "truncated", "partial", "collision", "gap", "snapshot", "cut short"}

// String returns the kind's name.
func (k LossKind) String() string {
	if int(k) < len(lossNames) {
		return lossNames[k]
	}
	return "?"
}

// Loss is a place of a stream where bytes are missing or doubtful.
type Loss struct {
	Off, End int64 // in the stream, bytes; Off == End: between two bytes
	Why      LossKind
	Time     uint64 // ns, of the AUX record that says so; 0 if none does
}

// Bytes returns n bytes of the stream from off on, fewer at its end. They
// alias the file where they lie in one piece, else they are copied.
func (s *Stream) Bytes(off, n int64) []byte {
	if off < 0 || n <= 0 || off >= s.Size {
		return nil
	}
	n = min(n, s.Size-off)
	i := s.find(off)
	p := &s.Pieces[i]
	if at := off - p.Off; at+n <= p.Len() {
		return p.data[at : at+n : at+n]
	}
	b := make([]byte, n)
	s.ReadAt(b, off)
	return b
}

// ReadAt reads the stream's bytes at off, as io.ReaderAt says.
func (s *Stream) ReadAt(b []byte, off int64) (n int, err error) {
	if off < 0 || off >= s.Size {
		return 0, io.EOF
	}
	for i := s.find(off); n < len(b) && i < len(s.Pieces); i++ {
		p := &s.Pieces[i]
		n += copy(b[n:], p.data[off+int64(n)-p.Off:])
	}
	if n < len(b) {
		err = io.EOF
	}
	return n, err
}

// find returns the index of the piece that holds the byte at off.
func (s *Stream) find(off int64) int {
	i, found := slices.BinarySearchFunc(s.Pieces, off, func(p Piece, o int64) int { return cmp.Compare(p.Off, o) })
	if found {
		return i
	}
	return i - 1
}

// auxQueue is one AUX area's pieces in file order.
type auxQueue struct {
	index    int
	cpu, tid int32
	sampled  bool
	short    bool // the file ends inside the last piece
	pieces   []Piece
	end      uint64     // of the data in the AUX area, by the AUX records; 0: not known
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

// auxQueues collects what streams are made of, in file order.
type auxQueues struct {
	queues    map[queueKey]*auxQueue
	notes     []auxNote
	ends      map[areaKey]uint64 // the end of the data by the AUX records
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
func (q *auxQueues) auxtrace(rec *Record, m Auxtrace) {
	a := q.get(queueKey{index: int(m.Index)}, m.CPU, m.TID)
	a.short = uint64(len(rec.Data)) < m.Size
	if len(rec.Data) == 0 {
		return
	}
	a.pieces = append(a.pieces, Piece{AuxOff: m.Off, File: rec.File, FileOff: rec.Off + int64(rec.Size), data: rec.Data})
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
		q.ends = map[areaKey]uint64{}
	}
	q.ends[k] = max(q.ends[k], m.Off+m.Size)
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

// find returns the queue of records that say id, cpu and tid, nil if none is.
func (o *owners) find(id uint64, cpu, tid int32) *auxQueue {
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
	}
	var list []*auxQueue
	for _, a := range q.queues {
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b *auxQueue) int {
		return cmp.Or(cmp.Compare(a.index, b.index), cmp.Compare(a.tid, b.tid), cmp.Compare(len(a.pieces), len(b.pieces)))
	})
	o := newOwners(r, list)
	for k, e := range q.ends {
		if a := o.find(k.id, k.cpu, k.tid); a != nil {
			a.end = max(a.end, e)
		}
	}
	for i := range q.notes {
		n := &q.notes[i]
		if a := o.find(n.id, n.cpu, n.tid); a != nil {
			a.notes = append(a.notes, n)
		}
	}
	var out []Stream
	for _, a := range list {
		s := Stream{Index: a.index, CPU: a.cpu, TID: a.tid, Sampled: a.sampled, Snapshot: snapshot && !a.sampled}
		if s.Sampled || s.Snapshot {
			s.joinSnapshots(a.pieces)
		} else {
			s.join(a.pieces, a.end)
		}
		if a.short {
			s.Losses = append(s.Losses, Loss{s.Size, s.Size, LossCutShort, 0})
		}
		s.lose(a.notes)
		slices.SortStableFunc(s.Losses, func(a, b Loss) int { return cmp.Compare(a.Off, b.Off) })
		if s.Size > 0 || len(s.Losses) > 0 {
			out = append(out, s)
		}
	}
	return out
}

func (s *Stream) add(p Piece) {
	if len(p.data) == 0 {
		return
	}
	p.Off = s.Size
	s.Size += p.Len()
	s.Pieces = append(s.Pieces, p)
}

// trim takes n bytes off the stream's end.
func (s *Stream) trim(n int64) {
	for n > 0 && len(s.Pieces) > 0 {
		p := &s.Pieces[len(s.Pieces)-1]
		k := min(n, p.Len())
		p.data = p.data[:p.Len()-k]
		s.Size -= k
		n -= k
		if p.Len() == 0 {
			s.Pieces = s.Pieces[:len(s.Pieces)-1]
		}
	}
}

// auxAlign is PERF_AUXTRACE_RECORD_ALIGNMENT (tools/perf/util/auxtrace.h):
// perf record pads the data of an AUXTRACE record to it with zeros and counts
// the padding in its size.
const auxAlign = 8

// join lines up the pieces by their offsets in the AUX area. end is where the
// AUX records say that the data ends, 0 if they do not.
func (s *Stream) join(pieces []Piece, end uint64) {
	var at uint64 // in the AUX area, after the last piece
	for i, p := range pieces {
		over := at - p.AuxOff
		switch {
		case i == 0 || p.AuxOff == at:
		case p.AuxOff > at:
			s.Losses = append(s.Losses, Loss{s.Size, s.Size, LossGap, 0})
		case over < auxAlign:
			s.trim(int64(over))
		case s.repeats(p.data, over):
			p.data = p.data[min(over, uint64(len(p.data))):]
			p.FileOff += int64(over)
			p.AuxOff = at
		default:
			s.Losses = append(s.Losses, Loss{s.Size, s.Size, LossGap, 0})
		}
		at = p.AuxOff + uint64(len(p.data))
		s.add(p)
	}
	if pad := at - end; end != 0 && at > end && pad < auxAlign {
		s.trim(int64(pad))
	}
}

// repeats reports whether the first over bytes of b, or all of b if it is
// shorter, are what the stream's last over bytes start with.
func (s *Stream) repeats(b []byte, over uint64) bool {
	if over > uint64(s.Size) {
		return false
	}
	b = b[:min(over, uint64(len(b)))]
	var buf [4096]byte
	for off := s.Size - int64(over); len(b) > 0; {
		n, _ := s.ReadAt(buf[:min(len(buf), len(b))], off)
		if n == 0 || !bytes.Equal(buf[:n], b[:n]) {
			return false
		}
		off += int64(n)
		b = b[n:]
	}
	return true
}

// joinSnapshots appends snapshots, each without the start that the one before
// it ends with: a buffer is copied whole each time, however little is new in
// it (tools/perf/util/intel-pt-decoder/intel-pt-decoder.c,
// intel_pt_find_overlap, does the same by PSB).
func (s *Stream) joinSnapshots(pieces []Piece) {
	var prev []byte
	for i, p := range pieces {
		whole := p.data
		if i > 0 {
			if n, pad := overlapPadded(prev, p.data); n > 0 {
				s.trim(int64(pad))
				p.data = p.data[n:]
				p.FileOff += int64(n)
				p.AuxOff += uint64(n)
			} else {
				s.Losses = append(s.Losses, Loss{s.Size, s.Size, LossSnapshot, p.Time})
			}
		}
		s.add(p)
		prev = whole
	}
}

// overlapPadded is overlap for a snapshot a that may end in up to 7 bytes of
// padding, which are returned with it: a snapshot of a buffer not yet full has
// any length, as has that of a sample.
func overlapPadded(a, b []byte) (n, pad int) {
	for pad = 0; pad < auxAlign; pad++ {
		if pad > 0 && (len(a) == 0 || a[len(a)-1] != 0) {
			break
		}
		if pad > 0 {
			a = a[:len(a)-1]
		}
		if n = overlap(a, b); n > 0 {
			return n, pad
		}
	}
	return 0, 0
}

// minOverlap is the shortest overlap of snapshots that is taken for one,
// bytes: shorter equal stretches (a PSB is 16) meet by chance.
const minOverlap = 64

// overlap is the length of the longest end of a that b starts with, 0 if that
// is shorter than minOverlap or one byte repeated (padding, which proves
// nothing). Two rolling hashes, of a's last and b's first n bytes, are
// compared for every n; the bytes decide.
func overlap(a, b []byte) int {
	const base = 0x9E3779B97F4A7C15 | 1
	n := min(len(a), len(b))
	var tail, lead, pow uint64 = 0, 0, 1
	var found [8]int // the longest candidates, in a ring
	k := 0
	for i := range n {
		tail += uint64(a[len(a)-1-i]+1) * pow
		lead = lead*base + uint64(b[i]+1)
		pow *= base
		if tail == lead && i+1 >= minOverlap {
			found[k%len(found)] = i + 1
			k++
		}
	}
	for j := k - 1; j >= max(0, k-len(found)); j-- {
		l := found[j%len(found)]
		if bytes.Equal(a[len(a)-l:], b[:l]) {
			if bytes.Equal(b[1:l], b[:l-1]) {
				return 0
			}
			return l
		}
	}
	return 0
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
