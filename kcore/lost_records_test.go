package kcore

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestLosses would catch text trusted where a change to it may have been lost,
// and text given up although a poke or an image on both sides vouches for it.
func TestLosses(t *testing.T) {
	const other = siteAddr + 64
	lost := []event.Time{{Lo: 2400, Hi: 2500}, {Lo: 2600, Hi: 2700}, {Lo: 4100, Hi: 4200}}
	pokes := append(rec(siteAddr, nop5, call5, nop5, call5), RecordedPoke(1000, 0, other, nop5, call5))
	whole := func(a, b []byte) []byte {
		img := bytes.Repeat([]byte{0x90}, 80)
		copy(img, a)
		copy(img[64:], b)
		return img
	}
	early, late := whole(nop5, nop5), whole(call5, call5)
	for _, tt := range []struct {
		what string
		addr uint64
		img  []byte
		time uint64 // ns
		want []byte // nil: unknown
	}{
		{"before the loss", siteAddr, early, 2350, nop5},
		{"during", siteAddr, early, 2450, nil},
		{"between two losses: what one hid the other may have hidden again", siteAddr, early, 2550, nil},
		{"during the second", siteAddr, early, 2650, nil},
		{"behind, the next poke agrees", siteAddr, early, 2750, nop5},
		{"behind the last poke, before a loss", siteAddr, early, 4050, call5},
		{"behind a loss with nothing to follow", siteAddr, early, 9999, nil},
		{"the same with an image of the end", siteAddr, late, 9999, call5},
		{"during, with an image of the end", siteAddr, late, 4150, nil},
		{"before, with an image of the end", siteAddr, late, 4050, call5},
		{"no later poke, before", other, early, 2350, call5},
		{"no later poke, between the losses", other, early, 3500, nil},
		{"no later poke, an image of the end", other, late, 9999, call5},
		{"no later poke, an image of the end, between the losses", other, late, 3500, nil},
		{"never poked", siteAddr + 32, early, 2450, []byte{0x90, 0x90, 0x90, 0x90, 0x90}},
	} {
		tx := place(t, slices.Clone(pokes), siteAddr, tt.img, TextOptions{}, lost...)
		lo, hi := tx.Epochs(event.Time{Lo: tt.time, Hi: tt.time})
		if lo != hi {
			t.Fatalf("%s: epochs %d to %d", tt.what, lo, hi)
		}
		if got := at(tx, tt.addr, 5, lo); !bytes.Equal(got, tt.want) {
			t.Errorf("%s: % x, want % x", tt.what, got, tt.want)
		}
	}
	tx := place(t, slices.Clone(pokes), siteAddr, early, TextOptions{}, lost...)
	want := []LostRecords{{event.Time{Lo: 2400, Hi: 2500}, 2, 1}, {event.Time{Lo: 2600, Hi: 2700}, 2, 1}, {event.Time{Lo: 4100, Hi: 4200}, 2, 2}}
	if got := tx.Losses(); !slices.Equal(got, want) {
		t.Errorf("losses %v, want %v", got, want)
	}
}

// TestMarks would catch a walker that is not told where code becomes unknown or
// known again, told of it elsewhere, or told of a mark as of a poke. It would
// also catch marks out of their place among pokes of the same time.
func TestMarks(t *testing.T) {
	pokes := rec(siteAddr, nop5, call5, nop5)
	tx := place(t, pokes, siteAddr, slices.Concat(nop5, nop5), TextOptions{}, event.Time{Lo: 1000, Hi: 2000})
	var order []bool
	for i := range tx.Len() {
		order = append(order, tx.Poke(i).Mark())
	}
	if want := []bool{false, true, true, false}; !slices.Equal(order, want) {
		t.Fatalf("marks %v, want %v", order, want)
	}
	if got := tx.Marks(siteAddr+4, 1, 0, event.MaxEpoch, nil); !slices.Equal(got, []int{1, 2}) {
		t.Errorf("marks %v, want 1 and 2", got)
	}
	if got := tx.Marks(siteAddr, 9, 2, event.MaxEpoch, nil); !slices.Equal(got, []int{2}) {
		t.Errorf("marks from 2 on: %v", got)
	}
	if got := tx.Marks(siteAddr+5, 4, 0, event.MaxEpoch, nil); len(got) != 0 {
		t.Errorf("marks beside the site: %v", got)
	}
	for _, n := range []int{1, math.MaxInt} {
		if got := tx.Between(siteAddr, n, 0, event.MaxEpoch, nil); !slices.Equal(got, []int{0, 3}) {
			t.Errorf("pokes of %d bytes: %v, want 0 and 3", n, got)
		}
	}
	if k := Kinds(tx.Journal(), nil); k[1] != KindUnknown {
		t.Errorf("kind of a mark: %v", k[1])
	}
}

// TestLossOrder would catch evidence of a poke taken as evidence that a moment
// has passed which only the clock can tell: its trap stands before its record.
func TestLossOrder(t *testing.T) {
	pokes := []Poke{
		RecordedPoke(1000, 0, siteAddr+96, nop5, call5),
		RecordedPoke(2000, 0, siteAddr+32, nop5, call5),
		RecordedPoke(2001, 0, siteAddr+64, nop5, call5),
		RecordedPoke(90_000_000, 0, siteAddr+96, call5, nop5),
	}
	j, err := NewJournalOf(pokes, JournalOptions{Lost: []event.Time{{Lo: 1500, Hi: 1600}}})
	if err != nil {
		t.Fatal(err)
	}
	// 0 at 1000, marks 1 and 2, one batch at 2000, 5 far behind.
	for i, want := range map[int]event.Epoch{0: 0, 3: 1, 4: 1, 5: 5} {
		if j.Floor(i) != want {
			t.Errorf("floor of %d: %d, want %d", i, j.Floor(i), want)
		}
	}
}

// TestSlack would catch order read out of records whose times may be off by
// more than lies between them, and a poke's window not widened by it.
func TestSlack(t *testing.T) {
	pokes := func() []Poke {
		return []Poke{
			RecordedPoke(1000, 0, siteAddr+64, nop5, call5),
			RecordedPoke(1100, 1, siteAddr, nop5, call5),
			RecordedPoke(1400, 0, siteAddr+32, nop5, call5),
		}
	}
	for _, tt := range []struct {
		slack uint64
		floor [3]event.Epoch
		batch [3]int
		hi    event.Epoch // at 1000 ns
	}{
		{0, [3]event.Epoch{0, 1, 1}, [3]int{0, 1, 1}, 1},
		{30, [3]event.Epoch{0, 1, 1}, [3]int{0, 1, 1}, 1},
		{60, [3]event.Epoch{0, 0, 0}, [3]int{0, 0, 0}, 2},
	} {
		j, err := NewJournalOf(pokes(), JournalOptions{Slack: tt.slack})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if j.Floor(i) != tt.floor[i] || j.Poke(i).Batch != tt.batch[i] {
				t.Errorf("slack %d: poke %d: floor %d batch %d, want %d and %d", tt.slack, i, j.Floor(i), j.Poke(i).Batch, tt.floor[i], tt.batch[i])
			}
		}
		if _, hi := j.Epochs(event.Time{Lo: 1000, Hi: 1050}); hi != tt.hi {
			t.Errorf("slack %d: epoch at most %d, want %d", tt.slack, hi, tt.hi)
		}
	}
}

// TestTrapProves would catch a trap taken as proof that a poke had begun where
// it may have been that of a change without a record.
func TestTrapProves(t *testing.T) {
	for _, tt := range []struct {
		what  string
		pokes []Poke
		img   []byte
		lost  []event.Time
		poke  int
		want  bool
	}{
		{"whole chain", rec(siteAddr, nop5, call5, nop5), nop5, nil, 1, true},
		{"first", rec(siteAddr, nop5, call5, nop5), nop5, nil, 0, true},
		{"broken chain", append(rec(siteAddr, nop5, call5), RecordedPoke(2000, 0, siteAddr, jmp5, nop5)), nop5, nil, 1, false},
		{"before the break", append(rec(siteAddr, nop5, call5), RecordedPoke(2000, 0, siteAddr, jmp5, nop5)), nop5, nil, 0, true},
		{"behind a loss", rec(siteAddr, nop5, call5, nop5), nop5, []event.Time{{Lo: 1100, Hi: 1200}}, 3, false},
		{"armed", rec(siteAddr, trap1, nop5[:1]), trap1, nil, 0, false},
	} {
		tx := place(t, tt.pokes, siteAddr, tt.img, TextOptions{}, tt.lost...)
		if got := tx.TrapProves(tt.poke); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.what, got, tt.want)
		}
	}
}

// TestEmpty would catch a slot taken as empty where what came there next, or
// before, may be among the records that were lost.
func TestEmpty(t *testing.T) {
	slot := []byte{0x90, 0xe9, 1, 1, 1, 1}
	for _, tt := range []struct {
		lost event.Time
		want [4]bool
	}{
		{event.Time{Lo: 1500, Hi: 1600}, [4]bool{true, true, true, true}}, // while it is there
		{event.Time{Lo: 2500, Hi: 2600}, [4]bool{true, false, false, true}},
		{event.Time{Lo: 100, Hi: 200}, [4]bool{false, true, true, true}},
		{event.Time{Lo: 4500, Hi: 4600}, [4]bool{true, true, true, false}},
	} {
		tx := place(t, rec(siteAddr, nil, slot, nil, slot, nil), siteAddr+64, nop5, TextOptions{}, tt.lost)
		n := 0
		for i := range tx.Len() {
			if tx.Poke(i).Mark() {
				continue
			}
			if got := tx.NothingBeside(i); got != tt.want[n] {
				t.Errorf("lost %v: poke %d: empty %v, want %v", tt.lost, n, got, tt.want[n])
			}
			n++
		}
	}
}
