package perfdata

import "iter"

// Reader hands out records. Its zero value is not ready: see
// Recording.Records.
type Reader struct {
	r     *Recording
	ev    events
	order []uint32 // of the runs; nil: as they stand
	next  int
	heap  []*head // by key, then by file order
	spare []*head
}

// head is a run being read: its next record.
type head struct {
	seq int // of the run in the file
	src int
	key uint64
	off int64 // of the record after rec
	end int64
	rec Record
}

// Records returns a reader of all records in time order: by (time, place in
// the files). A record whose time is 0 was made by perf record and comes
// first; one without a time follows the record before it in its file.
// COMPRESSED records are replaced by what they hold. It allocates nothing a
// record.
func (r *Recording) Records() *Reader {
	return &Reader{r: r, ev: *r.events, order: r.byTime}
}

// Next fills rec with the next record, false at the end. Body and Data alias
// the file.
func (rd *Reader) Next(rec *Record) bool {
	for rd.next < len(rd.r.runs) {
		i := rd.next
		if rd.order != nil {
			i = int(rd.order[i])
		}
		if len(rd.heap) > 0 && (rd.order == nil || rd.r.runs[i].key > rd.heap[0].key) {
			break
		}
		rd.start(i)
		rd.next++
	}
	if len(rd.heap) == 0 {
		return false
	}
	h := rd.heap[0]
	*rec = h.rec
	if rd.advance(h) {
		rd.sink(0)
		return true
	}
	rd.spare = append(rd.spare, h)
	n := len(rd.heap) - 1
	rd.heap[0] = rd.heap[n]
	rd.heap = rd.heap[:n]
	rd.sink(0)
	return true
}

// All is Next as a sequence; each record is valid until the next.
func (rd *Reader) All() iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		var rec Record
		for rd.Next(&rec) {
			if !yield(&rec) {
				return
			}
		}
	}
}

// start adds run i to the heap.
func (rd *Reader) start(i int) {
	var h *head
	if n := len(rd.spare); n > 0 {
		h, rd.spare = rd.spare[n-1], rd.spare[:n-1]
	} else {
		h = new(head)
	}
	u := &rd.r.runs[i]
	h.seq, h.src, h.key, h.off, h.end = i, int(u.src), u.key, u.start, u.end
	if !rd.advance(h) {
		rd.spare = append(rd.spare, h)
		return
	}
	rd.heap = append(rd.heap, h)
	for i := len(rd.heap) - 1; i > 0; {
		p := (i - 1) / 2
		if !rd.heap[i].before(rd.heap[p]) {
			break
		}
		rd.heap[i], rd.heap[p] = rd.heap[p], rd.heap[i]
		i = p
	}
}

// advance reads the next record of a run and its key, false at the run's end.
func (rd *Reader) advance(h *head) bool {
	if h.off >= h.end {
		return false
	}
	next, ok := rd.r.fill(&h.rec, &rd.ev, h.src, h.off, h.end)
	if !ok {
		return false
	}
	if h.rec.HasTime() {
		h.key = h.rec.Time
	}
	h.off = next
	return true
}

func (h *head) before(o *head) bool {
	if h.key != o.key {
		return h.key < o.key
	}
	return h.seq < o.seq
}

// sink restores the heap below i.
func (rd *Reader) sink(i int) {
	for {
		c := 2*i + 1
		if c >= len(rd.heap) {
			return
		}
		if c+1 < len(rd.heap) && rd.heap[c+1].before(rd.heap[c]) {
			c++
		}
		if !rd.heap[c].before(rd.heap[i]) {
			return
		}
		rd.heap[i], rd.heap[c] = rd.heap[c], rd.heap[i]
		i = c
	}
}
