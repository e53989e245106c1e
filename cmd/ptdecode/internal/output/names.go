package output

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// names finds what rows are called: symbols, threads, instructions. It
// remembers the last answers, since the next question is often the same.
type names struct {
	s     Recording
	last  place
	tasks []taskAt // by stream
	code  []byte
	insns map[insnKey]string // disassembled
}

// place is what an address is called.
type place struct {
	space uint32
	addr  uint64
	time  uint64
	sym   string
	off   uint64 // bytes
	dso   string
	ok    bool
}

// taskAt is who ran on a stream's CPU at a time.
type taskAt struct {
	time  uint64
	known bool // task is the answer for time
	task  task
}

// task is a thread; tid -1 where it is not known.
type task struct {
	tid  int32
	comm string
}

func newNames(s Recording, streams int) names {
	return names{s: s, tasks: make([]taskAt, streams), insns: map[insnKey]string{}}
}

// at returns what addr is called at the time of r.
func (n *names) at(r *Row, addr uint64) place {
	t := r.Time.Likely()
	space := r.Space
	if n.s.Kernel(addr) {
		space = 0
	}
	if l := &n.last; l.addr == addr && l.time == t && l.space == space && (l.ok || l.addr != 0) {
		return *l
	}
	p := place{space: space, addr: addr, time: t}
	p.sym, p.off, p.dso, p.ok = n.s.Symbol(space, addr, t)
	n.last = p
	return p
}

// task returns the thread that ran at r.
func (n *names) task(r *Row) task {
	t := r.Time.Likely()
	c := &n.tasks[r.Stream.Index]
	if c.known && c.time == t {
		return c.task
	}
	k := task{tid: -1}
	if tid, comm, ok := n.s.Running(r.Stream.Index, t); ok {
		k = task{tid, comm}
	}
	*c = taskAt{t, true, k}
	return k
}

// bytes returns the machine code of r: of an instruction, of a whole block, or
// of the branch instruction.
func (n *names) bytes(r *Row) []byte {
	size := int(r.Len)
	if r.Kind == RowBlock {
		size = int(r.Addr - r.IP)
	}
	if cap(n.code) < size {
		n.code = make([]byte, size)
	}
	b := n.code[:size]
	return b[:n.s.Code(b, r.Space, r.IP, r.at())]
}

// disasm returns the instruction at r as text. What was asked for once is kept,
// unless the name of a target depends on the time.
func (n *names) disasm(r *Row) string {
	if r.Kind != RowInsn && r.Kind != RowBranch || r.Len == 0 {
		return ""
	}
	k := insnKey{r.IP, r.Space, r.at(), r.Mode}
	if s, ok := n.insns[k]; ok {
		return s
	}
	b := n.bytes(r)
	if len(b) == 0 || r.Mode == isa.ModeUnknown {
		return ""
	}
	steady := true
	s := n.s.Format(b, r.IP, r.Mode, func(addr uint64) (string, uint64) {
		p := n.at(r, addr)
		then, off, _, ok := n.s.Symbol(r.Space, addr, 0)
		steady = steady && ok == p.ok && then == p.sym && off == p.off
		if !p.ok || p.sym == "" {
			return "", 0
		}
		return p.sym, addr - p.off
	})
	if steady {
		if len(n.insns) >= maxInsns {
			clear(n.insns)
		}
		n.insns[k] = s
	}
	return s
}

// maxInsns is how many instructions' texts are kept.
const maxInsns = 1 << 16

// insnKey is an instruction in time.
type insnKey struct {
	ip    uint64
	space uint32
	at    event.Epoch
	mode  isa.Mode
}
