package decoder

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
)

// alikeTwin follows two flows, an instruction at a time: what was claimed, and what a
// simulated CPU executed. Where the code is wrong and both come to the same packets and
// then to the same place, no decoder can tell them apart.
type alikeTwin struct {
	code  func(dst []byte, addr uint64, at event.Epoch) int // what the decoder read; nil: only stated is asked
	codes []sim.Code                                        // what CPUs fetched
	// stated says whether the packets agree with claim i of got up to an address behind it that one
	// states; nil: that is not asked.
	stated func(got []step, i int) bool
}

// maxBefore is how far before a claim it is looked for an event from which on packets agree,
// instructions.
const maxBefore = 1 << 10

// statedAt is stated, if that is asked.
func (w *alikeTwin) statedAt(got []step, i int) bool { return w.stated != nil && w.stated(got, i) }

// statedBy returns alikeTwin.stated for the flow of a stream with these packets.
func (w *alikeTwin) statedBy(packets *packetTwin) func(got []step, i int) bool {
	follow := func(got []step, from, to int) int {
		path := make([]uint64, 0, to-from)
		for _, x := range got[from:to] {
			path = append(path, x.ip)
		}
		var b [16]byte
		var gap *event.Gap
		if to < len(got) {
			gap = got[to].gap
		}
		return from + packets.follow(path, got[from].off, gap, func(k int, _ uint64) []isa.Insn {
			var in isa.Insn
			n := w.code(b[:], path[k], got[from+k].at)
			if (x86.Decoder{}).Decode(&in, b[:n], path[k], got[from+k].mode) != isa.OK {
				return nil
			}
			return []isa.Insn{in}
		})
	}
	begin, agree := -1, 0 // of the stretch looked at last
	return func(got []step, i int) bool {
		packets.left = maxSteps
		from, end := i, i
		for ; from > 0 && got[from-1].gap == nil; from-- {
		}
		for ; end < len(got) && got[end].gap == nil; end++ {
		}
		if begin != from {
			begin, agree = from, follow(got, from, end)
		}
		if agree > i {
			return true
		}
		for n := max(from+1, i-maxBefore); n <= i; n++ {
			if got[n].off != got[n-1].off && follow(got, n, end) > i {
				return true
			}
		}
		return false
	}
}

// fact is what a trace tells of one instruction: an outcome, or where the flow went.
type fact struct {
	kind byte
	a, b uint64
}

// The kinds of facts.
const (
	factOutcome byte = iota // a: taken
	factTarget              // of an indirect jump or call: a
	factReturn              // to a; with a return stack the trace may tell an outcome in its place
	factSeam                // a transfer from a to b that no code made
	factUnread              // nothing is known of the instruction at a
)

// factOf returns what a trace tells of in, which is at ip and is followed by what is at
// next; none if the code alone leads there.
func factOf(in *isa.Insn, ip, next uint64) (f fact, some bool) {
	fall := ip + uint64(in.Len)
	switch in.Class {
	case isa.Cond:
		switch next {
		case fall:
			return fact{factOutcome, 0, 0}, true
		case in.Target:
			return fact{factOutcome, 1, 0}, true
		}
		return fact{factSeam, ip, next}, true // an interrupt behind it: the flow does not say which way it went
	case isa.Jump, isa.Call:
		fall = in.Target
	case isa.JumpInd, isa.CallInd:
		return fact{factTarget, next, 0}, true
	case isa.Return:
		return fact{factReturn, next, 0}, true
	case isa.Other:
	default:
		return fact{factSeam, ip, next}, true
	}
	if next == fall {
		return fact{}, false
	}
	return fact{factSeam, fall, next}, true
}

// course is one of the two flows.
type course struct {
	ip    func(i int) (uint64, bool) // of instruction i; false: there is none
	bytes func(i int) []byte
	at    int
	depth int // calls that have not returned
}

// footing is where a flow is, and how deep in calls.
type footing struct {
	ip    uint64
	depth int
}

// group is the instructions that a flow comes to with no fact between, and the fact that
// follows them.
type group struct {
	list []footing
	from int // index of the first
	told fact
	ends bool // nothing is known of what follows
}

// maxGroup bounds a group, instructions.
const maxGroup = 1 << 12

// group takes l to behind its next fact.
func (l *course) group() (g group) {
	g.from = l.at
	for len(g.list) < maxGroup {
		ip, ok := l.ip(l.at)
		if !ok {
			break
		}
		g.list = append(g.list, footing{ip, l.depth})
		next, ok := l.ip(l.at + 1)
		if !ok {
			break
		}
		var in isa.Insn
		if (x86.Decoder{}).Decode(&in, l.bytes(l.at), ip, isa.Mode64) != isa.OK {
			break
		}
		l.at++
		switch in.Class {
		case isa.Call, isa.CallInd:
			l.depth++
		case isa.Return:
			l.depth--
		}
		if f, some := factOf(&in, ip, next); some {
			g.told = f
			return g
		}
	}
	g.ends = true
	return g
}

// meets returns how far into two groups the first place lies that both hold. The places
// with which they begin count if first is set.
func (g *group) meets(o *group, first bool) (i, k int, ok bool) {
	at := map[footing]int{}
	for k, x := range o.list {
		if _, have := at[x]; !have && (first || k > 0) {
			at[x] = k
		}
	}
	for i, x := range g.list {
		if k, have := at[x]; have && (first || i > 0) {
			return i, k, true
		}
	}
	return 0, 0, false
}

// maxFacts bounds for how long two flows are followed, facts.
const maxFacts = 1 << 12

// alike reports whether the trace cannot tell what got claims from i on, up to end at
// most, from what ran from want[k] on. The instructions before these were the same ones.
// Both flows are at one place again n instructions further on in got, m in want.
func (w *alikeTwin) alike(got []step, i, end int, want []sim.Retired, k int) (n, m int, ok bool) {
	if i == 0 || k == 0 || w.code == nil {
		return 0, 0, false
	}
	var buf [16]byte
	a := course{at: i - 1,
		ip: func(i int) (uint64, bool) {
			switch {
			case i < end:
				return got[i].ip, true
			case i == end && i < len(got) && got[i].gap != nil && got[i].gap.Reason == event.NoText:
				return got[i].gap.IP, true // where the trace has the flow go on, in code that is not known
			}
			return 0, false
		},
		bytes: func(i int) []byte {
			if i == end {
				return nil
			}
			return buf[:w.code(buf[:], got[i].ip, got[i].at)]
		},
	}
	b := course{at: k - 1,
		ip: func(k int) (uint64, bool) {
			if k >= len(want) {
				return 0, false
			}
			return want[k].IP, true
		},
		bytes: func(k int) []byte { return w.codes[want[k].Code].Fetched() },
	}
	for f := range maxFacts {
		x, y := a.group(), b.group()
		if p, q, ok := x.meets(&y, f > 0); ok {
			return x.from + p - i, y.from + q - k, true
		}
		if x.ends || y.ends || x.told != y.told {
			return 0, 0, false
		}
	}
	return 0, 0, false
}

// follow is alike for flows that may part and meet more than once. It goes on until they meet
// at claim to or behind it, at next and at.
func (w *alikeTwin) follow(got []step, i, to, end int, want []sim.Retired, k int) (next, at int, ok bool) {
	for {
		for i < to && k < len(want) && got[i].ip == want[k].IP {
			i, k = i+1, k+1
		}
		n, m, ok := w.alike(got, i, end, want, k)
		if i, k = i+n, k+m; !ok || i >= to {
			return i, k, ok
		}
	}
}

// TestAlikeTwin would catch wrong claims that are said to be beyond any decoder although
// the trace tells them, and the reverse. A jump that was a NOP leads around code with a
// branch, with a call, or with nothing that the trace tells of.
func TestAlikeTwin(t *testing.T) {
	code := map[uint64]string{
		0x10: "\xeb\x0e",               // jmp 20; what ran is a nop of two bytes
		0x12: "\x90", 0x13: "\xeb\x0b", // nop; jmp 20
		0x20: "\x90", 0x21: "\x74\x0d", // nop; je 30
		0x23: "\x74\x0b", // je 30
		0x30: "\x90",
		0x40: "\xeb\x0e", 0x42: "\x74\x0c", // jmp 50; je 50
		0x44: "\xeb\x0a", 0x50: "\x90",
	}
	read := func(dst []byte, addr uint64, _ event.Epoch) int { return copy(dst, code[addr]) }
	for _, c := range []struct {
		name      string
		got, want []uint64
		n, m      int
		ok        bool
	}{
		{"nothing told between", []uint64{0x10, 0x20, 0x21}, []uint64{0x10, 0x12, 0x13, 0x20, 0x21}, 0, 2, true},
		{"an outcome between", []uint64{0x40, 0x50}, []uint64{0x40, 0x42, 0x44, 0x50}, 0, 0, false},
		{"the same outcome elsewhere", []uint64{0x20, 0x21, 0x30}, []uint64{0x20, 0x23, 0x30}, 1, 1, true},
		{"another outcome", []uint64{0x20, 0x21, 0x23, 0x30}, []uint64{0x20, 0x23, 0x30}, 0, 0, false},
		{"no place in common", []uint64{0x20, 0x21, 0x30}, []uint64{0x20, 0x23}, 0, 0, false},
	} {
		var w alikeTwin
		w.code = read
		var got []step
		var want []sim.Retired
		for _, ip := range c.got {
			got = append(got, step{ip: ip, v: flow.Certain})
		}
		for i, ip := range c.want {
			x := sim.Code{IP: ip}
			b := code[ip]
			if i == 0 { // what ran there
				b = map[uint64]string{0x10: "\x66\x90", 0x20: "\xeb\x01", 0x40: "\x66\x90"}[ip]
			}
			x.Len = uint8(copy(x.Bytes[:], b))
			w.codes = append(w.codes, x)
			want = append(want, sim.Retired{IP: ip, Code: uint32(i)})
		}
		if n, m, ok := w.alike(got, 1, len(got), want, 1); n != c.n || m != c.m || ok != c.ok {
			t.Errorf("%s: %d, %d, %v; want %d, %d, %v", c.name, n, m, ok, c.n, c.m, c.ok)
		}
	}
}
