package a32

import (
	"fmt"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/isatest"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// A set is one of the three tables with the switches that say the same.
type set struct {
	name  string
	forms []form
	read  func(uint32) reading
	size  int // length of an instruction, bytes
	mode  isa.Mode
}

// sets are all of them.
var sets = []set{
	{"A32", formsA32, readA32, 4, isa.ModeA32},
	{"T32, one halfword", formsT16, readT16, 2, isa.ModeT32},
	{"T32, two halfwords", formsT32, readT32, 4, isa.ModeT32},
}

// has reports whether w can be an instruction of s: the first halfword says which
// of the two lengths one of T32 has.
func (s *set) has(w uint32) bool {
	switch {
	case s.mode == isa.ModeA32:
		return true
	case s.size == 2:
		return w < 0xe800
	}
	return w>>16 >= 0xe800
}

// bytes is w as it lies in memory.
func (s *set) bytes(w uint32) []byte {
	switch {
	case s.size == 2:
		return []byte{byte(w), byte(w >> 8)}
	case s.mode == isa.ModeT32:
		w = w<<16 | w>>16
	}
	return []byte{byte(w), byte(w >> 8), byte(w >> 16), byte(w >> 24)}
}

// slow reads w by the table.
func (s *set) slow(w uint32) reading {
	r := reading{class: isa.Other}
	f := find(s.forms, w)
	if f != nil {
		r = reading{f.class, f.flags, f.rel}
	}
	conditional := s.mode == isa.ModeA32 && w>>28 < 14
	if conditional && r.class != isa.Cond && r.class != none {
		r.flags |= isa.FlagConditional
	}
	return r
}

// spread gives f words of s: each form with its free bits at random, n times, and
// each bit flipped of those.
func (s *set) spread(n int, f func(w uint32)) {
	x := isatest.Random(1)
	for _, form := range s.forms {
		for range n {
			w := form.value | x.Next()&^form.mask
			if s.size == 2 {
				w &= 0xffff
			}
			f(w)
			for bit := range s.size * 8 {
				if v := w ^ 1<<bit; s.has(v) {
					f(v)
				}
			}
		}
	}
}

// TestFormsAgree would catch the tables, which print and are documented, and the
// switches, which decode, drifting apart. It takes each form with its free bits at
// random and each bit flipped, all words of one halfword, and words spread over
// everything. PTDECODE_FULL=all in the environment goes through all of T32, and
// all of A32 with the conditions 0, 14 and 15 (some three minutes).
func TestFormsAgree(t *testing.T) {
	for i := range sets {
		s := &sets[i]
		check := func(w uint32) {
			if got, want := s.read(w), s.slow(w); got != want {
				t.Fatalf("%s: %08x: switches %+v, table %+v", s.name, w, got, want)
			}
		}
		s.spread(200, check)
		step := uint64(testsize.Of(t, 16381, 4093, 1))
		full := step == 1
		if s.size == 2 {
			step = 1
		}
		for w := uint64(0); w < 1<<(s.size*8); w += step {
			if full && s.mode == isa.ModeA32 && w>>28 == 1 {
				w = 14 << 28
			}
			if s.has(uint32(w)) {
				check(uint32(w))
			}
		}
	}
}

// TestFormsReached would catch a form that can never be found because those above
// it take all its words, and one whose value has bits outside its mask.
func TestFormsReached(t *testing.T) {
	for _, s := range sets {
		for i := range s.forms {
			f := &s.forms[i]
			if f.value&^f.mask != 0 {
				t.Errorf("%s: value %08x has bits outside mask %08x", f.asm, f.value, f.mask)
			}
			x, seen := isatest.Random(i), false
			for range 300 {
				seen = seen || find(s.forms, f.value|x.Next()&^f.mask) == f
			}
			if !seen {
				t.Errorf("%s: never found", f.asm)
			}
		}
	}
}

// TestDocs would catch a form that docs/formats/a32.md does not list, or lists as
// something else, and a row there that is no form.
func TestDocs(t *testing.T) {
	var rows []string
	for _, s := range sets {
		for i := range s.forms {
			rows = append(rows, s.docRow(&s.forms[i]))
		}
	}
	isatest.CheckPage(t, "a32.md", rows)
}

// docRow is the row of f, one of s's forms, in docs/formats/a32.md.
func (s *set) docRow(f *form) string {
	class := "no instruction"
	if f.class != none {
		class = f.class.String()
	}
	if f.flags&isa.FlagNop != 0 {
		class += ", nop"
	}
	if f.flags&isa.FlagInterwork != 0 {
		class += ", interwork"
	}
	quoted := f.asm
	if f.asm[0] != '(' {
		quoted = "`" + f.asm + "`"
	}
	return fmt.Sprintf("| `%0*x` | `%0*x` | %s | %s |", 2*s.size, f.mask, 2*s.size, f.value, class, quoted)
}
