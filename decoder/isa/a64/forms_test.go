package a64

import (
	"fmt"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/isatest"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// agree reports whether the switches of Decode and the table of forms say the
// same of w. Words without a form are none of the table's business but where
// branches are: there they must be Bad, or system instructions that go on.
func agree(w uint32) bool {
	r, f := classify(w), find(w)
	if f == nil {
		other := r == reading{class: isa.Other}
		switch {
		case w>>24 == 0xd5: // system instructions
			return other
		case w>>26&7 == 5:
			return r == bad
		}
		return other || r == bad
	}
	want := reading{class: f.class, flags: f.flags, rel: f.rel}
	if f.rel == relBack {
		want.rel = relNone
	}
	return r == want
}

// TestFormsAgree would catch the table, which prints and is documented, and the
// switches, which decode, drifting apart. It takes each form with its free bits at
// random and each bit of its mask flipped, and words spread over all of the branch
// group. PTDECODE_FULL=all in the environment goes through the whole group, 2^29
// words (a minute).
func TestFormsAgree(t *testing.T) {
	check := func(w uint32) {
		if !agree(w) {
			t.Fatalf("%08x: switches %+v, table %+v", w, classify(w), find(w))
		}
	}
	x := uint32(1)
	for _, f := range forms {
		for range 200 {
			x = x*1664525 + 1013904223
			w := f.value | x&^f.mask
			check(w)
			for bit := range 32 {
				check(w ^ 1<<bit)
			}
		}
	}
	step := testsize.Of(t, 16381, 4093, 1)
	for w := 0; w < 1<<32; w += step {
		if w>>26&7 == 5 || step > 1 {
			check(uint32(w))
		}
	}
}

// TestFormsReached would catch a form that can never be found because those above
// it take all its words, and one whose value has bits outside its mask.
func TestFormsReached(t *testing.T) {
	for i := range forms {
		f := &forms[i]
		if f.value&^f.mask != 0 {
			t.Errorf("%s: value %08x has bits outside mask %08x", f.asm, f.value, f.mask)
		}
		x, seen := uint32(i), false
		for range 100 {
			x = x*1664525 + 1013904223
			seen = seen || find(f.value|x&^f.mask) == f
		}
		if !seen {
			t.Errorf("%s: never found", f.asm)
		}
	}
}

// TestDocs would catch a form that docs/formats/a64.md does not list, or lists as
// something else, and a row there that is no form.
func TestDocs(t *testing.T) {
	var rows []string
	for _, f := range forms {
		rows = append(rows, docRow(f))
	}
	isatest.CheckPage(t, "a64.md", rows)
}

// docRow is the row of f in docs/formats/a64.md.
func docRow(f form) string {
	class := f.class.String()
	if f.flags&isa.FlagNop != 0 {
		class += ", nop"
	}
	if f.flags&isa.FlagTx != 0 {
		class += ", tx"
	}
	return fmt.Sprintf("| `%s` | `%08x` | `%08x` | %s |", f.asm, f.mask, f.value, class)
}
