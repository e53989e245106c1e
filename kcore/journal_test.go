package kcore

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestFloor would catch order that is not used, and order that the kernel does not give. It gives none between
// pokes of one batch, behind an atomic write under way, or behind a change that nothing dates.
func TestFloor(t *testing.T) {
	bp := func(time, addr uint64) Poke { return RecordedPoke(time, 0, addr, nop5, call5) }
	slot := func(time, addr uint64) Poke { return RecordedPoke(time, 1, addr, nil, call5) }
	atomic := func(time, addr, end uint64) Poke {
		return Poke{Time: time, Begin: time, End: end, Addr: addr, Old: nop5[:4], New: call5[:4], Scheme: SchemeAtomic}
	}
	for _, tt := range []struct {
		what  string
		pokes []Poke
		floor []event.Epoch
		batch []int
	}{
		{"one batch", []Poke{bp(1000, 0x10), bp(1100, 0x20), bp(1200, 0x30)},
			[]event.Epoch{0, 0, 0}, []int{0, 0, 0}},
		{"addresses fall: three batches", []Poke{bp(1000, 0x30), bp(1100, 0x20), bp(1200, 0x10)},
			[]event.Epoch{0, 1, 2}, []int{0, 1, 2}},
		{"one address twice", []Poke{bp(1000, 0x10), bp(1100, 0x20), bp(3200, 0x20), bp(3300, 0x30)},
			[]event.Epoch{0, 0, 2, 2}, []int{0, 0, 1, 1}},
		{"far apart in time", []Poke{bp(1000, 0x10), bp(1000+batchGap, 0x20), bp(1001+2*batchGap, 0x30)},
			[]event.Epoch{0, 0, 2}, []int{0, 0, 1}},
		{"a slot in between", []Poke{bp(1000, 0x10), slot(1050, 0x5000), bp(1100, 0x20)},
			[]event.Epoch{0, 1, 0}, []int{0, 1, 0}},
		{"a kprobe in between", []Poke{bp(1000, 0x10), RecordedPoke(1050, 0, 0x5000, nop5[:1], trap1), bp(1100, 0x20)},
			[]event.Epoch{0, 1, 2}, []int{0, 1, 2}},
		{"atomic under way", []Poke{bp(1000, 0x30), atomic(1100, 0x5000, 1250), bp(1200, 0x20), bp(1300, 0x10)},
			[]event.Epoch{0, 1, 1, 3}, []int{0, 1, 2, 3}},
		{"no record says when", []Poke{{End: 1250, Addr: 0x5000, Old: nop5, New: call5, Scheme: SchemeSlot, Learned: true}, bp(1000, 0x30), bp(1200, 0x20), bp(1300, 0x10)},
			[]event.Epoch{0, 0, 0, 3}, []int{0, 1, 2, 3}},
	} {
		j, err := NewJournal(tt.pokes)
		if err != nil {
			t.Fatal(err)
		}
		for i := range j.Len() {
			if j.Floor(i) != tt.floor[i] || j.Poke(i).Batch != tt.batch[i] {
				t.Errorf("%s: poke %d: floor %d batch %d, want %d %d", tt.what, i,
					j.Floor(i), j.Poke(i).Batch, tt.floor[i], tt.batch[i])
			}
		}
	}
	var many []Poke
	for i := range 600 {
		many = append(many, bp(uint64(1000+i), uint64(0x10*(i+1))))
	}
	j, _ := NewJournal(many)
	if a, b := j.Floor(255), j.Floor(256); a != 0 || b != 256 {
		t.Errorf("floors around the 256th: %d and %d, want 0 and 256", a, b)
	}
}

// TestRecordedBatches would catch batches that real records do not make: no
// site twice in one, addresses rising, floors that never pass their own poke.
func TestRecordedBatches(t *testing.T) {
	for _, name := range recordings {
		j := readRecording(t, name).journal(t)
		sizes := map[int]int{}
		last := map[int]uint64{}
		for i := range j.Len() {
			p := j.Poke(i)
			if p.Addr <= last[p.Batch] || int(j.Floor(i)) > i {
				t.Errorf("%s: poke %d at %#x in batch %d behind %#x, floor %d", name, i, p.Addr, p.Batch, last[p.Batch], j.Floor(i))
			}
			last[p.Batch] = p.Addr
			sizes[p.Batch]++
		}
		most := 0
		for _, n := range sizes {
			most = max(most, n)
		}
		t.Logf("%s: %d pokes in %d batches, the largest of %d", name, j.Len(), len(sizes), most)
	}
}

// TestRepeats would catch a record that tells of a change again and counts as one of its
// own, whose old bytes do not fit. It would also catch a change left out that was made
// twice, with its undoing in between, or lost.
func TestRepeats(t *testing.T) {
	on, off := []byte{0xe9, 0, 0, 0, 0}, nop5
	const at = 0x1000
	loose := func(time uint64) Poke {
		p := RecordedPoke(time, 0, at, off[:4], on[:4])
		p.Scheme = SchemeAtomic
		return p
	}
	for _, c := range []struct {
		what  string
		pokes []Poke
		lost  JournalOptions
		want  int // records left, and marks of losses
	}{
		{"at one time", []Poke{RecordedPoke(100, 0, at, off, on), RecordedPoke(100, 0, at, off, on)}, JournalOptions{}, 1},
		{"a moment later, thrice", []Poke{RecordedPoke(100, 0, at, off, on), RecordedPoke(180, 0, at, off, on), RecordedPoke(260, 0, at, off, on)}, JournalOptions{}, 1},
		{"another's in between", []Poke{RecordedPoke(100, 0, at, off, on), RecordedPoke(100, 0, 0x2000, off, on), RecordedPoke(100, 0, at, off, on), RecordedPoke(100, 0, 0x2000, off, on)}, JournalOptions{}, 2},
		{"undone in between", []Poke{RecordedPoke(100, 0, at, off, on), RecordedPoke(200, 0, at, on, off), RecordedPoke(300, 0, at, off, on)}, JournalOptions{}, 3},
		{"undone in between, without a record", []Poke{RecordedPoke(100, 0, at, off, on), RecordedPoke(100_000, 0, at, off, on)}, JournalOptions{}, 2},
		{"without a sync, at one time", []Poke{loose(100), loose(100)}, JournalOptions{}, 1},
		{"without a sync, a moment later", []Poke{loose(100), loose(180)}, JournalOptions{}, 2},
		{"records lost in between", []Poke{RecordedPoke(100, 0, at, off, on), RecordedPoke(180, 0, at, off, on)}, JournalOptions{Lost: []event.Time{{Lo: 120, Hi: 150}}}, 4},
		{"records lost before", []Poke{RecordedPoke(100, 0, at, off, on), RecordedPoke(180, 0, at, off, on)}, JournalOptions{Lost: []event.Time{{Lo: 20, Hi: 50}}}, 3},
		{"lost soon after, times may be off", []Poke{RecordedPoke(1000, 0, at, off, on), RecordedPoke(1080, 0, at, off, on)}, JournalOptions{Lost: []event.Time{{Lo: 1085, Hi: 1100}}, Slack: 20}, 4},
		{"to other bytes", []Poke{RecordedPoke(100, 0, at, off, on), RecordedPoke(100, 0, at, off, trap1)}, JournalOptions{}, 2},
	} {
		j, err := NewJournalOf(c.pokes, c.lost)
		if err != nil {
			t.Fatal(err)
		}
		if j.Len() != c.want {
			t.Errorf("%s: %d records, want %d", c.what, j.Len(), c.want)
		}
	}
}

// TestWork would catch a poke whose breakpoint is thought to have stood while
// another batch was worked on, or not while its own was.
func TestWork(t *testing.T) {
	bp := func(time, addr uint64) Poke {
		return RecordedPoke(time, 0, addr, nop5, []byte{0xe9, 0, 0, 0, 0})
	}
	j, err := NewJournal([]Poke{
		bp(100, 0x1000),
		RecordedPoke(150, 0, 0x9000, nil, nop5), // a slot: outside of the lock
		bp(200, 0x2000),                         // the batch of the first
		RecordedPoke(300, 0, 0x1000, []byte{0xe9, 0, 0, 0, 0}, nop5), // another
		RecordedPoke(400, 0, 0x3000, nop5[:1], trap1),
		RecordedPoke(500, 0, 0x9000, nop5, nil),
	})
	if err != nil {
		t.Fatal(err)
	}
	const end = math.MaxUint64
	for i, want := range [][2]uint64{{0, 300}, {150, end}, {0, 300}, {200, 400}, {300, end}, {500, end}} {
		if from, until := j.InProgress(i); from != want[0] || until != want[1] {
			t.Errorf("poke %d: worked on from %d until %d, want %v", i, from, until, want)
		}
	}
}

// TestEpochs would catch an epoch taken as certain while a poke may still be
// under way, and bounds wider than the pokes' windows say. The answer is held
// against a search that looks at every poke.
func TestEpochs(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		var pokes []Poke
		for range rnd.IntN(30) {
			at := uint64(rnd.IntN(100))
			p := Poke{Time: at, Begin: at, End: at, Addr: 64, New: nop5}
			if rnd.IntN(3) == 0 {
				p.Begin, p.End = at-min(at, uint64(rnd.IntN(20))), at+uint64(rnd.IntN(20))
			}
			pokes = append(pokes, p)
		}
		j, err := NewJournal(pokes)
		if err != nil {
			t.Fatal(err)
		}
		for range 50 {
			tm := event.Time{Lo: uint64(rnd.IntN(120))}
			tm.Hi = tm.Lo + uint64(rnd.IntN(30))
			n := event.Epoch(j.Len())
			lo, hi := event.Epoch(0), event.Epoch(0)
			for lo < n && j.Poke(int(lo)).End <= tm.Lo {
				lo++
			}
			for i := range n {
				if j.Poke(int(i)).Begin <= tm.Hi {
					hi = i + 1
				}
			}
			if l, h := j.Epochs(tm); l != lo || h != hi {
				t.Fatalf("epochs of %v: %d to %d, want %d to %d", tm, l, h, lo, hi)
			}
		}
	}
	j, _ := NewJournal(nil)
	if l, h := j.Epochs(event.Always); l != 0 || h != 0 {
		t.Errorf("no pokes: epochs %d to %d", l, h)
	}
}

// TestJournalRejects would catch a poke that cannot be one and is taken.
func TestJournalRejects(t *testing.T) {
	for _, tt := range []struct {
		p    Poke
		want string
	}{
		{Poke{Addr: 5}, "poke at 0x5: neither old nor new bytes"},
		{Poke{Addr: math.MaxUint64, New: nop5}, "5 bytes reach beyond the last address"},
		{Poke{Addr: 5, New: make([]byte, 65536)}, "65536 bytes, at most 65535"},
		{Poke{Addr: 5, New: nop5, Begin: 2, End: 1}, "begins at 2 ns, after its end at 1"},
		{Poke{Addr: 5, New: nop5, Scheme: Scheme(len(linux.schemes))}, "scheme 8, at most 7"},
	} {
		if _, err := NewJournal([]Poke{tt.p}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("error %v, want %s", err, tt.want)
		}
	}
	if _, err := NewJournal([]Poke{{Addr: math.MaxUint64, New: trap1}}); err != nil {
		t.Errorf("the last byte of memory: %v", err)
	}
}
