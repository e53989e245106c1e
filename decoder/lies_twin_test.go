package decoder

import (
	"maps"
	"path/filepath"
	"slices"
	"sort"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// passage is an instruction that ran, or that is said to have: about when, and in what code.
type passage struct {
	ip   uint64
	time event.Time
	code *code
	sync bool // the first behind a sync point
}

// syncsOf lists the offsets of the sync points of st at which a decoder can begin, bytes.
func syncsOf(st *Stream) (list []int64) {
	for seg := range st.Segments() {
		list = append(list, seg.Off)
	}
	return list
}

// steps is instructions [from, to) of what was executed in code c.
func (x *executed) steps(c *code, from, to int) []passage {
	start := func(k int) int { return x.at[k].from }
	return stepsOf(from, min(to, len(x.ips)), len(x.at), start, func(n, k int) passage {
		sync := k > 0 && x.at[k].from == n && countBetween(x.syncs, x.at[k-1].off+1, x.at[k].off+1) > 0
		return passage{x.ips[n], x.times[max(k, 0)], c, sync}
	})
}

// steps is instructions [from, to) of p.
func (p *printed) steps(from, to int) []passage {
	start := func(k int) int { return p.parts[k].from }
	return stepsOf(from, min(to, len(p.ips)), len(p.parts), start, func(n, k int) passage {
		sync := k > 0 && p.parts[k].from == n && countBetween(p.syncs, p.parts[k-1].off+1, p.parts[k].off+1) > 0
		return passage{p.ips[n], p.parts[k].time, p.parts[k].code, sync}
	})
}

// stepsOf is instructions [from, to) of what comes in parts: each with its number and that of its part, which start
// tells apart.
func stepsOf(from, to, parts int, start func(part int) int, step func(n, part int) passage) (list []passage) {
	k := sort.Search(parts, func(i int) bool { return start(i) > from }) - 1
	for n := from; n < to; n++ {
		for k+1 < parts && start(k+1) <= n {
			k++
		}
		list = append(list, step(n, k))
	}
	return list
}

// maxVersions is how many ways to read instructions a twin tries for one row. A row of more
// is not alike.
const maxVersions = 1 << 16

// slowTwin says what the trace of a stream tells of instructions.
type slowTwin struct {
	d          isa.Decoder
	m          isa.Mode
	waypoints  isa.ClassSet
	compressed bool
	byOutcome  bool         // an indirect branch to the newest return address is told by its outcome alone
	keeps      int          // return addresses at most
	calls      []uint64     // return addresses that the trace unit keeps, the newest last
	code       *code        // that was read last
	passed     map[int]bool // pokes of it whose new code, or newer one, was read
	meets      *[]uint64    // what calls must be at the end of a path that is followed; nil: anything
	left       *int         // how many more versions may be tried
}

// twinOf returns the twin of stream i of s.
func twinOf(s *Session, i int) *slowTwin {
	st, left := s.Streams()[i], maxVersions
	rules := st.Rules()
	x := &slowTwin{d: s.instructions(st), m: st.FirstMode(isa.ModeUnknown), waypoints: rules.Waypoints, keeps: isa.MaxStack,
		compressed: rules.Returns == isa.ReturnsCompressed, byOutcome: rules.Returns == isa.ReturnsByOutcome, passed: map[int]bool{}, left: &left}
	if x.byOutcome {
		x.keeps = armKeeps
	}
	return x
}

// armKeeps is how many return addresses the units of the recordings keep that keep any. An analyser keeps more. Of
// all numbers this one comes nearest to how many targets the packets of a57-jump/coarse-rs state.
const armKeeps = 8

// clone returns a twin that goes on where x is, by itself.
func (x *slowTwin) clone() *slowTwin {
	y := *x
	y.calls, y.passed = slices.Clone(x.calls), maps.Clone(x.passed)
	return &y
}

// version is an instruction as it may have been at a moment.
type version struct {
	in     isa.Insn
	passed []int // pokes of its bytes whose new code it has, or that of a later one
}

// leads reports whether the flow gets from in, which lies at ip, to next by itself.
func leads(in *isa.Insn, ip, next uint64) bool {
	switch fall := ip + uint64(in.Len); in.Class {
	case isa.Other, isa.Barrier, isa.Wait, isa.SetSpace, isa.TraceControl:
		return next == fall
	case isa.Jump, isa.Call:
		return next == in.Target
	case isa.Cond:
		return next == in.Target || next == fall
	case isa.Break, isa.Undefined:
		return next != fall
	}
	return true
}

// versions lists what the instruction of a may have been when the flow left it for next, the
// oldest first. A site changes only forward: where a later version was read before, an
// earlier one is none of them. Where none leads to next, the flow left by an exception, and
// they are all that it may have been. There are none where the code is not known.
func (x *slowTwin) versions(a *passage, next uint64) (list []version) {
	if x.code != a.code { // the pokes of one code are not those of another
		x.code, x.passed = a.code, map[int]bool{}
	}
	text := a.code.text
	b := make([]byte, x.d.MaxLen())
	lo, hi := text.Epochs(a.time)
	var others []version
	last := event.MaxEpoch
	for _, i := range append([]int{int(lo) - 1}, text.Text.Between(a.ip, len(b), lo, hi, nil)...) {
		at := event.Epoch(i + 1)
		n, span := text.Fetch(b, 0, a.ip, at)
		if *x.left--; span.From == last {
			continue // as before
		}
		last = span.From
		var r version
		if x.d.Decode(&r.in, b[:n], a.ip, x.m) != isa.OK {
			continue
		}
		back := false
		for _, j := range text.Text.Between(a.ip, int(r.in.Len), lo, hi, nil) {
			if event.Epoch(j) < at {
				r.passed = append(r.passed, j)
			} else if x.passed[j] {
				back = true
			}
		}
		switch {
		case back:
		case leads(&r.in, a.ip, next):
			list = append(list, r)
		default:
			others = append(others, r)
		}
	}
	if len(list) == 0 {
		return others
	}
	return list
}

// likeliest is the reading of a as its code was at the likeliest moment, if that leads to
// next, or else the first that does.
func (x *slowTwin) likeliest(a *passage, next uint64) (r version, ok bool) {
	likely := passage{a.ip, event.Time{Lo: a.time.Likely(), Hi: a.time.Likely()}, a.code, a.sync}
	for _, a := range []*passage{&likely, a} {
		clear(x.passed)
		list := x.versions(a, next)
		if len(list) > 0 && (!ok || leads(&list[0].in, a.ip, next)) {
			r, ok = list[0], true
			if leads(&r.in, a.ip, next) {
				break
			}
		}
	}
	return r, ok
}

// tells is what a trace tells of the instructions of path, which were executed, behind those of
// the path before. ok is false where the code is not known.
func (x *slowTwin) tells(path []passage) (told []uint64, ok bool) {
	for k := range path[:len(path)-1] {
		next := path[k+1].ip
		told = append(told, x.enters(&path[k])...)
		r, ok := x.likeliest(&path[k], next)
		if !ok {
			return told, false
		}
		told = append(told, x.step(&r, path[k].ip, next)...)
	}
	return told, true
}

// passes goes along path, of which it is not asked what is told.
func (x *slowTwin) passes(path []passage) {
	for k := range path[:len(path)-1] {
		next := path[k+1].ip
		x.enters(&path[k])
		if list := x.versions(&path[k], next); len(list) > 0 {
			x.step(&list[0], path[k].ip, next)
		}
	}
}

// follows reports whether a trace that tells want can have come from the instructions of
// path, behind those of the path before.
func (x *slowTwin) follows(path []passage, want []uint64) bool {
	for k := range path[:len(path)-1] {
		a, next := &path[k], path[k+1].ip
		if at := x.enters(a); startsWith(want, at) {
			want = want[len(at):]
		} else {
			return false
		}
		list := x.versions(a, next)
		if len(list) == 0 || *x.left < 0 {
			return false
		}
		last := len(list) - 1
		for i := range list[:last] {
			y := x.clone()
			if told := y.step(&list[i], a.ip, next); startsWith(want, told) && y.follows(path[k+1:], want[len(told):]) {
				return true
			}
		}
		told := x.step(&list[last], a.ip, next)
		if !startsWith(want, told) {
			return false
		}
		want = want[len(told):]
	}
	return len(want) == 0 && (x.meets == nil || slices.Equal(x.calls, *x.meets))
}

// ends reports whether a trace that tells want, and ends, can have come from path, which goes on to
// its end. What the last instructions tell is not asked, and may be one outcome.
func (x *slowTwin) ends(path []passage, want []uint64) bool {
	wants := [][]uint64{want, append(slices.Clip(want), 0), append(slices.Clip(want), 1)}
	if n := len(want) - 1; n >= 0 {
		wants = append(wants, want[:n])
	}
	return slices.ContainsFunc(wants, func(want []uint64) bool {
		y := x.clone()
		*y.left = maxVersions
		return y.follows(path, want)
	})
}

// told where a sync point stands: no outcome, and no address of an instruction.
const toldSync = 1<<64 - 1

// enters is what the trace tells before the instruction of a. A sync point says where the CPU is, and
// leaves nothing of before: no outcome, and no return address. Sources: Intel SDM, volume 3C, "Decoder
// Synchronization (PSB+)"; Arm DDI0487, "Trace Info packet".
func (x *slowTwin) enters(a *passage) (told []uint64) {
	if a.sync {
		x.calls = nil
		told = []uint64{toldSync, a.ip}
	}
	return told
}

// startsWith reports whether want begins with told.
func startsWith(want, told []uint64) bool {
	return len(told) <= len(want) && slices.Equal(told, want[:len(told)])
}

// step is what the trace tells of the instruction r at ip, which the flow left for next. It
// tells a bit of a branch that has an outcome, and the address behind one whose target the
// code does not say. Where returns are compressed, one that goes behind its call has a bit. Where units of Arm
// keep return addresses, one that goes to the newest has nothing but its outcome (Arm DDI0487, "Return stack").
func (x *slowTwin) step(r *version, ip, next uint64) (told []uint64) {
	for _, i := range r.passed {
		x.passed[i] = true
	}
	in := &r.in
	fall := ip + uint64(in.Len)
	if x.waypoints.Has(in.Class) {
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
		if x.byOutcome || x.compressed && (in.Class == isa.CallInd || in.Target != fall) {
			if x.calls = append(x.calls, fall); len(x.calls) > x.keeps {
				x.calls = x.calls[1:]
			}
		}
	case isa.Return, isa.JumpInd:
		n := len(x.calls) - 1
		if x.byOutcome && n >= 0 && x.calls[n] == next { // only then it is taken off
			x.calls = x.calls[:n]
			return []uint64{1}
		}
		if x.compressed && in.Class == isa.Return && n >= 0 {
			top := x.calls[n]
			if x.calls = x.calls[:n]; top == next {
				return append(told, 1)
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
	return told
}

// TestTells would catch a twin that does not know what a trace tells. Of all that the
// CPUs of a recording executed it must tell the very outcomes that its packets have.
func TestTells(t *testing.T) {
	for _, name := range testsize.Some(t, []string{"kprobes", "ftrace"}, 1) {
		s := opened(t, Config{Recording: filepath.Join(dataDir(t), "kernel-pokes-x86", name, "perf.data")})
		tellsAll(t, name, s, flowed(t, s, codedPrints{prints{}, s}).prints)
	}
	for _, name := range testsize.Some(t, armWindows(), 1) {
		o := readWindow(t, name)
		tellsAll(t, name, o.session, flowed(t, o.session, codedPrints{prints{}, o.session}).prints)
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
		x := twinOf(s, i)
		for k := range p.parts {
			to := len(p.ips)
			if k+1 < len(p.parts) {
				to = p.parts[k+1].from + 1
			}
			if seg, ok := st.Before(p.parts[k].off + 1); ok && seg.Off > p.parts[max(k-1, 0)].off {
				x.calls = x.calls[:0] // a sync point empties the trace unit's stack
			}
			bits, ok := x.tells(p.steps(p.parts[k].from, to))
			if !ok {
				t.Errorf("%s: stream %d, event %#x: code that is not known was executed", name, i, p.parts[k].off)
			}
			for _, bit := range bits {
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
