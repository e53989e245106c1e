package kcore

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// staticBranch returns the jump of a static branch's site, nil if it is none for sure.
// Such a site holds a NOP or one jump, always the same (struct jump_entry,
// include/linux/jump_label.h, v6.1). So of a record with another jump there one side
// is wrong. What is asked for is the NOP and two sources that have the jump.
//
// BPF programs and trampolines hold such pairs too, with other jumps each time.
func (s *site) staticBranch(syms *symbols.Table) (jump []byte) {
	first := &s.pieces[0]
	if len(s.cells) != 1 || len(first.p.Old) > 2 && !s.inFunction(syms) {
		return nil
	}
	c := &s.cells[0]
	said := [][]byte{c.img}
	for k := range s.pieces {
		p := &s.pieces[k]
		if p.off != first.off || p.end != first.end || len(p.p.Old) != len(first.p.Old) || len(p.p.New) != len(first.p.New) {
			return nil
		}
		said = append(said, s.old(int32(k), c), s.new(int32(k), c))
	}
	if !slices.ContainsFunc(said, isBranchNop) {
		return nil
	}
	said = slices.DeleteFunc(said, func(b []byte) bool { return !isBranchJump(b) })
	for _, b := range said[:min(len(said), 4)] { // one that most sources have is likely to be among the first
		same := 0
		for _, o := range said {
			if bytes.Equal(b, o) {
				same++
			}
		}
		if same >= 2 && 2*same > len(said) {
			return b
		}
	}
	return nil
}

// inFunction reports whether a symbol says that the site lies in a function of the
// kernel or of a module.
func (s *site) inFunction(syms *symbols.Table) bool {
	if syms == nil {
		return false
	}
	p := s.pieces[0].p
	sym, _, ok := syms.Lookup(p.Addr, p.Time)
	return ok && !isBPF(sym.Name) && !strings.HasPrefix(sym.Name, "__SCT__")
}

// isBranchNop reports whether b is the NOP of a static branch, of x86 or A64.
func isBranchNop(b []byte) bool {
	return bytes.Equal(b, x86Nop2) || bytes.Equal(b, x86Nop5) || len(b) == 4 && binary.LittleEndian.Uint32(b) == a64Nop
}

// isBranchJump reports whether b is the jump of a static branch, of x86 or A64.
func isBranchJump(b []byte) bool {
	switch len(b) {
	case 2:
		return b[0] == x86Jump2
	case 4:
		return binary.LittleEndian.Uint32(b)>>26 == a64Jump
	case 5:
		return b[0] == x86Jump
	}
	return false
}

// strays reports whether a source of the cell's interval k is neither the NOP nor the
// jump of the site's static branch.
func (s *site) strays(c *siteCell, k int, jump []byte) bool {
	if jump == nil {
		return false
	}
	prev, next := s.sources(c, k)
	for _, b := range [][]byte{prev, next} {
		if b != nil && !isBranchNop(b) && !bytes.Equal(b, jump) {
			return true
		}
	}
	return false
}
