package flow

import (
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestHide would catch a way under a Quiet that is missed, one that leads
// elsewhere or is longer than the Quiet says, and code that is contested taken for
// known. It would also catch ways without end that are all followed.
func TestHide(t *testing.T) {
	const other, cond, jump, ret = byte(isa.Other), byte(isa.Cond), byte(isa.Jump), byte(isa.Return)
	x := &testText{addr: 0x1000, bytes: make([]byte, 96)} // all of class Other
	copy(x.bytes, []byte{cond, other, jump, ret})         // 0: to 24; 2: to 26
	copy(x.bytes[40:], []byte{other, cond | 1<<7, other}) // 41: to 17
	x.pokes = []testPoke{{addr: 0x1000 + 80, old: "\x00", new: "\x01", time: 100}}
	rules := toyRules["ETMv4"]
	w := NewWalker(x, NewCache(), Config{ISA: toy{}, Rules: rules})
	ws := &w.exec.ways
	th := &thread{mode: isa.ModeA64, evidence: evidence{hi: 1}}
	for _, c := range []struct {
		what           string
		from, left, to uint64 // to 0: the Quiet does not say
		live, open     bool
		parts          bool // ways part at the first place
	}{
		{"straight on", 8, 5, 13, true, false, false},
		{"straight on, to elsewhere", 8, 5, 14, false, false, false},
		{"not taken", 0, 2, 2, true, false, false},
		{"taken", 0, 2, 25, true, false, false},
		{"either", 0, 3, 26, true, false, true},
		{"either, not said where to", 0, 3, 0, true, false, true},
		{"neither", 0, 3, 9, false, false, false},
		{"behind a return", 3, 2, 9, true, true, false},
		{"up to contested code", 70, 10, 80, true, false, false},
		{"into contested code", 70, 12, 82, true, false, false},
	} {
		e := event.Event{Kind: event.Quiet, Flags: event.FlagCount, Value: c.left}
		if c.to != 0 {
			e.IP, e.Flags = 0x1000+c.to, e.Flags|event.FlagIP
		}
		ws.all = ws.all[:0]
		ws.hide(th, &e, 0x1000+c.from, c.left, isa.ModeA64)
		if h := &ws.all[0]; h.live != c.live || h.open != c.open || (h.next[1] >= 0) != c.parts {
			t.Errorf("%s: live %v, open %v, next %v", c.what, h.live, h.open, h.next)
		}
	}
	if open := slices.ContainsFunc(ws.all, func(h hidden) bool { return h.open && h.ip == 0x1000+80 }); !open {
		t.Error("contested code is taken for known")
	}
	e := event.Event{Kind: event.Quiet, Flags: event.FlagCount}
	ws.all = ws.all[:0]
	if ws.hide(th, &e, 0x1000, 1, isa.ModeA64); !ws.all[0].ends || len(ws.all) != 1 {
		t.Errorf("a branch is the last instruction: %d places", len(ws.all))
	}
	ws.all = ws.all[:0]
	if ws.hide(th, &e, 0x1000+17, 25*2000, isa.ModeA64); len(ws.all) > 3*maxHidden { // of 2,000 rounds
		t.Errorf("%d places are looked at", len(ws.all))
	}
}

// TestForemost would catch ways that are taken to part where they meet: of what
// they have come to, that with the most left to run goes first, once.
func TestForemost(t *testing.T) {
	ws := hiddenWays{all: []hidden{{ip: 1, left: 9}, {ip: 20, left: 7}, {ip: 2, left: 8}}}
	for _, x := range []spot{{20, 1, 0}, {1, 0, 0}, {2, 0, 1}, {2, 2, 0}, {21, 1, 1}} {
		ws.comeTo(x)
	}
	var got []uint64
	for len(ws.front) > 0 {
		got = append(got, ws.foremost().ip)
	}
	if !slices.Equal(got, []uint64{1, 2, 20, 21}) {
		t.Errorf("in the order %v", got)
	}
}
