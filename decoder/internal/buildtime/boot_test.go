package buildtime

import (
	"bytes"
	"strings"
	"testing"
)

// jumpTo returns a direct branch of 5 bytes.
func jumpTo(op byte, addr, to uint64) []byte {
	b := make([]byte, 5)
	branch(b, op, addr, to)
	return b
}

// TestBoot would catch a site that is not found in its table, or gets other code than
// boot writes. Such are a wrong opcode, a distance that is not moved along, NOPs of other
// lengths, a choice that is read the wrong way round.
func TestBoot(t *testing.T) {
	m, jumpKey, callKey, noneKey, zeroKey := generated()
	feature := func(n uint64) Choice { return Choice{Feature, n} }
	on := func(cs ...Choice) State {
		s := State{}
		for _, c := range cs {
			s[c] = 1
		}
		return s
	}
	for name, find := range map[string]Find{"by-shape": nil, "by-symbols": func(name string) (uint64, bool) {
		a, ok := map[string]uint64{
			"__start___jump_table": m.at["jump"], "__stop___jump_table": m.at["jump"] + 64, "__fentry__": textAt + 0x800,
			"__start_mcount_loc": m.at["mcount"], "__stop_mcount_loc": m.at["mcount"] + 32, "__x86_return_thunk": builtThnk,
			"__start_static_call_sites": m.at["calls"], "__stop_static_call_sites": m.at["calls"] + 32,
			"__static_call_return0": zero, "_paravirt_nop": nothing, "__x86_indirect_thunk_array": thunks,
		}[name]
		return a, ok
	}} {
		k := readGenerated(t, m, find)
		k.Thunk = otherThnk
		for _, c := range []struct {
			what string
			addr uint64
			s    State
			want []byte
		}{
			{"ftrace site", 0x100, nil, nops[5]},
			{"branch as built", 0x140, nil, nops[5]},
			{"branch toggled", 0x140, on(Choice{Key, jumpKey}), jumpTo(opJump, textAt+0x140, textAt+0x400)},
			{"short branch toggled", 0x150, on(Choice{Key, jumpKey}), []byte{opJumpShort, 0x0e}},
			{"jump as built", 0x160, nil, jumpTo(opJump, textAt+0x160, textAt+0x400)},
			{"jump toggled", 0x160, on(Choice{Key, jumpKey}), nops[5]},
			{"short jump toggled", 0x170, on(Choice{Key, jumpKey}), nops[2]},
			{"static call", 0x180, nil, jumpTo(opCall, textAt+0x180, native)},
			{"static call to nothing", 0x180, State{{Call, callKey}: CallNothing}, nops[5]},
			{"static call to what the code sets", 0x180, State{{Call, callKey}: CallOther}, jumpTo(opCall, textAt+0x180, nothing)},
			{"static call that returns 0", 0x1b0, nil, []byte{0x2e, 0x2e, 0x2e, 0x31, 0xc0}},
			{"static call to none as built", 0x1a0, nil, nops[5]},
			{"tail call to none as built", 0x190, nil, plainReturn},
			{"tail call that returns 0", 0x190, State{{Call, noneKey}: CallZero}, jumpTo(opJump, textAt+0x190, zero)},
			{"trampoline as built", 0x840, nil, jumpTo(opJump, tramp, native)},
			{"return", 0x200, nil, plainReturn},
			{"return by the thunk", 0x200, State{ReturnThunk: ThunkBuilt}, jumpTo(opJump, textAt+0x200, builtThnk)},
			{"return by another", 0x220, State{ReturnThunk: ThunkOther}, jumpTo(opJump, textAt+0x220, otherThnk)},
			{"return in the lower half", 0x200, State{ReturnThunk: ThunkLowHalf}, jumpTo(opJump, textAt+0x200, otherThnk)},
			{"return in the upper half", 0x220, State{ReturnThunk: ThunkLowHalf}, plainReturn},
			{"retpoline", 0x240, on(feature(featRetpoline)), jumpTo(opCall, textAt+0x240, thunks)},
			{"call *rax", 0x240, nil, []byte{0xff, 0xd0, 0x0f, 0x1f, 0x00}},
			{"jmp *r11", 0x250, nil, []byte{0x41, 0xff, 0xe3, opInt3, 0x66, 0x90}},
			{"call *r8", 0x260, nil, []byte{0x41, 0xff, 0xd0, 0x0f, 0x1f, 0x00}},
			{"je *rcx", 0x270, nil, []byte{0x75, 0x04, 0xff, 0xe1, opInt3, 0x90}},
			{"jmp *rax with a fence", 0x280, on(feature(featRetpoline), feature(featRetpolineFence)), []byte{0x0f, 0xae, 0xe8, 0xff, 0xe0}},
			{"paravirt call", 0x290, nil, append(jumpTo(opCall, textAt+0x290, native), 0x90)},
			{"paravirt call of nothing", 0x2a0, nil, nops[6]},
			{"alternative not taken", 0x300, nil, nops[5]},
			{"alternative that calls", 0x300, on(feature(1)), jumpTo(opCall, textAt+0x300, native)},
			{"alternative that jumps near", 0x310, on(feature(2)), []byte{opJumpShort, 0x1e, 0x0f, 0x1f, 0x00}},
			{"alternative where a feature lacks", 0x320, nil, jumpTo(opJump, textAt+0x320, textAt+0x200)},
			{"alternative where it is there", 0x320, on(feature(2)), jumpTo(opJump, textAt+0x320, textAt+0x500)},
			{"alternative of nothing", 0x330, on(feature(3)), nops[2]},
			{"first of two", 0x340, on(feature(4)), []byte{0x0f, 0xae, 0xe8, 0x66, 0x90}},
			{"second of two", 0x340, on(feature(4), feature(5)), []byte{0x0f, 0x01, 0xf9, 0x66, 0x90}},
			{"unknown", 0x300, State{feature(1): Unknown}, nil},
		} {
			list := k.Within(nil, textAt+c.addr, textAt+c.addr+1)
			if len(list) != 1 || list[0].Addr != textAt+c.addr {
				t.Errorf("%s, %s: not found", name, c.what)
				continue
			}
			if got := list[0].Code(c.s); !bytes.Equal(got, c.want) {
				t.Errorf("%s, %s: code %x, want %x", name, c.what, got, c.want)
			}
		}
		if _, z := k.Of(Choice{Call, zeroKey}), k.Functions(); len(z) != 4 || z[0] != textAt+0x100 {
			t.Errorf("%s: functions %x", name, z)
		}
	}
}

// TestCandidates would catch versions of a site that are left out, and sites whose code is
// the same whatever the choice.
func TestCandidates(t *testing.T) {
	m, jumpKey, _, _, _ := generated()
	k := readGenerated(t, m, nil)
	list := k.Candidates(State{}, map[Choice]bool{{Key, jumpKey}: true})
	if len(list) != 4 {
		t.Fatalf("%d candidates, want 4", len(list))
	}
	c := list[0]
	if c.Addr != textAt+0x140 || len(c.Code) != 2 || !bytes.Equal(c.Code[0], nops[5]) || c.Code[1][0] != opJump || !strings.HasPrefix(c.Why, "static key 0x") {
		t.Errorf("candidate %+v", c)
	}
}

// TestAlike would catch code that a flow can tell, taken as alike, and the other way round.
func TestAlike(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"\x0f\xae\xe8", "\x0f\x1f\x00", true}, // LFENCE, NOP
		{"\x66\x90", "\x90\x90", false},        // one instruction, two
		{"\xeb\x10", "\x66\x90", false},        // a jump, a NOP
		{"\xeb\x10", "\xeb\x11", false},        // to elsewhere
		{"\x0f\x30", "\x66\x90", false},        // WRMSR may start a trace
		{"\xf3\x48\x0f\xb8\xc7", "\x0f\x1f\x44\x00\x00", true},
	} {
		if got := sameFlow([]byte(c.a), []byte(c.b), textAt, false); got != c.want {
			t.Errorf("%x and %x alike: %v", c.a, c.b, got)
		}
	}
}

// TestBadFile would catch a file taken for a vmlinux with tables that has none, and tables
// of another layout.
func TestBadFile(t *testing.T) {
	for what, change := range map[string]func(m *kernelMaker){
		"no section .altinstructions": func(m *kernelMaker) { delete(m.sections, ".altinstructions") },
		"71 bytes, no multiple of 12": func(m *kernelMaker) { m.sections[".altinstructions"] = m.sections[".altinstructions"][:71] },
	} {
		m, _, _, _, _ := generated()
		change(m)
		b := m.file()
		if _, err := Read(bytes.NewReader(b), int64(len(b)), "v", nil); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("error %v, want %s", err, what)
		}
	}
}

// FuzzRead would catch a panic or a hang.
func FuzzRead(f *testing.F) {
	m, _, _, _, _ := generated()
	f.Add(m.file())
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := Read(bytes.NewReader(data), int64(len(data)), "v", nil)
		if err != nil {
			return
		}
		for _, g := range k.Groups() {
			for _, c := range g.Choices {
				for _, v := range k.Values(c) {
					if code := g.Code(State{c: v}); len(code) != len(g.Built) {
						t.Fatalf("%x: %d bytes of %d", g.Addr, len(code), len(g.Built))
					}
				}
			}
		}
	})
}
