package decoder

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// Where the kernel lets its sites lead: tracers from the entries of functions, and what
// static calls call. Symbols, recorded changes and the code itself tell.

// tracers returns what the entry of a function that is traced calls: the kernel's own
// entries to the tracer (arch/x86/kernel/ftrace_64.S, arch/arm64/kernel/entry-ftrace.S,
// v6.1), and what recorded changes made such entries call.
func (s learner) tracers(c *code) (list []uint64) {
	if s.symbols == nil {
		return nil
	}
	for _, name := range []string{"ftrace_caller", "ftrace_regs_caller"} {
		if y, ok := s.symbols.Find(name); ok {
			list = append(list, y.Addr)
		}
	}
	kinds := kcore.Kinds(c.journal, s.symbols)
	for i := range c.journal.Len() {
		if p := c.journal.Poke(i); strings.HasPrefix(kinds[i].String(), "ftrace") {
			for _, b := range [][]byte{p.Old, p.New} {
				if to, ok := s.directCall(b, p.Addr); ok && !slices.Contains(list, to) {
					list = append(list, to)
				}
			}
		}
	}
	return list
}

// directCall returns where the direct call leads that code at addr is.
func (s learner) directCall(code []byte, addr uint64) (to uint64, ok bool) {
	var in isa.Insn
	ok = s.isa.Decode(&in, code, addr, s.mode) == isa.OK && in.Class == isa.Call && int(in.Len) == len(code)
	return in.Target, ok
}

// staticCallees returns what static calls call, the most frequent first. Each key has a
// trampoline that jumps to what it calls (arch/x86/include/asm/static_call.h, v6.1).
func (s learner) staticCallees(c *code) []uint64 {
	if s.symbols == nil || s.mode != isa.Mode64 {
		return nil
	}
	calls := map[uint64]int{} // by target: sites that call it
	for _, y := range s.symbols.Named(func(name string) bool { return strings.HasPrefix(name, "__SCT__") }) {
		var b [16]byte
		var in isa.Insn
		n, _ := c.text.Text.Fetch(b[:], y.Addr, event.Epoch(c.text.Len()))
		if s.isa.Decode(&in, b[:n], y.Addr, s.mode) == isa.OK && in.Class == isa.Jump {
			calls[in.Target]++
		}
	}
	for i := range c.journal.Len() {
		p := c.journal.Poke(i)
		for _, b := range [][]byte{p.Old, p.New} {
			if to, ok := s.directCall(b, p.Addr); ok {
				calls[to]++
			}
		}
	}
	s.countCalls(c, calls)
	list := make([]uint64, 0, len(calls))
	for to := range calls {
		list = append(list, to)
	}
	slices.SortFunc(list, func(a, b uint64) int { return cmp.Or(calls[b]-calls[a], cmp.Compare(a, b)) })
	return list
}

// countCalls counts the bytes in the image that read as calls to what calls has.
func (s learner) countCalls(c *code, calls map[uint64]int) {
	const piece, size = 1 << 20, 5
	buf := make([]byte, piece+size-1)
	for _, r := range c.text.Image().Ranges() {
		for at := r.Addr; at-r.Addr < r.Len; at += piece {
			b := buf[:min(uint64(len(buf)), r.Len-(at-r.Addr))]
			b = b[:c.text.Image().ReadAt(b, at)]
			for off := 0; off+size <= len(b); off++ {
				k := bytes.IndexByte(b[off:], 0xe8)
				if k < 0 || off+k+size > len(b) {
					break
				}
				off += k
				to := at + uint64(off) + size + uint64(int64(int32(binary.LittleEndian.Uint32(b[off+1:]))))
				if n, ok := calls[to]; ok {
					calls[to] = n + 1
				}
			}
		}
	}
}

// coldParts returns, by the name of a function, the part of it that the compiler put
// elsewhere since it hardly ever runs.
func (s learner) coldParts() map[string]symbols.Symbol {
	const suffix = ".cold"
	by := map[string]symbols.Symbol{}
	if s.symbols != nil {
		for _, y := range s.symbols.Named(func(name string) bool { return strings.HasSuffix(name, suffix) }) {
			by[strings.TrimSuffix(y.Name, suffix)] = y
		}
	}
	return by
}
