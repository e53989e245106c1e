package learn

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// generator has ideas of the code at 0x1000, one function.
func generator(code string) *Generator {
	read := func(dst []byte, addr uint64) int {
		if addr-0x1000 >= uint64(len(code)) {
			return 0
		}
		return copy(dst, code[addr-0x1000:])
	}
	return &Generator{
		Under: func([]byte, uint64) (n, size int, why string) { return },
		ISA:   &x86.Decoder{}, Mode: isa.Mode64, Code: read, Body: read,
		Symbol: func(addr uint64) (symbols.Symbol, bool) {
			return symbols.Symbol{Addr: 0x1000, Len: uint64(len(code)), Name: "f"}, addr-0x1000 < uint64(len(code))
		},
		Cold:    func(string) (symbols.Symbol, bool) { return symbols.Symbol{}, false },
		Known:   func(uint64) (kcore.Candidate, bool) { return kcore.Candidate{}, false },
		Tracers: func() []uint64 { return nil },
		Calls:   func() ([]uint64, int) { return nil, 0 },
	}
}

// TestSkips would catch the jump of a jump label that is not taken for one because its code
// goes back behind another label in a row. It would also catch any jump that is.
func TestSkips(t *testing.T) {
	const nop, jmp, ret = "\x0f\x1f\x44\x00\x00", "\xe9\x08\x00\x00\x00", "\xc3"
	for _, c := range []struct {
		what, code string
		want       int // rank of the NOP in its place
	}{
		{"behind the site", "\x53" + jmp + nop + "\x98\xf4" + ret + "\x50\xeb\xf5", rankDistant},
		{"behind the next one", "\x53" + jmp + nop + "\x98\xf4" + ret + "\x50\xeb\xfa", rankDistant},
		{"behind what is no NOP", "\x53" + jmp + nop + "\x98\xf4" + ret + "\x50\xeb\xfb", rankAny},
	} {
		list := generator(c.code).Ideas(&Visit{IP: 0x1001})
		if len(list) != 1 || list[0].Addr != 0x1001 || list[0].Rank != c.want {
			t.Errorf("%s: want rank %d: %v", c.what, c.want, list)
		}
	}
}

// TestAhead would catch code that the flow was about to execute, behind an instruction that
// may end tracing and goes straight on, of which there are no ideas.
func TestAhead(t *testing.T) {
	// swapgs; mov %rsp,%cr3; xor %ebp,%ebp; int3; 4 bytes
	g := generator("\x0f\x01\xf8\x0f\x22\xdc\x31\xed\xcc\x31\xe4\x90\x90")
	if list := g.Ideas(&Visit{IP: 0x1000}); !slices.ContainsFunc(list, func(x Idea) bool { return x.Addr == 0x1008 && x.Why == "probe" }) {
		t.Errorf("no idea of what lies under the breakpoint: %v", list)
	}
}

// TestArmed would catch an idea of what lies under a breakpoint that takes in what fills up to the
// next function. Nor may one read the code behind it as no compiler writes it. It would also catch
// ideas that count as one though they use other outcomes behind the breakpoint.
func TestArmed(t *testing.T) {
	ideas := func(code string) map[byte]*Idea {
		byFirst := map[byte]*Idea{}
		for _, x := range generator(code).Ideas(&Visit{IP: 0x1000}) {
			for _, c := range append([][]byte{x.Code}, x.Alike...) {
				if x.Addr == 0x1000 {
					byFirst[c[0]] = &x
				}
			}
		}
		return byFirst
	}
	const mov, shr, immediate, ret = 0x89, 0xc1, 0xb8, 0xc3
	if by := ideas(strings.Repeat("\xcc", 16)); by[immediate] != nil || by[ret] == nil {
		t.Errorf("before INT3s: an immediate %v, a return %v, want the return alone", by[immediate], by[ret])
	}
	// shr $4,%edx; and $3,%edx; mov %rdx,%rax; ret. As mov %ebp,%edx; add $0x83,%al; a LOOP follows.
	if by := ideas("\xcc\xea\x04\x83\xe2\x03\x48\x89\xd0\xc3\xcc\xcc\xcc\xcc\xcc\xcc"); by[mov] != nil || by[shr] == nil {
		t.Errorf("before a LOOP: MOV %v, SHR %v, want SHR alone", by[mov], by[shr])
	}
	// The same with JNE for the LOOP: as SHR, it is part of an XOR.
	by := ideas("\xcc\xea\x04\x83\x75\x03\x48\x89\xd0\xc3\xcc\xcc\xcc\xcc\xcc\xcc")
	if a, b := by[mov], by[shr]; a == nil || b == nil || a.Turns == b.Turns || a.Turns != by[0x31].Turns {
		t.Errorf("before a branch that only one reads: %v and %v are one", a, b)
	}
}

// TestUnder would catch a site that an earlier run learned of which the only ideas are those that its learned code
// gives. Where that is a jump, it may be the NOP that images have, or a jump to elsewhere.
func TestUnder(t *testing.T) {
	const nop, jmp = "\x0f\x1f\x44\x00\x00", "\xe9\x00\x00\x00\x00"
	g := generator("\x53" + jmp + "\xf4\xc3\x50\xeb\xfb")
	g.Under = func(dst []byte, addr uint64) (n, size int, why string) {
		if addr != 0x1001 {
			return 0, 0, ""
		}
		return copy(dst, nop+"\xf4\xc3"), 5, "jump label"
	}
	list := g.Ideas(&Visit{IP: 0x1001})
	if len(list) < 2 || string(list[0].Code) != nop || list[0].Rank != rankKnown || string(list[0].Was) != jmp {
		t.Fatalf("%v", list)
	}
	if !slices.ContainsFunc(list, func(x Idea) bool { return string(x.Code) == "\xe9\x02\x00\x00\x00" }) {
		t.Errorf("no jump to the code out of line: %v", list)
	}
}
