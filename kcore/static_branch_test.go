package kcore

import (
	"bytes"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestStaticBranch would catch a record with another jump than the site of a static
// branch has, of which the first or the last text is taken for code. Nothing but the
// other records and the image contradicts it. It would also catch doubt where two
// jumps are no contradiction, or where nothing says which of them is wrong.
func TestStaticBranch(t *testing.T) {
	nop, jmp, odd, call := []byte{0x66, 0x90}, []byte{0xeb, 0x10}, []byte{0xeb, 0x12}, []byte{0xe8, 0x10}
	for _, c := range []struct {
		what  string
		pokes []Poke
		img   []byte
		want  [][]byte // by epoch; nil: unknown
	}{
		{"as recorded", rec(siteAddr, jmp, nop, jmp), jmp, [][]byte{jmp, nop, jmp}},
		{"another jump before", rec(siteAddr, odd, nop, jmp), jmp, [][]byte{nil, nop, jmp}},
		{"no jump before", rec(siteAddr, call, nop, jmp), jmp, [][]byte{nil, nop, jmp}},
		{"another jump behind", rec(siteAddr, jmp, nop, odd), jmp, [][]byte{jmp, nop, nil}},
		{"another jump that two records agree on", rec(siteAddr, jmp, nop, odd, nop, jmp), jmp, [][]byte{jmp, nop, odd, nop, jmp}},
		{"one against one", rec(siteAddr, odd, nop, jmp), nop, [][]byte{odd, nop, jmp}},
		{"calls, which may lead anywhere", rec(siteAddr, []byte{0xe8, 1}, nop, call), call, [][]byte{{0xe8, 1}, nop, call}},
		{"five bytes of code without a name", rec(siteAddr, jmp5, nop5, []byte{0xe9, 1, 2, 3, 4}), []byte{0xe9, 1, 2, 3, 4}, [][]byte{jmp5, nop5, {0xe9, 1, 2, 3, 4}}},
	} {
		tx := place(t, c.pokes, siteAddr-2, append([]byte{0x55, 0x56}, append(c.img, 0x57)...), TextOptions{})
		doubted := 0
		for e, want := range c.want {
			if got := at(tx, siteAddr, len(c.img), event.Epoch(e)); !bytes.Equal(got, want) {
				t.Errorf("%s: at epoch %d % x, want % x", c.what, e, got, want)
			}
			if want == nil {
				doubted++
			}
		}
		if got := len(tx.Findings()); got != doubted {
			t.Errorf("%s: %d findings, want %d", c.what, got, doubted)
		}
		for _, f := range tx.Findings() {
			if bytes.Equal(f.Have, f.Want) {
				t.Errorf("%s: % x is said to have become the same", c.what, f.Have)
			}
		}
	}
}
