package flow

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestOdd would catch a flow that went astray and came back, of which two things tell and no
// packet contradicts it, and that is claimed. It would also catch one that is put in doubt
// for one of the two alone: a target that comes early, or a return that leads elsewhere.
func TestOdd(t *testing.T) {
	text := code(map[int]string{
		0x00: "\x75\x02",             // jne 4
		0x04: "\xff\xe0",             // jmp *%rax
		0x20: "\x75\x02\x90\x90",     // jne 24
		0x24: "\xe8\x57\x00\x00\x00", // call 80
		0x29: "\x90",                 //
		0x31: "\x75\x02\x90\x90",     // jne 35
		0x35: "\xe8\x03\x00\x00\x00", // call 3d
		0x3d: "\x75\x01\x90\xc3",     // jne 40; ret
		0x80: "\x75\x02\x90\x90\xc3", // jne 84; ret
	})
	one := lastOf(1, bits("t"))
	for _, c := range []struct {
		what, want string
		evs        []event.Event
	}{
		{"both", "0? 4? 20? 22? 23? 24? 80? 84? 20 22",
			[]event.Event{lastOf(2, bits("tn")), to(0x1020), one, to(0x1020), bits("n"), syncAt(0x1023)}},
		{"the flow was confirmed between", "0 4 20 22 23 24 80 84 20 22",
			[]event.Event{lastOf(2, bits("tn")), to(0x1020), one, async(0x1084, 0x1084), to(0x1020), bits("n"), syncAt(0x1023)}},
		{"a full packet", "0 4 20 22 23 24 80 84 20 22",
			[]event.Event{lastOf(shortFull, bits("tn")), to(0x1020), one, to(0x1020), bits("n"), syncAt(0x1023)}},
		{"another packet forced it out", "0 4 20 22 23 24 80 84 20 22",
			[]event.Event{lastOf(2, bits("tn")), to(0x1020), {Kind: event.Context}, one, to(0x1020), bits("n"), syncAt(0x1023)}},
		{"in time", "0 4 20 22 23 24 80 84 20 22",
			[]event.Event{lastOf(1, bits("t")), to(0x1020), lastOf(2, bits("nt")), to(0x1020), bits("n"), syncAt(0x1023)}},
		{"a return to its call", "0 4 20 22 23 24 80 84 29",
			[]event.Event{lastOf(2, bits("tn")), to(0x1020), one, to(0x1029), syncAt(0x102a)}},
		{"a thunk's return", "0 4 31 33 34 35 3d 40 20 22",
			[]event.Event{lastOf(2, bits("tn")), to(0x1031), one, to(0x1020), bits("n"), syncAt(0x1023)}},
	} {
		if got := walk(t, text, append(append([]event.Event{syncAt(0x1000)}, c.evs...), end())...); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.what, got, c.want)
		}
	}
}
