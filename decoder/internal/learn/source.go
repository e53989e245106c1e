package learn

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"
	"sync"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// Source is the code of a recording, and what names and changes it. Symbols is nil where
// none are known.
type Source struct {
	Text    *kcore.Text
	Journal *kcore.Journal
	Symbols *symbols.Table
	ISA     isa.Decoder
	Mode    isa.Mode
	Given   Given // lies in Text
}

// Given is what an earlier run learned. Plain is the text without it, nil if there is none.
type Given struct {
	List  []kcore.Learned
	Plain *kcore.Text
}

// Generator returns what has ideas of the code of s.
func (s *Source) Generator() *Generator {
	g := &Generator{ISA: s.ISA, Mode: s.Mode, Known: s.Text.Contested}
	end := event.Epoch(s.Text.Len())
	g.Code = func(dst []byte, addr uint64) int {
		n, _ := s.Text.Fetch(dst, addr, end)
		return n
	}
	g.Body = func(dst []byte, addr uint64) (n int) {
		for n < len(dst) {
			known, _ := s.Text.Fetch(dst[n:], addr+uint64(n), end)
			if n += known; n < len(dst) && s.Text.Image().ReadAt(dst[n:n+1], addr+uint64(n)) == 0 {
				break
			}
			n = min(n+1, len(dst))
		}
		return n
	}
	g.Under = s.under
	g.Tracers = sync.OnceValue(s.tracers)
	g.Calls = sync.OnceValues(s.staticCallees)
	g.Symbol = func(addr uint64) (y symbols.Symbol, ok bool) {
		if s.Symbols != nil {
			y, _, ok = s.Symbols.Lookup(addr, 0)
		}
		return y, ok
	}
	cold := sync.OnceValue(s.coldParts)
	g.Cold = func(name string) (y symbols.Symbol, ok bool) {
		y, ok = cold()[name]
		return y, ok
	}
	return g
}

// under is Generator.Under.
func (s *Source) under(dst []byte, addr uint64) (n, size int, why string) {
	for i := range s.Given.List {
		if l := &s.Given.List[i]; l.Addr == addr {
			n, _ = s.Given.Plain.Fetch(dst, addr, event.Epoch(s.Given.Plain.Len()))
			return n, len(l.Code), l.Why
		}
	}
	return 0, 0, ""
}

// Switch returns where the kernel goes on with another task, 0 if no symbol says so
// (arch/x86/entry/entry_64.S, arch/arm64/kernel/entry.S, v6.1).
func (s *Source) Switch() uint64 {
	if s.Symbols != nil {
		for _, name := range []string{"__switch_to_asm", "cpu_switch_to"} {
			if y, ok := s.Symbols.Find(name); ok {
				return y.Addr
			}
		}
	}
	return 0
}

// Where the kernel lets its sites lead: tracers from the entries of functions, and what
// static calls call. Symbols, recorded changes and the code itself tell.

// tracers returns what the entry of a function that is traced calls: the kernel's own
// entries to the tracer (arch/x86/kernel/ftrace_64.S, arch/arm64/kernel/entry-ftrace.S,
// v6.1), and what recorded changes made such entries call.
func (s *Source) tracers() (list []uint64) {
	if s.Symbols == nil {
		return nil
	}
	for _, name := range []string{"ftrace_caller", "ftrace_regs_caller"} {
		if y, ok := s.Symbols.Find(name); ok {
			list = append(list, y.Addr)
		}
	}
	kinds := kcore.Kinds(s.Journal, s.Symbols)
	for i := range s.Journal.Len() {
		if p := s.Journal.Poke(i); strings.HasPrefix(kinds[i].String(), "ftrace") {
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
func (s *Source) directCall(code []byte, addr uint64) (to uint64, ok bool) {
	var in isa.Insn
	ok = s.ISA.Decode(&in, code, addr, s.Mode) == isa.OK && in.Class == isa.Call && int(in.Len) == len(code)
	return in.Target, ok
}

// anywhere is the static calls that stand wherever the kernel may sleep (kernel/sched/core.c,
// v6.1).
var anywhere = []string{"__SCT__cond_resched", "__SCT__might_resched"}

// staticCallees returns what static calls call (Generator.Calls). Each key has a
// trampoline that jumps to what it calls (arch/x86/include/asm/static_call.h, v6.1).
func (s *Source) staticCallees() (list []uint64, often int) {
	if s.Symbols == nil || s.Mode != isa.Mode64 {
		return nil, 0
	}
	calls := map[uint64]int{} // by target: sites that call it
	main := map[uint64]bool{} // of them, those of anywhere
	for _, y := range s.Symbols.Named(func(name string) bool { return strings.HasPrefix(name, "__SCT__") }) {
		var b [16]byte
		var in isa.Insn
		n, _ := s.Text.Fetch(b[:], y.Addr, event.Epoch(s.Text.Len()))
		if s.ISA.Decode(&in, b[:n], y.Addr, s.Mode) == isa.OK && in.Class == isa.Jump {
			calls[in.Target]++
			if slices.Contains(anywhere, y.Name) {
				main[in.Target] = true
			}
		}
	}
	for i := range s.Journal.Len() {
		p := s.Journal.Poke(i)
		for _, b := range [][]byte{p.Old, p.New} {
			if to, ok := s.directCall(b, p.Addr); ok {
				calls[to]++
			}
		}
	}
	if len(main) > 1 { // else no order is asked for that depends on it
		s.countCalls(calls)
	}
	const most = 1 << 32
	for to := range calls {
		if list = append(list, to); main[to] {
			calls[to] += most
		}
	}
	slices.SortFunc(list, func(a, b uint64) int { return cmp.Or(calls[b]-calls[a], cmp.Compare(a, b)) })
	return list, len(main)
}

// countCalls counts the bytes in the image that read as calls to what calls has.
func (s *Source) countCalls(calls map[uint64]int) {
	const piece, size = 1 << 16, 5
	buf := make([]byte, piece+size-1)
	for _, r := range s.Text.Image().Ranges() {
		for at := r.Addr; at-r.Addr < r.Len; at += piece {
			b := buf[:min(uint64(len(buf)), r.Len-(at-r.Addr))]
			b = b[:s.Text.Image().ReadAt(b, at)]
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
func (s *Source) coldParts() map[string]symbols.Symbol {
	const suffix = ".cold"
	by := map[string]symbols.Symbol{}
	if s.Symbols != nil {
		for _, y := range s.Symbols.Named(func(name string) bool { return strings.HasSuffix(name, suffix) }) {
			by[strings.TrimSuffix(y.Name, suffix)] = y
		}
	}
	return by
}
