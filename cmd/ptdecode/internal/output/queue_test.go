package output

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// ipsOnly prints a row's address.
type ipsOnly struct{}

func (ipsOnly) row(dst []byte, r *Row) []byte { return fmt.Appendf(dst, "%d ", r.IP) }

// queuePrinter returns a Printer that prints addresses, and what it printed.
func queuePrinter() (*Printer, *bytes.Buffer) {
	var w bytes.Buffer
	return &Printer{out: lines{w: &w}, enc: ipsOnly{}, counter: &Counter{}}, &w
}

// TestQueueKeepsPlaces would catch rows that leave their places: a branch of
// one CPU that is settled after rows of another.
func TestQueueKeepsPlaces(t *testing.T) {
	p, w := queuePrinter()
	row := func(ip uint64) {
		if err := p.row(&Row{IP: ip, Stream: &Stream{}}); err != nil {
			t.Fatal(err)
		}
	}
	row(1)
	a := p.reserve() // 2
	row(3)
	b := p.reserve() // not taken: no row
	row(4)
	c := p.reserve() // 5
	p.fill(c)
	row(5)
	p.filled()
	p.fill(b)
	p.filled()
	row(6)
	p.fill(a)
	row(2)
	p.filled()
	row(7)
	if p.out.flush(); w.String() != "1 2 3 4 5 6 7 " {
		t.Errorf("printed %q", w.String())
	}
	if len(p.queue.rows) != 0 {
		t.Errorf("%d rows are left", len(p.queue.rows))
	}
}

// TestQueueIsBounded would catch rows without end that wait for a CPU that
// never goes on; its row is printed late, and no row is lost.
func TestQueueIsBounded(t *testing.T) {
	p, w := queuePrinter()
	s := p.reserve()
	n := 2*maxQueue + 10
	for i := range n {
		if err := p.row(&Row{IP: uint64(i), Stream: &Stream{}}); err != nil {
			t.Fatal(err)
		}
		if len(p.queue.rows)-p.queue.head > maxQueue {
			t.Fatalf("%d rows wait, at most %d", len(p.queue.rows), maxQueue)
		}
	}
	p.fill(s)
	p.row(&Row{IP: 999999999, Stream: &Stream{}})
	p.filled()
	p.release(true)
	p.out.flush()
	got := strings.Fields(w.String())
	if len(got) != n+1 || got[n] != "999999999" || got[0] != "0" || got[n-1] != fmt.Sprint(n-1) {
		t.Errorf("%d rows were printed, want %d; the last is %s", len(got), n+1, got[len(got)-1])
	}
}
