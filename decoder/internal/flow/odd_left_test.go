package flow

import (
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestLeft would catch a flow that comes to a target with outcomes left and is claimed, though
// the trace unit never held a target back. It would also catch one that is in doubt although
// the unit does so now and then, or though too little came before to tell.
func TestLeft(t *testing.T) {
	text := code(map[int]string{
		0x00: "\x75\x02\x90\x90\xff\xe0", // jne 4; jmp *%rax
		0x20: "\x75\x02\x90\x90\xff\xe0", // jne 24; jmp *%rax
	})
	round := []event.Event{lastOf(1, bits("t")), to(0x1000)}
	held := []event.Event{lastOf(shortFull, bits("tt")), to(0x1000), to(0x1000)}
	for _, c := range []struct {
		what     string
		rounds   int // of what came before
		heldEach int // of so many rounds one in which a target was held back; 0: none
		last     uint8
		doubtful bool
	}{
		{"a packet that is not full", 400, 0, 2, true},
		{"a packet that is not full, too little before for the second target", 100, 0, 2, false},
		{"too little before", 20, 0, 2, false},
		{"a full packet", 2000, 0, shortFull, true},
		{"a full packet, too little before", 300, 0, shortFull, false},
		{"a unit that holds targets back", 2000, 20, 2, false},
	} {
		evs := []event.Event{syncAt(0x1000)}
		for i := range c.rounds {
			if c.heldEach > 0 && i%c.heldEach == 0 {
				evs = append(evs, held...)
			} else {
				evs = append(evs, round...)
			}
		}
		evs = append(evs, lastOf(c.last, bits("tn")), to(0x1020), to(0x1020), lastOf(1, bits("t")), async(0x1024, 0x1000), syncAt(0x1000), end())
		w := NewWalker(text, NewCache(), Config{ISA: testWalker(text).exec.cfg.ISA, Mode: isa.Mode64,
			Rules: isa.Rules{Waypoints: isa.Set(isa.Cond), Returns: isa.ReturnsByTarget}})
		var p prints
		src := events(evs)
		if err := w.Run(&src, &p); err != nil {
			t.Fatal(err)
		}
		got := strings.TrimSpace(p.String())
		if doubtful := strings.Contains(got, "?"); doubtful != c.doubtful {
			t.Errorf("%s: doubtful %v: …%s", c.what, doubtful, got[max(0, len(got)-100):])
		}
	}
}

// TestLeftInDoubt would catch events that the flow passed in doubt and that count for a trace
// unit which holds no targets back. Nobody knows whether it held some back there.
func TestLeftInDoubt(t *testing.T) {
	text := code(map[int]string{
		0x00: "\x75\x02\x90\x90\xff\xe0", // jne 4; jmp *%rax
		0x20: "\x75\x02\x90\x90\xff\xe0", // jne 24; jmp *%rax
	})
	for _, c := range []struct {
		what     string
		gap      bool // before the rounds
		doubtful bool
	}{
		{"in doubt", true, false},
		{"not in doubt", false, true},
	} {
		evs := []event.Event{syncAt(0x1000)}
		if c.gap { // two targets, where the code has a branch with an outcome in between
			evs = append(evs, lastOf(shortFull, bits("t")), to(0x1000), to(0x1000))
		}
		for range 2000 { // full packets: outcomes may be left
			evs = append(evs, lastOf(shortFull, bits("t")), to(0x1000))
		}
		evs = append(evs, lastOf(1, bits("t")), async(0x1004, 0x1000)) // that ends the doubt
		for range 20 {
			evs = append(evs, lastOf(1, bits("t")), to(0x1000))
		}
		evs = append(evs, lastOf(2, bits("tn")), to(0x1020), to(0x1020), lastOf(1, bits("t")), async(0x1024, 0x1000), syncAt(0x1000), end())
		words := strings.Fields(walk(t, text, evs...))
		last := strings.Join(words[len(words)-8:], " ")
		if doubtful := strings.Contains(last, "?"); doubtful != c.doubtful {
			t.Errorf("%s: doubtful %v: …%s", c.what, doubtful, last)
		}
	}
}

// TestTooMany would catch a flow that comes to a target with more outcomes in hand than the packet before it holds, and
// is claimed. None but those of that packet can be left. The walk is fast there and careful. It would also catch one
// that is contradicted where as many as that are left. With a timing packet between none can be left.
func TestTooMany(t *testing.T) {
	text := code(map[int]string{
		0x00: "\x75\x02\x90\x90\xff\xe0", // jne 4; jmp *%rax
		0x20: "\x75\x02\x90\x90\xff\xe0", // jne 24; jmp *%rax
	})
	for last, want := range []bool{0: false, 1: true, 2: false, 3: false} { // last: how many outcomes the last packet holds; 0: not known
		for _, rounds := range []int{0, 20} {
			for _, apart := range []bool{false, true} {
				evs := []event.Event{syncAt(0x1000)}
				for range rounds {
					evs = append(evs, lastOf(1, bits("t")), to(0x1000))
				}
				evs = append(evs, at(10, 20, lastOf(uint8(last), bits("ttt"))), at(10, 20, to(0x1020)), at(10, 20, to(0x1020)), async(0x1024, 0x1000), syncAt(0x1000), end())
				if apart {
					evs[len(evs)-5].Time.Hi = 30
				}
				got := walk(t, text, evs...)
				if contradicted := strings.Contains(got, "0? gap:mismatch"); contradicted != (want || apart) || !contradicted && !strings.HasSuffix(got, "0 4 20 24 20") {
					t.Errorf("%d in the last packet, %d rounds before, a timing packet between %v: contradicted %v: %s", last, rounds, apart, contradicted, got)
				}
			}
		}
	}
}

// TestMarksStay would catch doubt, or confirmation, that is lost or moves where a note is put
// before it, or where a flow is copied for another cut.
func TestMarksStay(t *testing.T) {
	w := window{spare: &spares{}, align: aligner{comparing: new(comparing)}}
	n := w.spare.node()
	n.out.Ranges = make([]Range, 3)
	n.out.Notes = []Note{{At: 1}}
	n.markOdd(nil)
	n.putNote(1, Note{At: 1})
	if m := n.marks[0]; m.extent != whole(&n.out) {
		t.Errorf("the mark is at %v, and not at the end, %v", m.extent, whole(&n.out))
	}
	n.putNote(2, Note{At: 3})
	if m := n.marks[0]; m.notes != 2 {
		t.Errorf("a note behind the mark moved it to %v", m.extent)
	}
	n.refs++ // another thread stands on it
	keep := &thread{tail: n}
	if w.ownNodes(keep, point{}); keep.tail == n || len(keep.tail.marks) != 1 {
		t.Errorf("the copy has %d marks, want 1", len(keep.tail.marks))
	}
}
