package flow

import (
	"encoding/binary"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// builder reads blocks from text. Each worker has its own.
type builder struct {
	text  Text
	dec   isa.Decoder
	rules *isa.Rules
	buf   [256]byte
	probe [256 + blanks]byte // what is fetched to learn something of it
	lens  [maxInsns]uint8
	in    isa.Insn // the instruction read last

	blocks []Block // memory for blocks to come
	sizes  []uint8 // memory for their Lens
}

// What memory is taken for at once.
const (
	blockChunk = 32   // blocks
	sizeChunk  = 1024 // lengths of instructions
)

// newBlock returns a block in which nothing is set.
func (bd *builder) newBlock() *Block {
	if len(bd.blocks) == 0 {
		bd.blocks = make([]Block, blockChunk)
	}
	b := &bd.blocks[0]
	bd.blocks = bd.blocks[1:]
	return b
}

// newLens returns a copy of lens that stays.
func (bd *builder) newLens(lens []uint8) []uint8 {
	n := len(lens)
	if n == 0 {
		return nil
	}
	if len(bd.sizes) < n {
		bd.sizes = make([]uint8, max(n, sizeChunk))
	}
	kept := bd.sizes[:n:n]
	copy(kept, lens)
	bd.sizes = bd.sizes[n:]
	return kept
}

// passes is the classes that do not end a block.
const passes = isa.ClassSet(1<<isa.Other | 1<<isa.SetSpace | 1<<isa.TraceControl | 1<<isa.Barrier | 1<<isa.Wait)

// blockEnds is the classes that end a block.
func (bd *builder) blockEnds() isa.ClassSet { return ^passes | bd.rules.Waypoints }

// build reads the block at addr as of epoch at. limit bounds it: no
// instruction that starts at or after limit is taken (0: no limit); max bounds
// the number of instructions.
func (bd *builder) build(space uint32, addr uint64, m isa.Mode, at event.Epoch, limit uint64, max int) *Block {
	b := bd.newBlock()
	b.Addr, b.End, b.Space, b.Mode, b.Span = addr, addr, space, m, event.EveryEpoch
	if space == guestSpace {
		b.Stop = event.NoText
		return b
	}
	ends := bd.blockEnds()
	have, pos := 0, 0 // bytes in buf, bytes of them used
	var span event.Span
	for int(b.N) < max && (limit == 0 || b.End < limit) {
		if have-pos < bd.dec.MaxLen()+blanks || pos > 0 && blank(bd.buf[pos:have]) {
			have, span = bd.text.Fetch(bd.buf[:], space, b.End, at)
			pos = 0
			if have == 0 {
				b.Stop = event.NoText
				b.Span = b.Span.Intersect(span)
				break
			}
		}
		in := &bd.in
		st := bd.dec.Decode(in, bd.buf[pos:have], b.End, m)
		if st != isa.OK {
			n := have - pos
			if b.Stop = event.BadInsn; st == isa.Short {
				b.Stop = event.NoText
				n++ // that the next byte is not known may change
			}
			b.Span = b.Span.Intersect(bd.spanOf(space, b.End, pos, n, at))
			break
		}
		size := int(in.Len) // of what tells that the instruction is one, bytes
		if end := pos + size; bd.buf[end-1] == 0 {
			if blank(bd.buf[end:have]) && bd.unknown(space, b.End+uint64(in.Len), at) {
				b.Stop = event.NoText // it may be cut off by what is not known
				b.Span = b.Span.Intersect(bd.spanOf(space, b.End, pos, size+blanks, at))
				break
			}
			if span != event.EveryEpoch {
				size += bd.blankUpTo(bd.buf[end:have], space, b.End+uint64(in.Len), at)
			}
		}
		if span != event.EveryEpoch {
			b.Span = b.Span.Intersect(bd.spanOf(space, b.End, pos, size, at))
		}
		bd.lens[b.N], b.last = in.Len, in.Len
		b.N, b.End, pos = b.N+1, b.End+uint64(in.Len), pos+int(in.Len)
		if in.Class == isa.SetSpace && b.spaceAt == 0 {
			b.spaceAt = b.N
		}
		if ends.Has(in.Class) {
			b.Class, b.Flags, b.Target = in.Class, in.Flags, in.Target
			break
		}
	}
	b.lead = leadOf(bd.rules, b.Class, b.Flags, m, b.Stop)
	b.Lens = bd.newLens(bd.lens[:b.N])
	return b
}

// blanks is how many zeros may say that code is not known, bytes.
const blanks = 4

// blank reports whether b begins with zeros. Where an instruction begins, they may say that code is not
// known, which the text tells only of what it is asked for first.
func blank(b []byte) bool { return len(b) >= blanks && binary.LittleEndian.Uint32(b) == 0 }

// blankUpTo returns how many bytes from the beginning of b on tell whether it is blank. One of them may
// not be known. b lies at addr as of epoch at. If it is not blank at any epoch, none tell.
func (bd *builder) blankUpTo(b []byte, space uint32, addr uint64, at event.Epoch) int {
	for n := range blanks {
		if n >= len(b) || b[n] != 0 {
			// Of zeros that follow others the text may not tell.
			if k, s := bd.text.Fetch(bd.probe[:n+1], space, addr, at); k <= n || bd.turnsBlank(space, addr, s) {
				return n + 1
			}
			return 0
		}
	}
	return blanks
}

// mostVersions is at how many versions of code the builder looks to find out whether one is blank. Code that changes more
// often is a site that is switched on and off.
const mostVersions = 64

// turnsBlank reports whether addr may be blank at an epoch before or behind span.
func (bd *builder) turnsBlank(space uint32, addr uint64, span event.Span) bool {
	for range mostVersions {
		at := span.Until
		if span.From > 0 {
			at = span.From - 1
		} else if span.Until == event.EveryEpoch.Until {
			return false
		}
		n, s := bd.text.Fetch(bd.probe[:blanks], space, addr, at)
		if n < blanks || blank(bd.probe[:blanks]) {
			return true
		}
		span.From, span.Until = min(span.From, s.From), max(span.Until, s.Until)
	}
	return false
}

// unknown reports whether no code is known at addr as of epoch at.
func (bd *builder) unknown(space uint32, addr uint64, at event.Epoch) bool {
	n, _ := bd.text.Fetch(bd.probe[:blanks], space, addr, at)
	return n == 0
}

// spanOf returns the epochs for which the n bytes at addr, at pos of buf, are what they are at epoch at.
// The text may take zeros at addr for code that is not known. So it is asked for them as it was for buf.
func (bd *builder) spanOf(space uint32, addr uint64, pos, n int, at event.Epoch) event.Span {
	if bd.buf[pos] == 0 {
		addr, n = addr-uint64(pos), n+pos
	}
	_, s := bd.text.Fetch(bd.probe[:min(n, len(bd.probe))], space, addr, at)
	return s
}
