package rows

import (
	"slices"
	"testing"
)

// queueInto returns a queue that hands its rows' addresses to list.
func queueInto(list *[]uint64) *queue {
	return &queue{take: func(r *Row) error { *list = append(*list, r.IP); return nil }}
}

// TestQueueKeepsPlaces would catch rows that leave their places: a branch of
// one CPU that is settled after rows of another.
func TestQueueKeepsPlaces(t *testing.T) {
	var got []uint64
	q := queueInto(&got)
	row := func(ip uint64) func() error { return func() error { return q.push(&Row{IP: ip}) } }
	nothing := func() error { return nil }
	row(1)()
	a := q.reserve() // 2
	row(3)()
	b := q.reserve() // not taken: no row
	row(4)()
	c := q.reserve() // 5
	for _, err := range []error{q.fill(c, row(5)), q.fill(b, nothing), row(6)(), q.fill(a, row(2)), row(7)()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(got, []uint64{1, 2, 3, 4, 5, 6, 7}) {
		t.Errorf("handed on %d", got)
	}
	if q.waiting() != 0 {
		t.Errorf("%d rows are left", q.waiting())
	}
}

// TestQueueFillsInPlace would catch a row that comes behind others of later, where what makes
// it settles what waited before it.
func TestQueueFillsInPlace(t *testing.T) {
	var got []uint64
	q := queueInto(&got)
	held := q.hold(&Row{IP: 1})
	open := q.reserve() // 2
	if err := q.push(&Row{IP: 3}); err != nil {
		t.Fatal(err)
	}
	if err := q.fill(open, func() error {
		q.decide(held, placeRow)
		if err := q.release(false); err != nil {
			return err
		}
		return q.push(&Row{IP: 2})
	}); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got, []uint64{1, 2, 3}) || q.waiting() != 0 {
		t.Errorf("handed on %d, %d wait", got, q.waiting())
	}
}

// TestQueueIsBounded would catch rows without end that wait for a CPU that
// never goes on; its row comes late, and no row is lost. It would also catch a
// queue that keeps the memory of rows that it has handed on.
func TestQueueIsBounded(t *testing.T) {
	var got []uint64
	q := queueInto(&got)
	late := q.reserve()
	n := 2*maxQueue + 10
	for i := range n {
		if err := q.push(&Row{IP: uint64(i)}); err != nil {
			t.Fatal(err)
		}
		if q.waiting() > maxQueue {
			t.Fatalf("%d rows wait, at most %d", q.waiting(), maxQueue)
		}
	}
	if err := q.fill(late, func() error { return q.push(&Row{IP: 999999999}) }); err != nil {
		t.Fatal(err)
	}
	if err := q.release(true); err != nil {
		t.Fatal(err)
	}
	if len(got) != n+1 || got[n] != 999999999 || got[0] != 0 || got[n-1] != uint64(n-1) {
		t.Errorf("%d rows came, want %d; the last is %d", len(got), n+1, got[len(got)-1])
	}

	// CPUs that go on, each later than maxQueue rows: places are given up one by one.
	for range 3 * maxQueue / 16 {
		for range 15 {
			q.reserve()
		}
		if err := q.push(&Row{}); err != nil {
			t.Fatal(err)
		}
		if len(q.rows) > 2*maxQueue+32 {
			t.Fatalf("the queue takes the memory of %d rows, %d of which wait", len(q.rows), q.waiting())
		}
	}
}
