package report

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// Line is an instruction of text, or a stretch of which nothing is known.
type Line struct {
	Addr   uint64
	Len    uint64 // bytes
	Bytes  []byte // nil: unknown
	Insn   string // disassembled
	Symbol string // symbol+offset of Addr; "" if it has none
	Pokes  int    // how many pokes of the journal change it
}

// Disassemble gives the text at [addr, addr+n) as of an epoch to yield, line by
// line, until it returns false. Symbols are those of a time, ns.
func Disassemble(s *decoder.Session, addr, n uint64, at event.Epoch, time uint64, yield func(*Line) bool) {
	const step = 4096
	var buf [step + maxInsn]byte
	for done := uint64(0); done < n; {
		want := min(n-done, step)
		got, _ := s.Text().Fetch(buf[:min(want+maxInsn, n-done)], addr+done, at)
		if got == 0 {
			k := s.Text().Unknown(addr+done, n-done, at)
			if !yield(&Line{Addr: addr + done, Len: k, Symbol: s.KernelSymbol(addr+done, time), Pokes: pokesAt(s, addr+done, int(min(k, 1<<30)))}) {
				return
			}
			done += k
			continue
		}
		for off := 0; off < got && uint64(off) < want; {
			l := line(s, buf[off:got], addr+done+uint64(off), time)
			if !yield(&l) {
				return
			}
			off += int(l.Len)
			if off >= got || uint64(off) >= want {
				done += uint64(off)
				break
			}
		}
	}
}

// maxInsn is the longest instruction, bytes (Intel SDM, volume 2, "Instruction
// Format").
const maxInsn = 15

// line disassembles the instruction at the front of text.
func line(s *decoder.Session, text []byte, addr, time uint64) Line {
	n := insnLen(s, text, addr)
	insn, _ := Insn(s, text[:n], addr, time)
	return Line{
		Addr: addr, Len: uint64(n), Bytes: bytes.Clone(text[:n]), Insn: insn,
		Symbol: s.KernelSymbol(addr, time), Pokes: pokesAt(s, addr, n),
	}
}

// Insn disassembles the instruction at the front of text, which lies at addr, and
// returns its length, bytes. That is 1 where there is none, and all of a text that is
// cut short. Its target is named as of a time, ns.
func Insn(s *decoder.Session, text []byte, addr, time uint64) (line string, n int) {
	return s.Format(text, addr, s.ModeAt(addr), func(a uint64) (string, uint64) {
		if s.Symbols() == nil {
			return "", 0
		}
		y, _, ok := s.Symbols().Lookup(a, time)
		if !ok {
			return "", 0
		}
		return y.Name, y.Addr
	}), insnLen(s, text, addr)
}

// insnLen returns the length of the instruction at the front of text, as Insn does.
func insnLen(s *decoder.Session, text []byte, addr uint64) int {
	var in isa.Insn
	insns, _ := s.ISA()
	switch insns.Decode(&in, text, addr, s.ModeAt(addr)) {
	case isa.Bad:
		return 1
	case isa.Short:
		return max(1, len(text))
	}
	return int(in.Len)
}

// pokesAt returns how many pokes change the n bytes at addr.
func pokesAt(s *decoder.Session, addr uint64, n int) int {
	return len(s.Text().Between(addr, n, 0, event.MaxEpoch, nil))
}

// Change is a stretch of text that differs between two epochs.
type Change struct {
	Addr     uint64
	Old, New []byte // nil: unknown; else of one length
	Len      uint64 // bytes
	Symbol   string // symbol+offset of Addr; "" if it has none
}

// Diff gives what differs in text between two epochs, by address.
func Diff(s *decoder.Session, from, to event.Epoch) []Change {
	lo, hi := min(from, to), max(from, to)
	var rs []image.Range
	for i := lo; i < hi && int(i) < s.Text().Journal().Len(); i++ {
		if p := s.Text().Journal().Poke(int(i)); !p.Mark() {
			rs = append(rs, p.Range())
		}
	}
	// What is unknown around a break changes at the epoch of neither poke alone.
	for _, f := range s.Text().Findings() {
		if n := uint64(len(f.Want)); n > 0 && f.Span.From <= hi && f.Span.Until >= lo {
			rs = append(rs, image.Range{Addr: f.Addr, Len: n})
		}
	}
	slices.SortFunc(rs, func(a, b image.Range) int { return cmp.Compare(a.Addr, b.Addr) })
	var out []Change
	for i := 0; i < len(rs); {
		r, k := rs[i], i+1
		for k < len(rs) && rs[k].Addr < r.Addr+r.Len {
			r.Len = max(r.Len, rs[k].Addr+rs[k].Len-r.Addr)
			k++
		}
		out = diffRange(s, out, r, from, to)
		i = k
	}
	return out
}

// diffRange appends the differences in r: stretches in which each side is
// known or unknown throughout.
func diffRange(s *decoder.Session, out []Change, r image.Range, from, to event.Epoch) []Change {
	var a, b [1]byte
	for d := uint64(0); d < r.Len; {
		addr := r.Addr + d
		na, _ := s.Text().Fetch(a[:], addr, from)
		nb, _ := s.Text().Fetch(b[:], addr, to)
		e := d + 1
		for ; e < r.Len; e++ {
			ma, _ := s.Text().Fetch(a[:], r.Addr+e, from)
			mb, _ := s.Text().Fetch(b[:], r.Addr+e, to)
			if ma != na || mb != nb {
				break
			}
		}
		c := Change{Addr: addr, Len: e - d, Symbol: s.KernelSymbol(addr, timeOf(s, to))}
		c.Old, c.New = known(s, na, addr, e-d, from), known(s, nb, addr, e-d, to)
		if (c.Old != nil || c.New != nil) && !bytes.Equal(c.Old, c.New) {
			out = append(out, c)
		}
		d = e
	}
	return out
}

// known returns n bytes at addr, nil if there is no first.
func known(s *decoder.Session, first int, addr, n uint64, at event.Epoch) []byte {
	if first == 0 {
		return nil
	}
	b := make([]byte, n)
	got, _ := s.Text().Fetch(b, addr, at)
	return b[:got]
}

// timeOf returns a moment of an epoch, ns.
func timeOf(s *decoder.Session, e event.Epoch) uint64 {
	if e == 0 || s.Text().Journal().Len() == 0 {
		return 0
	}
	return s.Text().Journal().Poke(min(int(e), s.Text().Journal().Len()) - 1).End
}
