package learn

import (
	"bytes"
	"slices"
	"testing"
)

// TestWays would catch a jump label's jump over a block that is not thought of, since branches lead
// behind the block too. It would also catch a jump over more than that block, and one
// to code that leads back to the jump alone, which never ends. And it would catch code that branches lead to, and that only
// jumps on to where the block ends.
func TestWays(t *testing.T) {
	// 1000: push %rbx or je; 1002: the site; 1004: test %eax,%eax; je 1009; cwtl; 1009: pop %rax; ret; 100b: moved out
	const before, site, block, behind = "\x53\x90", "\x66\x90", "\x85\xc0\x74\x01\x98", "\x58\xc3"
	const over, away = 0x1009 - 0x1004, 0x100b - 0x1004 // displacements of the jump
	for _, c := range []struct {
		what, code string
		want       []byte // displacements
	}{
		{"over a block", before + site + block + behind, []byte{over}},
		{"no farther than to where other code leads", "\x74\x06" + site + block + behind, []byte{over - 1}},
		{"to code that comes back at the end", before + site + block + behind + "\x50\xeb\xfb", []byte{over, away}},
		{"to code that jumps on to behind the block", "\x74\x09" + site + block + behind + "\x50\xeb\xfb", []byte{over, away}},
		{"to code that comes back at the site", before + site + block + behind + "\x50\xeb\xf4", []byte{over}},
	} {
		var got []byte
		for _, x := range generator(c.code).Ideas(&Visit{IP: 0x1002}) {
			if x.Addr == 0x1002 && x.Code[0] == opShort {
				got = append(got, x.Code[1])
			}
		}
		slices.Sort(got)
		if !bytes.Equal(got, c.want) {
			t.Errorf("%s: jumps by %x, want %x", c.what, got, c.want)
		}
	}
}

// TestRow would catch a label's jump over the next label that is tried before a NOP there. No trace may tell
// the two apart.
func TestRow(t *testing.T) {
	const jump, skipped, ret = "\xeb\x02", "\x85\xc0", "\xc3"
	for before, want := range map[string]int{"\x53\x50": rankDistant, "\x66\x90": rankLikely} {
		list := generator(before + jump + skipped + ret).Ideas(&Visit{IP: 0x1002})
		k := slices.IndexFunc(list, func(x Idea) bool { return x.Addr == 0x1002 })
		if k < 0 || list[k].Rank != want || !bytes.Equal(list[k].Code, nop2) {
			t.Errorf("behind %x: want a NOP of rank %d: %v", before, want, list)
		}
	}
}
