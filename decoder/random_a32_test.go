package decoder

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore"
)

// A32 and T32 programs made at random, executed, traced by units that write
// PTM and ETMv3, and decoded again.

// spot is where an instruction starts, and in which instruction set.
type spot struct {
	ip   uint64
	mode isa.Mode
}

func (s spot) String() string { return fmt.Sprintf("%x/%v", s.ip, s.mode) }

// program is code at random: a stretch of A32 and one of T32.
type program struct {
	r      *rand.Rand
	text   []sim.Piece
	starts []spot // where branches may go
	dec    isa.Decoder
}

const (
	baseA32 = 0x10000
	baseT32 = 0x18000
)

// plainA32 and plainT32 are instructions without a static target.
var (
	plainA32 = []uint32{
		0xe1a00000, 0xe2800001, 0x12800001, 0x03a00000, 0xe5910000, 0xe320f000, // moves, adds, loads, nop
		0xe12fff1e, 0x012fff1e, 0xe12fff11, 0xe12fff33, 0xe8bd8010, 0x18bd8010, 0xe59ff010, 0xe1a0f00e, // bx, blx, pops, ldr pc, mov pc
		0xe25ef004, 0xf8bd0a00, 0xf57ff06f, 0xf57ff05f, 0xef000000, 0x0f000000, 0xe320f003, // subs pc, rfe, isb, dmb, svc, wfi
	}
	plainT32 = []uint32{
		0x2001, 0x3101, 0x6808, 0xbf00, 0xf8d11000, 0xf04f0001,
		0x4770, 0x4708, 0x4798, 0xbd10, 0xe8d0f001, 0xf85dfb04, 0x46f7,
		0xf3de8f04, 0xe9bdc000, 0xf3bf8f6f, 0xf3bf8f5f, 0xdf00, 0xbf30,
	}
)

// newProgram makes a program of n instructions in each set.
func newProgram(r *rand.Rand, n int) *program {
	p := &program{r: r, dec: stream.ForMode(isa.ModeA64).Decoder}
	var a, b []byte
	for i := range n {
		w := plainA32[r.IntN(len(plainA32))]
		d := uint32(r.IntN(n)-i-2) & 0xffffff // words
		switch r.IntN(8) {
		case 0:
			w = 0xea000000 | d
		case 1, 2:
			w = uint32(r.IntN(14))<<28 | 0x0a000000 | d
		case 3:
			w = uint32(r.IntN(15))<<28 | 0x0b000000 | d
		case 4: // BLX to T32, at one of its first instructions
			w = 0xfa000000 | uint32((baseT32-baseA32)/4-i-2+2*r.IntN(n/4))&0xffffff
		}
		p.starts = append(p.starts, spot{baseA32 + uint64(len(a)), isa.ModeA32})
		a = binary.LittleEndian.AppendUint32(a, w)
	}
	half := func(w uint32) { b = binary.LittleEndian.AppendUint16(b, uint16(w)) }
	for i := range n {
		// T32 is in units of eight bytes, so that targets need no second look.
		p.starts = append(p.starts, spot{baseT32 + uint64(len(b)), isa.ModeT32})
		for end := 8 * (i + 1); len(b) < end; {
			room := end - len(b)
			d := (r.IntN(n)-i)*8 - len(b)%8 // bytes to the start of a unit
			w := plainT32[r.IntN(len(plainT32))]
			switch k := r.IntN(10); {
			case room >= 6 && k == 0: // IT and what it governs
				half(0xbf08 | uint32(r.IntN(14))<<4)
				if w>>16 != 0 || w == 0xbf00 || w>>12 == 0xd {
					w = 0x2001
				}
				half(w)
				continue
			case k == 1 && d >= -250 && d < 250:
				w = 0xd000 | uint32(r.IntN(14))<<8 | uint32(d-4)>>1&0xff
			case k == 2:
				w = 0xe000 | uint32(d-4)>>1&0x7ff
			case k == 3 && d >= 4 && d < 120:
				w = 0xb100 | uint32(d-4)>>1&0x1f<<3 | uint32(d-4)>>6&1<<9
			case k <= 5 && room >= 4: // BL
				o := uint32(d - 4)
				s := o >> 31
				w = 0xf000d000 | s<<26 | o>>12&0x3ff<<16 | (1^o>>23&1^s)<<13 | (1^o>>22&1^s)<<11 | o>>1&0x7ff
			}
			if w>>16 != 0 {
				if room < 4 {
					w = 0xbf00
				} else {
					half(w >> 16)
				}
			}
			half(w)
		}
	}
	p.text = []sim.Piece{{Addr: baseA32, Bytes: a}, {Addr: baseT32, Bytes: b}}
	return p
}

// at returns the instruction at l; ok is false outside of the program. governs:
// it is an IT whose condition the next instruction has.
func (p *program) at(l spot) (in isa.Insn, governs, ok bool) {
	for _, t := range p.text {
		if l.ip >= t.Addr && l.ip < t.Addr+uint64(len(t.Bytes)) {
			b := t.Bytes[l.ip-t.Addr:]
			ok = p.dec.Decode(&in, b, l.ip, l.mode) == isa.OK
			governs = l.mode == isa.ModeT32 && b[1] == 0xbf && b[0]&0xf != 0
		}
	}
	return in, governs, ok
}

// traceUnit writes what a CPU executes.
type traceUnit interface {
	// on starts tracing at l, for a reason as an I-sync has it.
	on(l spot, why int)
	// ran tells of an instruction that was executed: whether it passed its
	// condition, when, and where the CPU went.
	ran(l spot, in *isa.Insn, passed bool, at uint64, next spot)
	// exception tells that an exception of that number leads to a vector, before
	// the instruction at from; undone: the last instruction told did not complete.
	exception(from spot, number uint16, undone bool, vector spot)
	// off ends tracing: what it holds back comes out.
	off()
	// tick asks for a timestamp, of now or before, ticks.
	tick(now uint64)
	// sync asks for a sync point.
	sync()
	// traced returns how many of the instructions told the trace can show.
	traced() int
}

// ranSpot is an instruction executed, and when, ticks.
type ranSpot struct {
	spot
	at uint64
}

// execute runs p for n instructions under u and returns what the trace can show.
func (p *program) execute(n int, u traceUnit, perInsn bool) (list []ranSpot) {
	r := p.r
	var calls []spot
	any := func() spot { return p.starts[r.IntN(len(p.starts))] }
	l, now := any(), uint64(1000)
	u.on(l, 1)
	from := 0 // of the stretch traced
	governed := false
	for range n {
		now += uint64(r.IntN(5))
		if r.IntN(40) == 0 {
			u.tick(now)
		}
		if r.IntN(60) == 0 {
			u.sync()
		}
		in, governs, ok := p.at(l)
		mayFail := governed || in.Class == isa.Cond || in.Flags&isa.FlagConditional != 0
		governed = governs
		if !ok || r.IntN(300) == 0 { // ran off, or tracing ends
			u.off()
			list, from = list[:from+u.traced()], from+u.traced()
			l, governed = any(), false
			u.on(l, 1+r.IntN(3))
			continue
		}
		vector := spot{baseA32 + 4*uint64(r.IntN(8)), isa.ModeA32}
		if r.IntN(70) == 0 {
			u.exception(l, 14, false, vector)
			l, governed = vector, false
			continue
		}
		passed := r.IntN(3) > 0 || !mayFail
		next := spot{l.ip + uint64(in.Len), l.mode}
		after := next
		switch {
		case !passed:
		case in.Class == isa.Call || in.Class == isa.CallInd:
			calls = append(calls, after)
			fallthrough
		case in.Class == isa.Jump || in.Class == isa.Cond:
			if next = (spot{in.Target, l.mode}); in.Class == isa.CallInd {
				next = any()
			} else if in.Flags&isa.FlagInterwork != 0 {
				next.mode = isa.ModeA32 + isa.ModeT32 - l.mode
			}
		case in.Class == isa.Return && len(calls) > 0 && r.IntN(8) > 0:
			next, calls = calls[len(calls)-1], calls[:len(calls)-1]
		case in.Class == isa.Return || in.Class == isa.JumpInd || in.Class == isa.FarReturn:
			next = any()
		}
		undone := perInsn && in.Class == isa.Other && r.IntN(60) == 0
		u.ran(l, &in, passed, now, next)
		if !undone {
			list = append(list, ranSpot{l, now})
		}
		switch {
		case undone:
			u.exception(l, 12, true, vector)
			next = vector
		case passed && in.Class == isa.Syscall:
			u.exception(after, 10, false, vector)
			next = vector
		}
		governed = governed && next == after
		l = next
	}
	u.off()
	return list[:from+u.traced()]
}

// showed is a Sink that keeps what it is given, instruction by instruction.
type showed struct {
	list []spot
	when []event.Time
	gaps []string
}

func (s *showed) Flow(b *flow.Batch) error {
	for i := range b.Ranges {
		x := &b.Ranges[i]
		ip := x.Block.Addr
		for _, n := range x.Block.Lens[:x.N] {
			s.list = append(s.list, spot{ip, x.Block.Mode})
			s.when = append(s.when, b.Stamps[x.Stamp].Time)
			ip += uint64(n)
		}
	}
	for i := range b.Notes {
		if n := &b.Notes[i]; n.Kind == flow.NoteGap && n.Gap.Reason != event.OverflowGap {
			s.gaps = append(s.gaps, n.Gap.Error())
		}
	}
	return nil
}

// compare decodes segments and says how what is shown differs from the truth.
func (p *program) compare(t *testing.T, want []ranSpot, rules isa.Rules, segs []event.Segment, src stream.Decoder) error {
	t.Helper()
	img, err := sim.NewImage(p.text)
	if err != nil {
		t.Fatal(err)
	}
	j, err := kcore.NewJournal(nil)
	if err != nil {
		t.Fatal(err)
	}
	w := flow.NewWalker(textView{Text: kcore.NewText(j, img, kcore.TextOptions{})}, flow.NewCache(),
		flow.Config{ISA: p.dec, Rules: rules, Mode: isa.ModeA32})
	var got showed
	for _, s := range segs {
		src.Reset(s)
		if err := w.Run(src, &got); err != nil {
			t.Fatal(err)
		}
	}
	for i := range max(len(want), len(got.list)) {
		switch {
		case i >= len(want) || i >= len(got.list) || want[i].spot != got.list[i]:
			return fmt.Errorf("instruction %d: shown %v, executed %v; %d of %d shown, gaps %v", i,
				got.list[min(i, len(got.list)):min(i+3, len(got.list))], want[min(i, len(want)):min(i+3, len(want))], len(got.list), len(want), got.gaps)
		case want[i].at < got.when[i].Lo || want[i].at > got.when[i].Hi:
			return fmt.Errorf("instruction %d at %x was executed at %d, shown in %+v", i, want[i].ip, want[i].at, got.when[i])
		}
	}
	if len(got.gaps) > 0 {
		return fmt.Errorf("gaps: %v", got.gaps)
	}
	return nil
}
