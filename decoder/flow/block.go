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
	Space  uint32       // address space of user text

	Lens []uint8   // instruction lengths, bytes; N of them
	tree [2]*Block // other versions in the cache, of earlier and of later epochs

	toSpace uint16   // instructions up to the first MOV CR3, that included; 0: there is none
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

// silentNext returns where b leads if the trace need not say so: its code alone
// does, where its class spends no outcome.
func (b *Block) silentNext() (ip uint64, ok bool) {
	switch {
	case b.Class == isa.Jump, b.Class == isa.Call:
		return b.Target, true
	case b.Class == isa.Other:
		return b.End, b.Stop == event.ReasonNone && b.N > 0
	}
	return 0, false
}

// LastIP returns the address of the block's last instruction.
func (b *Block) LastIP() uint64 { return b.End - uint64(b.last) }

// start returns the address of instruction i of b.
func (b *Block) start(i int) uint64 {
	a := b.Addr
	for _, l := range b.Lens[:i] {
		a += uint64(l)
	}
	return a
}

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

// builder reads blocks from text. Each worker has its own.
type builder struct {
	text Text
	dec  isa.Decoder
	buf  [256]byte
	lens [maxInsns]uint8
}

// passes is the classes that do not end a block.
const passes = isa.ClassSet(1<<isa.Other | 1<<isa.SetSpace | 1<<isa.TraceControl | 1<<isa.Barrier | 1<<isa.Wait)

// build reads the block at addr as of epoch at. limit bounds it: no
// instruction that starts at or after limit is taken (0: no limit); max bounds
// the number of instructions.
func (bd *builder) build(space uint32, addr uint64, m isa.Mode, at event.Epoch, limit uint64, max int, ends isa.ClassSet) *Block {
	b := &Block{Addr: addr, End: addr, Space: space, Mode: m, Span: event.EveryEpoch}
	if space == guestSpace {
		b.Stop = event.NoText
		return b
	}
	have, pos := 0, 0 // bytes in buf, bytes of them used
	var span event.Span
	for int(b.N) < max && (limit == 0 || b.End < limit) {
		if have-pos < bd.dec.MaxLen() {
			have, span = bd.text.Fetch(bd.buf[:], space, b.End, at)
			pos = 0
			if have == 0 {
				b.Stop = event.NoText
				b.Span = b.Span.Intersect(span)
				break
			}
		}
		var in isa.Insn
		st := bd.dec.Decode(&in, bd.buf[pos:have], b.End, m)
		if st != isa.OK {
			n := have - pos
			if b.Stop = event.BadInsn; st == isa.Short {
				b.Stop = event.NoText
				n++ // that the next byte is not known may change
			}
			b.Span = b.Span.Intersect(bd.spanOf(space, b.End, n, at))
			break
		}
		if span != event.EveryEpoch {
			b.Span = b.Span.Intersect(bd.spanOf(space, b.End, int(in.Len), at))
		}
		bd.lens[b.N], b.last = in.Len, in.Len
		b.N++
		b.End += uint64(in.Len)
		pos += int(in.Len)
		if in.Class == isa.SetSpace && b.toSpace == 0 {
			b.toSpace = b.N
		}
		if ends.Has(in.Class) {
			b.Class, b.Flags, b.Target = in.Class, in.Flags, in.Target
			break
		}
	}
	b.Lens = append([]uint8(nil), bd.lens[:b.N]...)
	return b
}

// spanOf returns the epochs for which the n bytes at addr are what they are
// at epoch at.
func (bd *builder) spanOf(space uint32, addr uint64, n int, at event.Epoch) event.Span {
	var tmp [16]byte
	_, s := bd.text.Fetch(tmp[:min(n, len(tmp))], space, addr, at)
	return s
}
