package decoder

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// agrees reports whether the trace cannot tell u, which was printed of stream i of s,
// from what was executed. It follows both from where the flow left what was executed
// up to where it came back, and from there on they are the same. What is ambiguous between
// is followed too. In both, each conditional branch must go the same way, and each indirect
// one to the same address.
// It asks what each instruction is, one after the other, and shares nothing else with
// what it judges. What was printed before anything was learned follows the code as it was
// then, so first is that code.
func (o *original) agrees(s *Session, first *code, i int, p *printed, u untruth) bool {
	if u.since == nil || u.until == nil || u.since.executed < 1 || u.until.executed < u.since.executed {
		return false
	}
	x, q := o.ran[i], &p.parts[u.part]
	from, to := *u.since, *u.until
	span := q.time // of all parts between
	for k := u.part; k >= 0 && p.parts[k].from >= from.printed; k-- {
		span.Lo = min(span.Lo, p.parts[k].time.Lo)
	}
	for k := u.part; k < len(p.parts) && p.parts[k].from <= to.printed; k++ {
		span.Hi = max(span.Hi, p.parts[k].time.Hi)
	}
	// What the unit has on its stack comes from calls since the sync point.
	sync := int64(0)
	if seg, ok := s.Streams()[i].Before(q.off + 1); ok {
		sync = seg.Off
	}
	ran, printed := 0, 0
	for _, a := range x.at {
		if a.off >= sync {
			ran = a.from
			break
		}
	}
	for k := range p.parts[:u.part+1] {
		if r := &p.parts[k]; r.off < sync || r.gap != nil {
			printed = r.from
			if k < u.part {
				printed = p.parts[k+1].from
			}
		}
	}
	truth := twinOf(o.session, o.session.code.Load(), i)
	truth.tells(span, x.ips[min(ran, from.executed-1):from.executed])
	told := truth.tells(span, x.ips[from.executed-1:to.executed+1])
	return slices.ContainsFunc([]*code{first, s.code.Load()}, func(c *code) bool {
		claim := twinOf(s, c, i)
		claim.tells(span, p.ips[min(printed, from.printed-1):from.printed])
		return slices.Equal(told, claim.tells(span, p.ips[from.printed-1:to.printed+1]))
	})
}

// alike says of each of list, which was printed of stream i of s, whether the trace
// cannot tell it from what was executed (agrees). What one leaves of the outcomes
// another may use up: then several in one run are alike together. first is the code of s
// before anything was learned.
func (o *original) alike(s *Session, first *code, i int, p *printed, list []untruth) []bool {
	const together = 8
	same := make([]bool, len(list))
	for k := range list {
		for j := k; j < min(k+together, len(list)) && !same[k] && !p.gapIn(list[k].part, list[j].part); j++ {
			u := list[k]
			u.until = list[j].until
			if o.agrees(s, first, i, p, u) {
				for n := k; n <= j; n++ {
					same[n] = true
				}
			}
		}
	}
	return same
}

// gapIn reports whether there is a gap among parts i to j.
func (p *printed) gapIn(i, j int) bool {
	return slices.ContainsFunc(p.parts[i:j+1], func(q part) bool { return q.gap != nil })
}

// maxCalls is how many return addresses a trace unit keeps (Intel SDM, volume 3C, "Indirect
// Transfer Compression for Returns").
const maxCalls = 64

// slowTwin says what the trace of a stream tells of instructions.
type slowTwin struct {
	s      *Session
	text   textView
	stream int
	calls  []uint64 // return addresses that the trace unit keeps, the newest last
}

// twinOf returns the twin of stream i of s whose code is c.
func twinOf(s *Session, c *code, i int) slowTwin {
	x := slowTwin{s: s, text: c.text, stream: i}
	x.text.holes = false // as the image has it
	return x
}

// insn reads the instruction at ip that the flow left for next about time t. It is the
// likeliest, unless another may have lain there within t, and that one alone leads to next.
func (x *slowTwin) insn(d isa.Decoder, m isa.Mode, ip, next uint64, t event.Time) (in isa.Insn, ok isa.Status) {
	b := make([]byte, d.MaxLen())
	leads := func(in *isa.Insn, at event.Epoch) (isa.Status, bool) {
		n, _ := x.text.Fetch(b, 0, ip, at)
		ok := d.Decode(in, b[:n], ip, m)
		switch fall := ip + uint64(in.Len); {
		case ok != isa.OK:
			return ok, false
		case in.Class == isa.Other:
			return ok, next == fall
		case in.Class == isa.Jump, in.Class == isa.Call:
			return ok, next == in.Target
		case in.Class == isa.Cond:
			return ok, next == in.Target || next == fall
		}
		return ok, true
	}
	likely, _ := x.text.Epochs(event.Time{Lo: t.Likely(), Hi: t.Likely()})
	ok, leadsThere := leads(&in, likely)
	if leadsThere {
		return in, ok
	}
	lo, hi := x.text.Epochs(t)
	for _, i := range x.text.Between(nil, ip, len(b), lo, hi) {
		for _, at := range []event.Epoch{event.Epoch(i), event.Epoch(i) + 1} {
			var other isa.Insn
			if ok, leadsThere := leads(&other, at); leadsThere {
				return other, ok
			}
		}
	}
	return in, ok
}

// tells is what a trace tells of the instructions of path, which ran about time t behind
// those of the path before. It tells a bit of a branch that has an outcome, and the address
// behind one whose target the code does not say. Where returns are compressed, one that goes
// behind its call has a bit.
func (x *slowTwin) tells(t event.Time, path []uint64) (told []uint64) {
	s, i := x.s, x.stream
	compressed := s.Streams()[i].Rules().Returns == isa.ReturnsCompressed
	st := s.Streams()[i]
	d, m, waypoints := s.instructions(st), st.FirstMode(isa.ModeUnknown), st.Rules().Waypoints
	for k, ip := range path[:len(path)-1] {
		next := path[k+1]
		in, ok := x.insn(d, m, ip, next, t)
		if ok != isa.OK {
			return append(told, ip, next)
		}
		fall := ip + uint64(in.Len)
		if waypoints.Has(in.Class) {
			bit := uint64(2) // an interrupt behind it: the path does not say which
			switch {
			case next == fall && in.Class == isa.Cond:
				bit = 0
			case next == fall, next == in.Target: // a barrier goes straight on and is executed
				bit = 1
			}
			told = append(told, bit)
		}
		switch in.Class {
		case isa.Call, isa.CallInd:
			if compressed && (in.Class == isa.CallInd || in.Target != fall) {
				if x.calls = append(x.calls, fall); len(x.calls) > maxCalls {
					x.calls = x.calls[1:]
				}
			}
		case isa.Return:
			if n := len(x.calls) - 1; n >= 0 {
				top := x.calls[n]
				if x.calls = x.calls[:n]; top == next {
					told = append(told, 1)
					continue
				}
			}
		}
		switch in.Class {
		case isa.Jump, isa.Call, isa.Cond:
			if next != in.Target && (next != fall || in.Class != isa.Cond) {
				told = append(told, ip, next) // an interrupt
			}
		default:
			if next != fall {
				told = append(told, next)
			}
		}
	}
	return told
}

// TestTells would catch a twin that does not know what a trace tells. Of all that the
// CPUs of a recording executed it must tell the very outcomes that its packets have.
func TestTells(t *testing.T) {
	for _, name := range []string{"kprobes", "ftrace"} {
		s := opened(t, Config{Recording: filepath.Join(dataDir(t), "kernel-pokes-x86", name, "perf.data")})
		tellsAll(t, name, s, flowed(t, s, prints{}))
	}
	for _, name := range armWindows() {
		o := readWindow(t, name)
		tellsAll(t, name, o.session, flowed(t, o.session, prints{}))
	}
}

// tellsAll holds what tells says of got, an exact flow of s, against the packets.
func tellsAll(t *testing.T, name string, s *Session, got prints) {
	for i, st := range s.Streams() {
		var want, told []uint64
		for e := range stream.Events(st, false) {
			for k := range e.N {
				want = append(want, e.Value>>(63-k)&1)
			}
		}
		p := got[i]
		x := twinOf(s, s.code.Load(), i)
		for k := range p.parts {
			to := len(p.ips)
			if k+1 < len(p.parts) {
				to = p.parts[k+1].from + 1
			}
			if seg, ok := st.Before(p.parts[k].off + 1); ok && seg.Off > p.parts[max(k-1, 0)].off {
				x.calls = x.calls[:0] // a sync point empties the trace unit's stack
			}
			for _, bit := range x.tells(p.parts[k].time, p.ips[p.parts[k].from:to]) {
				switch {
				case bit == 2 && len(told) < len(want):
					told = append(told, want[len(told)])
				case bit < 2:
					told = append(told, bit)
				}
			}
		}
		if n := len(told); n < len(want)-1 || !slices.Equal(told, want[:min(n, len(want))]) { // what the last instruction told is not asked
			t.Errorf("%s: stream %d: %d outcomes told, %d in the packets, or others", name, i, len(told), len(want))
		}
	}
}
