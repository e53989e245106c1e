package kcore

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/ptdecode/ptdecode/kcore/image"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// Kind is what a poke was made for.
type Kind uint8

// The kinds of pokes.
const (
	KindUnknown    Kind = iota
	KindJumpLabel       // a static branch switched: NOP and JMP
	KindStaticCall      // a static call re-targeted: its sites or its trampoline
	KindFtrace          // a function's entry, or a call inside a tracer's trampoline
	KindKprobe          // a probe's trap put in or taken out
	KindOptprobe        // a probe's trap made a jump, or the jump a trap again
	KindSlot            // a probed instruction's copy, or an optimised probe's detour
	KindTrampoline      // a tracer's trampoline comes or goes
	KindBPF             // a BPF program's text, or a call to one
	numKinds
)

var kindNames = [numKinds]string{"unknown", "jump-label", "static-call", "ftrace", "kprobe", "optprobe", "slot", "trampoline", "bpf"}

// String returns the kind's name as output prints it.
func (k Kind) String() string {
	if k < numKinds {
		return kindNames[k]
	}
	return "?"
}

// ParseKind is the inverse of String. The error names the kinds.
func ParseKind(name string) (Kind, error) {
	if i := slices.Index(kindNames[:], name); i >= 0 {
		return Kind(i), nil
	}
	return KindUnknown, fmt.Errorf("kind %q, want one of %s", name, strings.Join(kindNames[:], ", "))
}

// x86 texts that tell kinds apart (Intel SDM, volume 2; the NOPs are those of
// arch/x86/include/asm/nops.h, v6.1).
var (
	x86Nop2 = []byte{0x66, 0x90}
	x86Nop5 = []byte{0x0f, 0x1f, 0x44, 0x00, 0x00}
	x86Zero = []byte{0x66, 0x66, 0x48, 0x31, 0xc0} // a static call that returns 0 (static_call.c, xor5rax)
)

const (
	x86Call  = 0xe8
	x86Jump  = 0xe9
	x86Jump2 = 0xeb
	x86Ret   = 0xc3
)

// Kinds returns what each poke of the journal was made for, by its index. It looks at the
// poke's bytes, and at the symbols at its address and at its target; syms may be nil. It
// also looks at the other pokes, since a jump into code that a record brought shows what
// that code is.
func Kinds(j *Journal, syms *symbols.Table) []Kind {
	c := classifier{j: j, syms: syms}
	for i := range j.pokes {
		if p := &j.pokes[i]; len(p.Old) == 0 && !p.Mark() && !j.rules.unsaid(p) {
			c.slots = append(c.slots, slotText{p.Range(), c.slotKind(p)})
		}
	}
	slices.SortFunc(c.slots, func(a, b slotText) int { return cmp.Compare(a.Addr, b.Addr) })
	c.learn()
	out := make([]Kind, len(j.pokes))
	for i := range j.pokes {
		if p := &j.pokes[i]; !p.Mark() {
			out[i] = c.kind(p)
		}
	}
	return out
}

type classifier struct {
	j     *Journal
	syms  *symbols.Table
	slots []slotText // text that records brought, by address
}

// slotText is text that a record brought.
type slotText struct {
	image.Range
	kind Kind // KindUnknown until a jump into it tells
}

// slotKind tells a slot from a trampoline by the symbol that was registered
// with it (kernel/kprobes.c, arch/x86/kernel/ftrace.c, v6.1), or its size.
func (c *classifier) slotKind(p *Poke) Kind {
	switch name := c.name(p.Addr, p.Time); {
	case name == "kprobe_insn_page" || name == "kprobe_optinsn_page":
		return KindSlot
	case name == "ftrace_trampoline":
		return KindTrampoline
	case isBPF(name):
		return KindBPF
	case p.size() <= shortPoke:
		return KindSlot
	}
	return KindUnknown
}

// learn settles slots by what leads into them: an optimised probe's jump, or
// a call.
func (c *classifier) learn() {
	for i := range c.j.pokes {
		p := &c.j.pokes[i]
		if s := c.detour(p.Addr, p.Old, p.New); s != nil && s.kind == KindUnknown {
			s.kind = KindSlot
		}
		to, ok := target(p.Addr, p.New)
		if !ok {
			continue
		}
		s := c.slot(to)
		switch {
		case s == nil || s.kind != KindUnknown:
		case p.New[0] == x86Call:
			s.kind = KindTrampoline
		case len(p.Old) == 5 && p.Old[0] == x86Trap:
			s.kind = KindSlot
		}
	}
}

// slot returns the text brought by a record that holds addr.
func (c *classifier) slot(addr uint64) *slotText {
	i := sort.Search(len(c.slots), func(i int) bool { return c.slots[i].Addr > addr }) - 1
	if i < 0 || c.slots[i].Last() < addr {
		return nil
	}
	return &c.slots[i]
}

// name returns the name of the symbol at addr, "" if there is none.
func (c *classifier) name(addr, time uint64) string {
	if c.syms == nil {
		return ""
	}
	s, _, _ := c.syms.Lookup(addr, time)
	return s.Name
}

// isBPF reports whether a symbol is that of a BPF program, trampoline or
// dispatcher (kernel/bpf/core.c, trampoline.c, dispatcher.c, v6.1). The kernel
// has functions of its own that begin like them, without the tag.
func isBPF(name string) bool {
	tag, ok := strings.CutPrefix(name, "bpf_prog_")
	if ok && len(tag) >= 16 {
		_, err := hex.DecodeString(tag[:16])
		return err == nil
	}
	key, ok := strings.CutPrefix(name, "bpf_trampoline_")
	if ok && key != "" {
		return key[0] >= '0' && key[0] <= '9'
	}
	return strings.HasPrefix(name, "bpf_dispatcher_")
}

// target returns where a direct 5-byte call or jump leads.
func target(addr uint64, text []byte) (uint64, bool) {
	if len(text) != 5 || text[0] != x86Call && text[0] != x86Jump {
		return 0, false
	}
	rel := int32(binary.LittleEndian.Uint32(text[1:]))
	return addr + 5 + uint64(int64(rel)), true
}

// kind tells one poke's kind.
func (c *classifier) kind(p *Poke) Kind {
	if c.j.rules.unsaid(p) {
		return KindUnknown
	}
	if len(p.Old) == 0 || len(p.New) == 0 {
		if s := c.slot(p.Addr); s != nil && s.kind != KindUnknown {
			return s.kind
		}
		if k := c.slotKind(p); k != KindUnknown {
			return k
		}
		return KindTrampoline
	}
	if a := c.j.rules.archOf(p); a.kind != nil && (a.kindOf == nil || slices.Contains(a.kindOf, p.Scheme)) {
		return a.kind(c, p)
	}
	return KindUnknown
}

// x86Kind tells the kinds of x86 kernels.
func (c *classifier) x86Kind(p *Poke) Kind {
	name := c.name(p.Addr, p.Time)
	switch {
	case len(p.Old) == 1 && len(p.New) == 1:
		return KindKprobe
	case p.Old[0] == x86Trap || p.New[0] == x86Trap:
		return KindOptprobe
	case strings.HasPrefix(name, "__SCT__"):
		return KindStaticCall
	case isBPF(name):
		return KindBPF
	case jumpLabel(p.Old, p.New) || jumpLabel(p.New, p.Old):
		return KindJumpLabel
	case name == "ftrace_trampoline" || strings.HasPrefix(name, "ftrace_"):
		return KindFtrace
	}
	if s := c.slot(p.Addr); s != nil && s.kind == KindTrampoline {
		return KindFtrace
	}
	return c.call(p)
}

// jumpLabel reports whether a is the NOP and b the jump of a static branch.
func jumpLabel(a, b []byte) bool {
	return bytes.Equal(a, x86Nop2) && len(b) == 2 && b[0] == x86Jump2 ||
		bytes.Equal(a, x86Nop5) && len(b) == 5 && b[0] == x86Jump
}

// call tells kinds that differ only in what is called.
func (c *classifier) call(p *Poke) Kind {
	static := false
	for _, text := range [][]byte{p.Old, p.New} {
		switch to, ok := target(p.Addr, text); {
		case ok:
			name := c.name(to, p.Time)
			if s := c.slot(to); s != nil && s.kind == KindTrampoline || name == "ftrace_trampoline" ||
				name == "ftrace_caller" || name == "ftrace_regs_caller" {
				return KindFtrace
			}
			if isBPF(name) {
				return KindBPF
			}
			static = static || name != ""
		case bytes.Equal(text, x86Zero), text[0] == x86Ret, len(text) == 6 && text[0] == 0x0f && text[1]&0xf0 == 0x80:
			static = true
		}
	}
	if static {
		return KindStaticCall
	}
	return KindUnknown
}
