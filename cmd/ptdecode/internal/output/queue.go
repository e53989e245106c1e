package output

// queue holds rows behind one that is not known yet: a branch that waits for
// the address at which its CPU goes on, while other CPUs go on before it. So
// rows keep the order in which their instructions were executed.
type queue struct {
	rows  []queued
	head  int    // index in rows of the first
	first uint64 // number of rows[head]
	into  slot   // the place that is being filled; 0: rows go to the back
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
	placeHeld                   // row is it, if it is to be printed at all
)

// slot names a place for good: the number of the place, from 1.
type slot uint64

// maxQueue bounds how many rows wait. Beyond it the first that is not known is
// waited for no longer: it comes when it comes.
const maxQueue = 1 << 17

// waiting reports whether rows must go through the queue.
func (q *queue) waiting() bool { return q.head < len(q.rows) }

// put adds r: at the back, or into the place that is being filled.
func (q *queue) put(r *Row) { q.set(r, placeRow) }

// hold is put of a row of which decide will tell whether it is printed.
func (q *queue) hold(r *Row) slot { return q.set(r, placeHeld) }

func (q *queue) set(r *Row, state uint8) slot {
	if at := q.at(q.into); at != nil {
		at.row, at.state = r.clone(), state
		return q.into
	}
	q.rows = append(q.rows, queued{r.clone(), state})
	return slot(q.first + uint64(len(q.rows)-q.head))
}

// decide makes a row that is held one to be printed, or none.
func (q *queue) decide(s slot, state uint8) {
	if at := q.at(s); at != nil && at.state == placeHeld {
		at.state = state
	}
}

// change replaces a row that is held.
func (q *queue) change(s slot, r *Row) {
	if at := q.at(s); at != nil && at.state == placeHeld {
		at.row = r.clone()
	}
}

// at returns the place s, nil if it was given up.
func (q *queue) at(s slot) *queued {
	if uint64(s) <= q.first {
		return nil
	}
	return &q.rows[q.head+int(uint64(s)-q.first)-1]
}

// reserve makes a place for a row to come.
func (p *Printer) reserve() slot {
	q := &p.queue
	q.rows = append(q.rows, queued{state: placeOpen})
	return slot(q.first + uint64(len(q.rows)-q.head))
}

// fill makes the rows from now on go into the place s, until filled is called.
func (p *Printer) fill(s slot) {
	if at := p.queue.at(s); at != nil { // else given up: the row goes to the back
		p.queue.into, at.state = s, placeEmpty
	}
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
		if (r.state == placeOpen || r.state == placeHeld) && !all && len(q.rows)-q.head < maxQueue {
			break
		}
		q.head++
		q.first++
		if r.state == placeRow || r.state == placeHeld {
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
