package flow

import (
	"sync/atomic"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// maxInsns bounds a block, instructions.
const maxInsns = 1024

// Block is a static run of instructions up to and including the first that
// may leave it, with the epochs for which its bytes are true. A block is
// immutable but for its successor pointers, which only ever go from nil, or
// from one right answer to another.
type Block struct {
	// The walk reads these; they fill one cache line.
	succ   [2]atomic.Pointer[Block] // fall: the block at End; taken: at Target, or where an indirect branch last went
	Addr   uint64
	End    uint64 // first address after it
	Target uint64 // static target of the last instruction, if direct
	Span   event.Span
	N      uint16 // instructions; 0: nothing can be executed at Addr, Stop says why
	Class  isa.Class
	Flags  isa.Flags // of the last instruction
	Mode   isa.Mode
	last   uint8        // length of the last instruction, bytes
	Stop   event.Reason // why the block ends before a branch: NoText, BadInsn, or ReasonNone
	lead   lead         // where the last instruction leads
	Space  uint32       // address space of user text
	// Number says where in a table something about the block may be kept. The blocks of a cache
	// count from 1, so that a table has few holes. Those of another one may have the same.
	Number uint32

	Lens []uint8   // instruction lengths, bytes; N of them
	tree [2]*Block // other versions in the cache, of earlier and of later epochs

	spaceAt uint16   // instructions up to the first MOV CR3, that included; 0: there is none
	_       [22]byte // to a multiple of the line
}

// The ways out of a block: indices of succ.
const (
	fall  = 0
	taken = 1
)

// way returns the address that a way out leads to.
func (b *Block) way(i int) uint64 {
	if i == taken {
		return b.Target
	}
	return b.End
}

// size returns how long the first n instructions of b are, bytes.
func (b *Block) size(n int) (size int) {
	for _, l := range b.Lens[:n] {
		size += int(l)
	}
	return size
}

// Part returns the n instructions of b from instruction from on as a block of their own,
// for who prints flow; from+n does not exceed b.N. No walk may use it.
func (b *Block) Part(from, n int) *Block {
	p := &Block{Addr: b.Addr + uint64(b.size(from)), Span: b.Span, N: uint16(n), Mode: b.Mode, Space: b.Space, Lens: b.Lens[from : from+n]}
	p.End = p.Addr + uint64(p.size(n))
	if from+n == int(b.N) {
		p.Class, p.Flags, p.Target, p.Stop = b.Class, b.Flags, b.Target, b.Stop
	}
	if n > 0 {
		p.last = p.Lens[n-1]
	}
	return p
}

// LastIP returns the address of the block's last instruction.
func (b *Block) LastIP() uint64 { return b.End - uint64(b.last) }

// Boundary returns how many instructions of b lie before ip, and whether an
// instruction of b starts there or ip is b's end.
func (b *Block) Boundary(ip uint64) (n int, ok bool) {
	a := b.Addr
	for i, l := range b.Lens {
		if a == ip {
			return i, true
		}
		if a > ip {
			return 0, false
		}
		a += uint64(l)
	}
	return int(b.N), a == ip
}

// through returns how many instructions of b start before ip, and where the
// next one does.
func (b *Block) through(ip uint64) (n int, next uint64, ok bool) {
	next = b.Addr
	for _, l := range b.Lens {
		if next >= ip {
			break
		}
		next += uint64(l)
		n++
	}
	return n, next, n > 0
}

// leadsAs reports whether b, a version of o, does the same to a flow as o.
func (b *Block) leadsAs(o *Block) bool {
	return b.N == o.N && b.End == o.End && b.lead == o.lead && b.Target == o.Target && b.Mode == o.Mode && b.Space == o.Space
}
