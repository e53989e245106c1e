package buildtime

import (
	"encoding/binary"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/a64"
)

// The kernel of arm64 rewrites by two tables: static branches, and alternatives. The
// layouts are those of x86 (arch/arm64/include/asm/jump_label.h, alternative.h;
// arch/arm64/kernel/alternative.c; v6.12).

// Words of A64 (DDI0487, C6.2).
const (
	armNop   = 0xd503201f
	armSize  = 4
	armB     = 0x14000000 // and BL with bit 31
	armADRP  = 0x90000000
	armADRPs = 0x9f000000 // the bits that tell ADRP
)

// The bit of an alternative's feature that says that a function of the kernel writes the code,
// and where the feature is put beside that function's address.
const (
	armCallback      = 1 << 15
	armCallbackShift = 48
)

// armNops is the function of the kernel that makes NOPs of an alternative's code.
const armNops = "alt_cb_patch_nops"

// armJump reads an entry of the jump table whose code is c: a NOP, or B to the target.
func (e *jumpEntry) armJump(c []byte) bool {
	if len(c) < armSize {
		return false
	}
	e.n = armSize
	switch w := binary.LittleEndian.Uint32(c); {
	case w == armNop:
	case w>>26 == armB>>26 && e.code+uint64(int64(int32(w<<6))>>4) == e.target:
		e.jumps = true
	default:
		return false
	}
	return e.code%armSize == 0 && e.target%armSize == 0
}

// armWrite writes NOPs, or a jump to the target.
func (e *jumpEntry) armWrite(code []byte, jumps bool) {
	w := uint32(armNop)
	if jumps {
		w = armB | uint32(int64(e.target-e.code)>>2)&(1<<26-1)
	}
	binary.LittleEndian.PutUint32(code, w)
}

// armAlternatives reads .altinstructions (struct alt_instr, v6.12). The layout is that of
// x86. Where bit 15 of the feature is set, a function writes the code. The one that the file
// names most features with makes NOPs of it. What others write does nothing to the flow, or
// it makes NOPs of branches (arch/arm64/kernel/proton-pack.c): each is a choice of its own.
func (k *Kernel) armAlternatives() (list []site) {
	v := k.file
	t := v.sections[".altinstructions"]
	nops := v.armNopMaker(t)
	for at, b := t.addr, t.data; len(b) >= alternativeSize; at, b = at+alternativeSize, b[alternativeSize:] {
		addr, from := relative(b, at), relative(b[4:], at+4)
		word, n := binary.LittleEndian.Uint16(b[8:]), int(b[10])
		if n == 0 || n%armSize != 0 || addr%armSize != 0 || !v.isText(addr) {
			continue
		}
		c := Choice{Feature, uint64(word &^ armCallback)}
		if word&armCallback != 0 {
			if from != nops {
				c = Choice{Callback, from ^ c.ID<<armCallbackShift}
			}
			list = append(list, site{addr, n, stageAlternative, []Choice{c}, func(code []byte, s State) {
				for ; s.Get(c) == Present && len(code) > 0; code = code[armSize:] {
					binary.LittleEndian.PutUint32(code, armNop)
				}
			}})
			continue
		}
		if repl := v.at(from, uint64(b[11])); len(repl) == n {
			list = append(list, site{addr, n, stageAlternative, []Choice{c}, func(code []byte, s State) {
				if s.Get(c) == Present {
					armReplace(code, repl, addr, from)
				}
			}})
		}
	}
	return list
}

// armNopMaker returns where alt_cb_patch_nops lies: the function that alternatives of most
// features name, where no symbol tells. 0: none.
func (v *vmlinux) armNopMaker(t stretch) (best uint64) {
	if a, ok := v.symbols[armNops]; ok {
		return a
	}
	features := map[uint64]map[uint16]bool{}
	for at, b := t.addr, t.data; len(b) >= alternativeSize; at, b = at+alternativeSize, b[alternativeSize:] {
		word, by := binary.LittleEndian.Uint16(b[8:]), relative(b[4:], at+4)
		if word&armCallback == 0 {
			continue
		}
		if features[by] == nil {
			features[by] = map[uint16]bool{}
		}
		features[by][word] = true
		if n, most := len(features[by]), len(features[best]); n > 1 && (n > most || n == most && by < best) {
			best = by
		}
	}
	return best
}

// armReplace writes a replacement from one address over code at another. Branches that leave
// the replacement, and ADRP, keep what they lead to (get_alt_insn).
func armReplace(code, repl []byte, addr, from uint64) {
	var in isa.Insn
	for i := 0; i+armSize <= len(repl); i += armSize {
		w := binary.LittleEndian.Uint32(repl[i:])
		at, was := addr+uint64(i), from+uint64(i)
		d := int64(was-at) >> 2 // words that a label is farther away
		switch (a64.Decoder{}).Decode(&in, repl[i:], was, isa.ModeA64); {
		case w&armADRPs == armADRP:
			page := int64(int32(w<<8)>>13)<<2 | int64(w>>29&3) // from this one
			page += int64(was>>12) - int64(at>>12)
			w = w&^(3<<29|(1<<19-1)<<5) | uint32(page&3)<<29 | uint32(page>>2&(1<<19-1))<<5
		case in.Target == 0 || in.Target-from < uint64(len(repl)):
		case w>>26&^(1<<5) == armB>>26: // B, BL
			w = w&^(1<<26-1) | uint32(int64(w)+d)&(1<<26-1)
		case w>>25&0x3f == 0x1b: // TBZ, TBNZ
			w = w&^((1<<14-1)<<5) | (w+uint32(d)<<5)&((1<<14-1)<<5)
		default: // B.cond, CBZ, CBNZ
			w = w&^((1<<19-1)<<5) | (w+uint32(d)<<5)&((1<<19-1)<<5)
		}
		binary.LittleEndian.PutUint32(code[i:], w)
	}
}
