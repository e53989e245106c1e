package rows

// queue holds rows behind one that is not known yet: a branch that waits for
// the address at which its CPU goes on, while other CPUs go on before it. So
// rows keep the order in which their instructions were executed.
type queue struct {
	take  func(*Row) error // takes the rows in order
	rows  []queued
	head  int    // index in rows of the first
	first uint64 // number of rows[head]
	into  place  // the place that is being filled; 0: rows go to the back

	handOn func(*segment) error
	more   int // rows of segments that wait, but one of each

	others bool // what is pushed and reserved now is of another shard: it is handed on to nobody
	mine   int  // places of this shard that are not known yet
}

// queued is a row, or the place of one.
type queued struct {
	row    Row
	seg    *segment // in place of row
	state  placeState
	others bool
}

// waits reports whether the row of q is not known yet.
func (q *queued) waits() bool { return q.state == placeOpen || q.state == placeHeld }

// placeState says what is known of a place's row.
type placeState uint8

// The states of a place.
const (
	placeOpen  placeState = iota + 1 // its row is not known yet
	placeEmpty                       // there is no row
	placeRow                         // row is it
	placeHeld                        // row is it, if it is to be listed at all
)

// place names a place in the queue for good: its number, from 1.
type place uint64

// maxQueue bounds how many rows wait. Beyond it the first that is not known is
// waited for no longer: it comes when it comes.
const maxQueue = 1 << 17

// waiting returns how many rows wait: all others must wait behind them.
func (q *queue) waiting() int { return q.entries() + q.more }

// entries returns how many rows, places and segments wait.
func (q *queue) entries() int { return len(q.rows) - q.head }

// push puts r behind the rows that wait, or hands it on where none does.
func (q *queue) push(r *Row) error {
	if q.waiting() == 0 {
		if q.others {
			return nil
		}
		return q.take(r)
	}
	q.set(r, placeRow)
	if q.waiting() < maxQueue {
		return nil
	}
	return q.release(false)
}

// hold adds a row of which decide will tell whether it is listed.
func (q *queue) hold(r *Row) place { return q.set(r, placeHeld) }

// set puts r at the back, or into the place that is being filled.
func (q *queue) set(r *Row, state placeState) place {
	if at := q.at(q.into); at != nil {
		at.row = r.Clone()
		q.become(at, state)
		return q.into
	}
	return q.append(queued{row: r.Clone(), state: state, others: q.others})
}

// append puts x at the back.
func (q *queue) append(x queued) place {
	if !x.others && x.waits() {
		q.mine++
	}
	q.rows = append(q.rows, x)
	return place(q.first + uint64(q.entries()))
}

// become changes what is known of a place.
func (q *queue) become(at *queued, state placeState) {
	before := at.waits()
	at.state = state
	if at.others || before == at.waits() {
		return
	}
	if before {
		q.mine--
	} else {
		q.mine++
	}
}

// decide makes a row that is held one to be listed, or none.
func (q *queue) decide(p place, state placeState) {
	if at := q.at(p); at != nil && at.state == placeHeld {
		q.become(at, state)
	}
}

// change replaces a row that is held.
func (q *queue) change(p place, r *Row) {
	if at := q.at(p); at != nil && at.state == placeHeld {
		at.row = r.Clone()
	}
}

// at returns the place p, nil if it was given up.
func (q *queue) at(p place) *queued {
	if uint64(p) <= q.first {
		return nil
	}
	return &q.rows[q.head+int(uint64(p)-q.first)-1]
}

// reserve makes a place for a row to come.
func (q *queue) reserve() place {
	return q.append(queued{state: placeOpen, others: q.others})
}

// fill lets the rows that make pushes go into the place p, and hands on what
// waits no longer.
func (q *queue) fill(p place, make func() error) error {
	if q.at(p) != nil { // else given up: the rows go to the back
		q.into = p
	}
	err := make()
	if at := q.at(p); at != nil && at.state == placeOpen { // open until then: make may hand on what lies before
		q.become(at, placeEmpty)
	}
	q.into = 0
	if e := q.release(false); err == nil {
		err = e
	}
	return err
}

// release hands on the rows up to the first that is not known; all, and what is
// known of them, if all is set or too many wait.
func (q *queue) release(all bool) error {
	for q.head < len(q.rows) {
		r := &q.rows[q.head]
		if r.waits() && !all && q.waiting() < maxQueue {
			break
		}
		q.head++
		q.first++
		if r.waits() && !r.others {
			q.mine--
		}
		if g := r.seg; g != nil {
			q.more -= g.rows - 1
			r.seg = nil
			if err := q.handOn(g); err != nil {
				return err
			}
		} else if (r.state == placeRow || r.state == placeHeld) && !r.others {
			if err := q.take(&r.row); err != nil {
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
