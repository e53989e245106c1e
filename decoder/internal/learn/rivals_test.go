package learn

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/kcore"
)

// TestRivals would catch ideas of which all of the recording refutes none, and one of which is
// believed, or none. It would catch one that is left out, one that the recording refutes and that
// stays possible, and a choice among some of more ideas than are looked at. And it would catch code
// that is believed where records tell of it.
func TestRivals(t *testing.T) {
	idea := func(addr uint64, code byte) Idea {
		return Idea{Addr: addr, Code: []byte{code}, Was: []byte{9}, Rank: rankDistant}
	}
	poke, err := kcore.NewJournal([]kcore.Poke{{Addr: 0x1010, Old: []byte{9}, New: []byte{8}, Time: 5}})
	if err != nil {
		t.Fatal(err)
	}
	none, _ := kcore.NewJournal(nil)
	for _, c := range []struct {
		what  string
		ideas []Idea
		left  map[byte]int // contradictions with an idea, of 10
		j     *kcore.Journal
		want  string
	}{
		{"one leaves the fewest", []Idea{idea(0x1000, 1), idea(0x1000, 2)}, map[byte]int{1: 1}, nil, "1000 02 or [] false; "},
		{"neither is refuted", []Idea{idea(0x1000, 1), idea(0x1000, 2)}, nil, nil, "1000 01 or [02] true; "},
		{"one of three is", []Idea{idea(0x1000, 1), idea(0x1000, 2), idea(0x1000, 3)}, map[byte]int{2: 1}, nil, "1000 01 or [03] true; "},
		{"each leaves all", []Idea{idea(0x1000, 1), idea(0x1000, 2)}, map[byte]int{1: 10, 2: 10}, nil, ""},
		{"at two near places", []Idea{idea(0x1000, 1), idea(0x1002, 2)}, nil, nil, "1000 010909 or [090902] true; "},
		{"at two places far apart", []Idea{idea(0x1000, 1), idea(0x1100, 2)}, nil, nil, "1000 01 or [09] true; 1100 09 or [02] true; "},
		{"a record lies between", []Idea{idea(0x1000, 1), idea(0x1020, 2)}, nil, poke, ""},
		{"too many", []Idea{idea(0x1000, 1), idea(0x1000, 2), idea(0x1000, 3), idea(0x1000, 4), idea(0x1000, 5), idea(0x1000, 6), idea(0x1000, 7)}, nil, nil, ""},
	} {
		if c.j == nil {
			c.j = none
		}
		d := &Decider{Ideas: func(*Visit) []Idea { return c.ideas }, Code: func(dst []byte, _ uint64) int {
			for i := range dst {
				dst[i] = 9
			}
			return len(dst)
		}}
		d.Try = func(_ *Visit, over []Idea) (o Outcome) {
			if len(over) > 0 { // each goes on by itself for long
				o = Outcome{Beyond: enough, Flow: slices.Repeat([]uint64{uint64(over[0].Code[0])}, enough)}
			}
			return o
		}
		var visits []*Visit
		for ns := range uint64(3) {
			v := visitAt(ns+1, 0x1000)
			for _, x := range c.ideas {
				v.Path = append(v.Path, x.Addr)
			}
			visits = append(visits, v)
		}
		if d.Decide(visits); len(d.Held) > 0 {
			t.Errorf("%s: learned %+v before all of the recording was decoded", c.what, d.Held)
		}
		if err := d.Settle(c.j, 10, false, func(list []Held, _ int) (int, error) { return c.left[list[len(list)-1].Code[0]], nil }); err != nil {
			t.Fatal(err)
		}
		d.prune()
		got := ""
		for _, h := range d.Held {
			got += fmt.Sprintf("%x %x or %x %v; ", h.Addr, h.Code, h.Others, h.Either)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
		for i := range d.Held {
			if l := d.Held[i].Learned(); l.Either != d.Held[i].Either || len(d.Held[i].At) != 3 {
				t.Errorf("%s: learned as %+v, of %d visits", c.what, l, len(d.Held[i].At))
			}
		}
	}
}

// TestUnsure would catch an idea that is never believed as it held at one visit where returns went
// astray, though all of the recording fits it. It would also catch one that is believed without
// that, or by a few contradictions.
func TestUnsure(t *testing.T) {
	none, err := kcore.NewJournal(nil)
	if err != nil {
		t.Fatal(err)
	}
	x := Idea{Addr: 0x1000, Code: []byte{1}, Was: []byte{9}, Rank: rankDistant}
	for _, c := range []struct {
		met, left, skipped int
		want               bool
	}{{leastMet, 0, 0, true}, {leastMet - 1, 0, 0, false}, {leastMet, 1, 0, false}, {leastMet, 0, 1, false}} {
		d := &Decider{Ideas: func(*Visit) []Idea { return []Idea{x} }}
		d.Try = func(_ *Visit, over []Idea) (o Outcome) {
			if len(over) > 0 {
				o = Outcome{Beyond: enough, Calls: Calls{Astray: 2, Skipped: c.skipped}}
			}
			return o
		}
		if d.Decide([]*Visit{visitAt(1, 0x1000)}); len(d.Held) > 0 {
			t.Errorf("%+v: believed at once", c)
		}
		if err := d.Settle(none, c.met, false, func([]Held, int) (int, error) { return c.left, nil }); err != nil {
			t.Fatal(err)
		}
		if got := len(d.Held) == 1; got != c.want {
			t.Errorf("%+v: believed: %v", c, got)
		}
	}
}

// TestSettleStops would catch a decoding of all of the recording that goes on where its idea has lost. It
// need not count any contradiction where another idea leaves none, or where it is unsure. Else it need not count
// more than the best idea leaves. It would also catch an idea that is not decoded to the end where each leaves some. And it
// would catch one of a sample that is held though it leaves some, or though its rival lies elsewhere, or it is unsure.
func TestSettleStops(t *testing.T) {
	var asked []int
	set := []Held{{Idea: Idea{Addr: 1, Code: []byte{9}}}, {Idea: Idea{Addr: 2, Code: []byte{3}}}, {Idea: Idea{Addr: 3, Code: []byte{5}}}, {Idea: Idea{Addr: 4, Code: []byte{2}}, unsure: true}}
	d := &Decider{Rivals: [][]Held{set}}
	left := func(list []Held, most int) (int, error) {
		asked = append(asked, most)
		return min(int(list[0].Code[0]), most+1), nil
	}
	err := d.Settle(nil, 10, false, left)
	if want := []int{0, 0, 0, 0, 9, 9, 3}; err != nil || !slices.Equal(asked, want) || len(d.Held) != 1 || d.Held[0].Addr != 2 {
		t.Errorf("asked for %v at most, want %v; held %v, %v", asked, want, d.Held, err)
	}
	asked, set[2].Code[0] = nil, 0
	d = &Decider{Rivals: [][]Held{set}}
	err = d.Settle(nil, 10, false, left)
	if want := []int{0, 0, 0, 0}; err != nil || !slices.Equal(asked, want) || len(d.Held) != 1 || d.Held[0].Addr != 3 {
		t.Errorf("one leaves none: asked for %v at most, want %v; held %v, %v", asked, want, d.Held, err)
	}
	for _, x := range []struct {
		addr   uint64 // of the one that leaves the fewest
		code   byte   // how many it leaves
		unsure bool
		want   int
	}{{3, 0, false, 0}, {1, 0, false, 1}, {1, 0, true, 0}, {1, 1, false, 0}} {
		set := []Held{{Idea: Idea{Addr: 1, Code: []byte{9}}}, {Idea: Idea{Addr: x.addr, Code: []byte{x.code}}, unsure: x.unsure}}
		d = &Decider{Rivals: [][]Held{set}}
		if err := d.Settle(nil, 10, true, left); err != nil || len(d.Held) != x.want {
			t.Errorf("of a sample, %+v: held %v, %v", x, d.Held, err)
		}
	}
}
