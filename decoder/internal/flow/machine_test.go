package flow

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
)

// machine executes a random program and tells it as a trace unit would. What
// it executes is the truth.
type machine struct {
	r      *rand.Rand
	text   testText
	starts []uint64 // of instructions
	bias   map[uint64]int

	ip    uint64
	time  uint64
	stack []uint64 // the trace unit's
	calls []uint64 // the program's
	bits  []bool   // not told yet
	late  *event.Event
	runs  int    // instructions executed in a row since the latest outcome or event
	jumps int    // jumps among them
	keep  int    // how many of ips lie before the latest outcome or event
	most  int    // outcomes an event holds
	armed bool   // every branch spends an outcome, as in ETMv4; else the rules are Intel PT's
	depth int    // of the trace unit's stack
	epoch uint64 // pokes so far
	limit uint64 // code from here on is filtered out; 0: nothing is
	falls bool   // the flow may run across limit, and tracing ends there
	ips   []uint64
	evs   []event.Event
}

const machineBase = 0x1000

// newMachine makes a program of n instructions.
func newMachine(seed uint64, n int) *machine {
	r := rand.New(rand.NewPCG(seed, 7))
	m := &machine{r: r, bias: map[uint64]int{}, most: 1 + r.IntN(64), depth: 64}
	forms := []string{
		"\x90", "\x90", "\x0f\x1f\x40\x00", "\x48\x89\xc3", // go on
		"\x74\x00", "\x75\x00", "\x0f\x84\x00\x00\x00\x00", "\x0f\x85\x00\x00\x00\x00", "\x74\x00", // Jcc
		"\xe9\x00\x00\x00\x00", "\xe8\x00\x00\x00\x00", "\xe8\x00\x00\x00\x00", // jmp, call
		"\xc3", "\xc3", "\xff\xe0", "\xff\xd0", // ret, jmp *rax, call *rax
	}
	kinds := make([]string, n)
	at := uint64(machineBase)
	for i := range kinds {
		kinds[i] = forms[r.IntN(len(forms))]
		m.starts = append(m.starts, at)
		at += uint64(len(kinds[i]))
	}
	kinds = append(kinds, "\xff\xe0") // so that nothing runs off the end
	m.starts = append(m.starts, at)
	var b []byte
	for _, k := range kinds {
		b = append(b, k...)
		here := machineBase + len(b)
		switch to := m.starts[r.IntN(len(m.starts))]; k[0] {
		case 0x74, 0x75:
			// A target in reach, most of them backwards: loops.
			for d := int(to) - here; ; d = int(m.starts[r.IntN(len(m.starts))]) - here {
				if d >= -128 && d < 128 {
					b[len(b)-1] = byte(d)
					break
				}
				if r.IntN(50) == 0 {
					break
				}
			}
		case 0xe9, 0xe8, 0x0f:
			if k[1] != 0x1f && r.IntN(20) != 0 { // else: to the next instruction
				binary.LittleEndian.PutUint32(b[len(b)-4:], uint32(int(to)-here))
			}
		}
	}
	m.text = testText{addr: machineBase, bytes: b}
	return m
}

func (m *machine) any() uint64 { return m.starts[m.r.IntN(len(m.starts))] }

// filter makes the trace unit leave out the code from an address on: behind a
// branch that is always taken, so that nothing runs across the edge, or anywhere.
func (m *machine) filter() {
	if m.falls = m.r.IntN(2) == 0; m.falls {
		n := len(m.starts)
		m.limit = m.starts[n/2+m.r.IntN(n-n/2)]
		return
	}
	for i := len(m.starts) / 2; i < len(m.starts); i++ {
		switch before := m.text.cut(m.starts[i-1], 2, 0); before[0] {
		case 0xe9, 0xc3:
			m.limit = m.starts[i]
		case 0xff:
			if before[1] == 0xe0 {
				m.limit = m.starts[i]
			}
		}
		if m.limit != 0 {
			return
		}
	}
}

// in reports whether code at ip is traced.
func (m *machine) in(ip uint64) bool { return m.limit == 0 || ip < m.limit }

// inside is any start of an instruction that is traced.
func (m *machine) inside() uint64 {
	for {
		if a := m.any(); m.in(a) {
			return a
		}
	}
}

// leave ends tracing at a branch to ip, which is not traced. outcome: the branch
// has one, which is told if others wait. stated: the end states ip.
// Intel SDM, volume 3C, section "Packet Generation Disable (TIP.PGD)".
func (m *machine) leave(ip uint64, outcome, stated bool) {
	if outcome && len(m.bits) > 0 {
		m.bits = append(m.bits, true)
	}
	m.flush()
	e := event.Event{Kind: event.Disable}
	if stated {
		e.Flags, e.IP = event.FlagIP, ip
	}
	m.tell(e)
	m.enable()
}

// tell adds an event.
func (m *machine) tell(e event.Event) {
	m.time += 10
	e.Time = event.Time{Lo: m.time, Hi: m.time + 5}
	e.Off = int64(len(m.evs))
	m.evs = append(m.evs, e)
}

// settle notes that the trace says how the flow came here.
func (m *machine) settle() { m.runs, m.jumps, m.keep = 0, 0, len(m.ips) }

// flush tells the outcomes gathered, and the target that waited behind them. No timing packet lies between.
func (m *machine) flush() {
	if len(m.bits) > 0 {
		e := event.Event{Kind: event.Outcomes, N: uint8(len(m.bits))}
		for i, b := range m.bits {
			if b {
				e.Value |= 1 << (63 - i)
			}
		}
		m.bits = m.bits[:0]
		m.tell(e)
	}
	if m.late != nil {
		m.tell(*m.late)
		n := len(m.evs)
		m.evs[n-1].Time, m.late = m.evs[n-2].Time, nil
	}
}

// outcome gathers one.
func (m *machine) outcome(b bool) {
	m.bits = append(m.bits, b)
	m.settle()
	if len(m.bits) >= m.most || m.r.IntN(100) == 0 {
		m.flush()
	}
}

// land tells the target of an indirect branch, now or behind later outcomes.
func (m *machine) land(ip uint64) {
	m.ip = ip
	if m.late != nil {
		m.flush()
	}
	if len(m.bits) > 0 && m.r.IntN(3) == 0 {
		e := to(ip)
		m.late = &e
		m.settle()
		return
	}
	m.flush()
	m.tell(to(ip))
	m.settle()
}

// run executes about n instructions. It is over early if the program loops
// without a branch that the trace tells.
func (m *machine) run(n int) {
	m.ip = m.inside()
	m.tell(syncAt(m.ip))
	for len(m.ips) < n && m.runs < 200 {
		if m.jumps == 0 && m.runs < 5 && m.r.IntN(100) == 0 {
			m.disturb()
		}
		m.execute()
	}
	m.ips = m.ips[:m.keep]
	m.flush()
	m.tell(end())
}

// disturb tells something that stands between branches.
func (m *machine) disturb() {
	m.flush()
	switch m.r.IntN(5) {
	case 0:
		next := m.inside()
		m.tell(async(m.ip, next))
		m.ip = next
	case 1:
		m.tell(event.Event{Kind: event.Status, Flags: event.FlagIP, IP: m.ip})
	case 2:
		e := syncAt(m.ip)
		e.Flags |= event.FlagRestated
		m.tell(e)
		m.stack = nil
	case 3:
		m.tell(event.Event{Kind: event.Payload, Detail: event.DetailCBR})
		return // it may stand anywhere
	case 4:
		m.tell(event.Event{Kind: event.AsyncDisable, From: m.ip})
		m.enable()
	}
	m.settle()
}

// enable starts tracing again; meanwhile text may have been poked.
func (m *machine) enable() {
	if m.r.IntN(2) == 0 {
		m.poke()
	}
	m.ip = m.inside()
	m.tell(event.Event{Kind: event.Enable, Flags: event.FlagIP, IP: m.ip})
	m.settle()
}

// poke changes one short Jcc to its opposite, a NOP to another instruction, or
// a long NOP to a jump and back.
func (m *machine) poke() {
	a := m.any()
	old := m.text.cut(a, 2, event.Epoch(m.epoch))
	change := ""
	switch old[0] {
	case 0x74, 0x75:
		old, change = old[:1], string([]byte{old[0] ^ 1})
	case 0x90, 0xf8:
		old, change = old[:1], string([]byte{old[0] ^ 0x90 ^ 0xf8})
	case 0x0f:
		d := int(m.any()) - int(a) - 2
		if old[1] != 0x1f || d < -128 || d > 127 {
			return
		}
		change = string([]byte{0xeb, byte(d)})
	case 0xeb:
		change = "\x0f\x1f"
	default:
		return
	}
	m.time += 20
	m.text.pokes = append(m.text.pokes, testPoke{addr: a, old: old, new: change, time: m.time, batch: len(m.text.pokes)})
	m.epoch++
}

// execute executes the instruction at ip.
func (m *machine) execute() {
	var in isa.Insn
	x86.Decoder{}.Decode(&in, []byte(m.text.cut(m.ip, 15, event.Epoch(m.epoch))), m.ip, isa.Mode64)
	here, next := m.ip, m.ip+uint64(in.Len)
	m.ips = append(m.ips, here)
	m.runs++
	m.ip = next
	if m.armed && in.Class != isa.Cond {
		m.waypoint(&in, next)
		return
	}
	switch in.Class {
	case isa.Cond:
		if _, ok := m.bias[here]; !ok {
			m.bias[here] = []int{0, 2, 50, 95, 98, 100}[m.r.IntN(6)]
		}
		taken := m.r.IntN(100) < m.bias[here]
		if taken {
			if m.ip = in.Target; !m.in(m.ip) {
				m.leave(m.ip, true, false)
				return
			}
		}
		if taken || !m.falls || m.in(next) || len(m.bits) > 0 {
			m.outcome(taken)
		}
	case isa.Call:
		if !m.in(in.Target) {
			m.leave(in.Target, false, m.r.IntN(4) != 0) // not: erratum SKL014
			return
		}
		m.jumps++
		m.calls = append(m.calls, next)
		if in.Target != next {
			m.push(next)
		}
		m.ip = in.Target
	case isa.Jump:
		if !m.in(in.Target) {
			m.leave(in.Target, false, m.r.IntN(4) != 0)
			return
		}
		m.jumps++
		m.ip = in.Target
	case isa.Return:
		m.ret()
	case isa.JumpInd, isa.CallInd:
		if in.Class == isa.JumpInd && m.r.IntN(20) == 0 {
			m.flush()
			m.tell(event.Event{Kind: event.Disable})
			m.enable()
			return
		}
		to := m.any()
		if m.r.IntN(4) != 0 {
			to = m.starts[int(here)%len(m.starts)] // mostly the same
		}
		if !m.in(to) {
			m.leave(to, false, true)
			return
		}
		if in.Class == isa.CallInd {
			m.calls = append(m.calls, next)
			m.push(next)
		}
		m.land(to)
	}
	if m.falls && m.ip == next && !m.in(next) {
		m.leave(next, false, true)
	}
}

// waypoint executes in as ETMv4 tells it; next lies behind it.
func (m *machine) waypoint(in *isa.Insn, next uint64) {
	switch in.Class {
	case isa.Jump, isa.Call:
		m.ip = in.Target
	case isa.JumpInd, isa.CallInd, isa.Return:
		m.ip = m.any()
		if n := len(m.calls); in.Class == isa.Return && n > 0 && m.r.IntN(20) != 0 {
			m.ip, m.calls = m.calls[n-1], m.calls[:n-1]
		}
	default:
		return
	}
	if in.Class == isa.Call || in.Class == isa.CallInd {
		m.calls = append(m.calls, next)
		m.push(next)
	}
	m.outcome(true)
	if in.Class == isa.Jump || in.Class == isa.Call {
		return
	}
	if n := len(m.stack); n > 0 && m.stack[n-1] == m.ip {
		m.stack = m.stack[:n-1]
		return
	}
	m.flush()
	if m.r.IntN(30) == 0 {
		m.tell(event.Event{Kind: event.Payload, Detail: event.DetailCBR})
	}
	m.tell(to(m.ip))
}

// push puts a return address on the trace unit's stack.
func (m *machine) push(ip uint64) {
	if m.stack = append(m.stack, ip); len(m.stack) > m.depth {
		m.stack = m.stack[1:]
	}
}

// ret returns to where the program was called from, mostly.
func (m *machine) ret() {
	to := m.any()
	if n := len(m.calls); n > 0 && m.r.IntN(20) != 0 {
		to, m.calls = m.calls[n-1], m.calls[:n-1]
	}
	if n := len(m.stack); n > 0 {
		top := m.stack[n-1]
		m.stack = m.stack[:n-1]
		if top == to && m.r.IntN(8) != 0 {
			if m.ip = to; !m.in(to) {
				m.leave(to, true, false)
				return
			}
			m.outcome(true)
			return
		}
	}
	m.flush() // an outcome in hand would be this return's
	if !m.in(to) {
		m.leave(to, false, true)
		return
	}
	m.land(to)
}
