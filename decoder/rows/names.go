package rows

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// Names finds what rows are called: symbols, threads, instructions. It
// remembers the last answers, since the next question is often the same; so it
// is for one goroutine.
type Names struct {
	rec     Recording
	last    Place
	asked   placeKey    // that last answers
	steady  []placeSlot // by slotOf: answers that no time changes
	threads []threadAt
	code    []byte
	insns   map[insnKey]string // disassembled

	scratch Row // of Rows

	hasSwitch map[Recording]bool // by machine: what switches answers
}

// Place is what an address is called.
type Place struct {
	Sym   string // the symbol that holds it, "" if none does
	Off   uint64 // bytes from the symbol's start, or in the file DSO
	DSO   string // the module or file, "" if that is not known
	Known bool   // what holds the address is known
}

// placeKey is an address in time.
type placeKey struct {
	guest int32
	space uint32
	addr  uint64
	time  uint64 // ns
}

// threadAt is who ran on a stream's CPU, from a time on and until another one, ns.
type threadAt struct {
	time, until uint64
	tid         int32
	comm        string
}

// NewNames returns what names rows of a recording that has so many streams.
func NewNames(rec Recording, streams int) *Names {
	return &Names{rec: rec, steady: make([]placeSlot, 1<<slotBits), threads: make([]threadAt, streams), insns: map[insnKey]string{}, hasSwitch: map[Recording]bool{}}
}

// machine returns what is recorded of the machine that executed r.
func (n *Names) machine(r *Row) Recording {
	if r.Stream.Machine != nil {
		return r.Stream.Machine
	}
	return n.rec
}

// At returns what addr, an address of r, is called at the time of r.
func (n *Names) At(r *Row, addr uint64) Place { return *n.find(r, addr) }

// find is At; the place is valid until the next call.
func (n *Names) find(r *Row, addr uint64) *Place {
	slot := &n.steady[slotOf(addr)]
	if slot.filled && slot.addr == addr && slot.guest == r.Stream.Guest && (slot.space == 0 || slot.space == r.Space) {
		return &slot.place
	}
	k := placeKey{r.Stream.Guest, r.Space, addr, r.Time.Likely()}
	of := n.machine(r)
	kernel := of.Kernel(addr)
	if kernel {
		k.space = 0
	}
	if n.asked == k && (n.last.Known || addr != 0) {
		return &n.last
	}
	p := Place{}
	p.Sym, p.Off, p.DSO, p.Known = of.Symbol(k.space, addr, k.time)
	n.asked, n.last = k, p
	y := of.Symbols()
	if kernel && y != nil && y.Steady(addr) || k.space != 0 { // an address space names its code at all times
		*slot = placeSlot{addr: addr, space: k.space, guest: r.Stream.Guest, filled: true, place: p}
	}
	return &n.last
}

// Lines returns the places in the source that the code at r was made of: the line, then
// the calls in which it was inlined. It is nil where nothing tells.
func (n *Names) Lines(r *Row) []symbols.Frame {
	return n.machine(r).Lines(r.Space, r.IP, r.Time.Likely())
}

// Epochs returns the epochs for which the code of r is this: changes of the kernel's code,
// or of a program's.
func (n *Names) Epochs(r *Row) event.Span {
	if r.Space == 0 || n.machine(r).Kernel(r.IP) {
		return r.Span
	}
	return n.machine(r).UserEpochs(r.Space, r.IP)
}

// placeSlot is the place of one address at any time.
type placeSlot struct {
	addr   uint64
	space  uint32 // 0: the kernel's
	guest  int32
	filled bool
	place  Place
}

// slotBits says how many steady places are remembered, as a power of two.
const slotBits = 12

// slotOf returns the index of the only slot that may hold the place of addr.
func slotOf(addr uint64) uint64 { return addr * 0x9e3779b97f4a7c15 >> (64 - slotBits) }

// Thread returns the thread that ran at r and its name; tid is -1 where it is
// not known.
func (n *Names) Thread(r *Row) (tid int32, comm string) {
	t := r.Time.Stated()
	c := &n.threads[r.Stream.Index]
	if t < c.time || t >= c.until {
		*c = threadAt{time: t, tid: -1}
		tid, comm, until, ok := n.rec.Running(r.Stream.Index, t)
		if c.until = until; ok {
			c.tid, c.comm = tid, comm
		}
	}
	return c.tid, c.comm
}

// Bytes returns the machine code of r: of an instruction, of a whole block, or
// of the branch instruction. It is valid until the next call.
func (n *Names) Bytes(r *Row) []byte {
	size := int(r.Len)
	if r.Kind == KindBlock {
		size = int(r.Addr - r.IP)
	}
	if cap(n.code) < size {
		n.code = make([]byte, size)
	}
	b := n.code[:size]
	return b[:n.machine(r).Code(b, r.Space, r.IP, r.epoch())]
}

// Poke returns the change to the kernel's code that r was taken for; r.Poke is
// not -1.
func (n *Names) Poke(r *Row) *kcore.Poke { return n.machine(r).Text().Poke(r.Poke) }

// Disasm returns the instruction at r, disassembled, "" where it is not known.
// What was asked for once is kept, unless the name of a target depends on the
// time.
func (n *Names) Disasm(r *Row) string {
	if r.Kind != KindInsn && r.Kind != KindBranch || r.Len == 0 {
		return ""
	}
	k := n.insnKey(r)
	if s, ok := n.insns[k]; ok {
		return s
	}
	b := n.Bytes(r)
	if len(b) == 0 || r.Mode == isa.ModeUnknown {
		return ""
	}
	steady := true
	s := n.machine(r).Format(b, r.IP, r.Mode, func(addr uint64) (string, uint64) {
		p := n.At(r, addr)
		then, off, _, ok := n.machine(r).Symbol(r.Space, addr, 0)
		steady = steady && ok == p.Known && then == p.Sym && off == p.Off
		return p.start(addr)
	})
	if steady {
		if len(n.insns) >= maxInsns {
			clear(n.insns)
		}
		n.insns[k] = s
	}
	return s
}

// insnKey returns what Disasm keeps its answer for r under.
func (n *Names) insnKey(r *Row) insnKey {
	return insnKey{r.Stream.Guest, r.IP, r.Space, r.epoch(), r.Mode}
}

// start returns the symbol that holds addr and its first address.
func (p *Place) start(addr uint64) (sym string, first uint64) {
	if !p.Known || p.Sym == "" {
		return "", 0
	}
	return p.Sym, addr - p.Off
}

// maxInsns is how many instructions' lines are kept.
const maxInsns = 1 << 16

// insnKey is an instruction in time.
type insnKey struct {
	guest int32
	ip    uint64
	space uint32
	at    event.Epoch
	mode  isa.Mode
}
