package kcore

import (
	"bytes"
	"encoding/binary"
	"iter"
	"strings"

	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// staticBranch returns the jump of what may be a static branch's site: it is one for sure
// where inFunction. nil if it is none.
// Such a site holds a NOP or one jump, always the same (struct jump_entry,
// include/linux/jump_label.h, v6.1). So of a record with another jump there one side
// is wrong. What is asked for is the NOP and two sources that have the jump.
//
// BPF programs and trampolines hold such pairs too, with other jumps each time.
func (s *site) staticBranch() (jump []byte) {
	first := &s.pieces[0]
	if len(s.cells) != 1 {
		return nil
	}
	for k := range s.pieces {
		p := &s.pieces[k]
		if p.off != first.off || p.end != first.end || len(p.p.Old) != len(first.p.Old) || len(p.p.New) != len(first.p.New) {
			return nil
		}
	}
	c, nop, jumps := &s.cells[0], false, 0
	var some [4][]byte // one that most sources have is likely to be among the first
	for b := range s.said(c) {
		nop = nop || isBranchNop(b)
		if isBranchJump(b) {
			if jumps < len(some) {
				some[jumps] = b
			}
			jumps++
		}
	}
	if !nop {
		return nil
	}
	for _, b := range some[:min(jumps, len(some))] {
		same := 0
		for o := range s.said(c) {
			if bytes.Equal(b, o) {
				same++
			}
		}
		if same >= 2 && 2*same > jumps {
			return b
		}
	}
	return nil
}

// said gives what each source says that the cell c held; nil where it does not say.
func (s *site) said(c *siteCell) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if !yield(c.img) {
			return
		}
		for k := range s.pieces {
			if !yield(s.old(int32(k), c)) || !yield(s.new(int32(k), c)) {
				return
			}
		}
	}
}

// inFunction reports whether the site of a static branch lies in a function of the kernel or of a
// module. A symbol says so, or a jump of two bytes, which no BPF program has there.
func (s *site) inFunction(syms *symbols.Table) bool {
	p := s.pieces[0].p
	if len(p.Old) <= 2 || syms == nil {
		return len(p.Old) <= 2
	}
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
func (b *builder) strays(s *site, c *siteCell, k int) bool {
	if b.jump == nil {
		return false
	}
	prev, next := s.sources(c, k)
	for _, x := range [][]byte{prev, next} {
		if x == nil || isBranchNop(x) || bytes.Equal(x, b.jump) {
			continue
		}
		if !s.inFunction(b.syms) {
			b.jump = nil
		}
		return b.jump != nil
	}
	return false
}
