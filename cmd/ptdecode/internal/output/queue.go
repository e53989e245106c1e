package output

// queue holds rows behind one that is not known yet: a branch that waits for
// the address at which its CPU goes on, while other CPUs go on before it. So
// rows keep the order in which their instructions were executed.
type queue struct {
	rows  []queued
	head  int    // index in rows of the first
	first uint64 // number of rows[head]
	into  int    // index in rows of the place that is being filled; -1: rows go to the back
}

// queued is a row, or the place of one.
type queued struct {
	row   Row
	state uint8
}

// The states of a place.
const (
	placeOpen  uint8 = iota + 1 // its row is not known yet
	placeEmpty                  // there is no row
	placeRow                    // row is it
)

// slot names a place for good: the number of the place, from 1.
type slot uint64

// maxQueue bounds how many rows wait. Beyond it the first that is not known is
// waited for no longer: it comes when it comes.
const maxQueue = 1 << 17

// waiting reports whether rows must go through the queue.
func (q *queue) waiting() bool { return q.head < len(q.rows) }

// put adds r: at the back, or into the place that is being filled.
func (q *queue) put(r *Row) {
	if q.into > 0 {
		at := &q.rows[q.into-1]
		at.row, at.state = r.clone(), placeRow
		return
	}
	q.rows = append(q.rows, queued{r.clone(), placeRow})
}

// reserve makes a place for a row to come.
func (p *Printer) reserve() slot {
	q := &p.queue
	q.rows = append(q.rows, queued{state: placeOpen})
	return slot(q.first + uint64(len(q.rows)-q.head))
}

// fill makes the rows from now on go into the place s, until filled is called.
func (p *Printer) fill(s slot) {
	q := &p.queue
	if uint64(s) <= q.first {
		return // given up: the row goes to the back
	}
	q.into = q.head + int(uint64(s)-q.first)
	q.rows[q.into-1].state = placeEmpty
}

// filled ends fill and prints what waits no longer.
func (p *Printer) filled() error {
	p.queue.into = 0
	return p.release(false)
}

// release prints the rows up to the first that is not known; all, and what is
// known of them, if all is set or too many wait.
func (p *Printer) release(all bool) error {
	q := &p.queue
	for q.head < len(q.rows) {
		r := &q.rows[q.head]
		if r.state == placeOpen && !all && len(q.rows)-q.head < maxQueue {
			break
		}
		q.head++
		q.first++
		if r.state == placeRow {
			if err := p.print(&r.row); err != nil {
				return err
			}
		}
	}
	if q.head == len(q.rows) {
		q.rows, q.head = q.rows[:0], 0
	} else if q.head > maxQueue {
		n := copy(q.rows, q.rows[q.head:])
		q.rows, q.head = q.rows[:n], 0
	}
	return nil
}
