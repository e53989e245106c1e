package sim

import (
	"fmt"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// elemV4 is an element of an ETMv4 or ETE trace (DDI0487, "The ETE trace
// elements").
type elemV4 struct {
	kind   etmv4.Kind // AtomF1, Exception, Q, SrcMatch are P0 elements; AddrMatch an address, TraceOn, Timestamp, ASync...
	taken  bool       // atom
	both   bool       // exception: its address is the target of what was before
	addr   uint64     // bit 0: T32
	hasA   bool       // Q
	count  uint64     // Q; ITE: payload; context: its IDs as an event has them
	hasN   bool       // Q
	number uint16     // exception, event, ITE; context: exception level
	stamp  uint64
	first  bool // TxStart: it is a P0 element
	fails  bool // exception: of a transaction
	off    int64
}

func (e *elemV4) p0() bool {
	return e.kind == etmv4.AtomF1 || e.kind == etmv4.Exception || e.kind == etmv4.Q || e.kind == etmv4.SrcMatch || e.first
}

// kept reports whether cancelling what is around it leaves e.
func (e *elemV4) kept() bool {
	return e.kind == etmv4.Timestamp || e.kind == etmv4.TSMarker || e.kind == etmv4.Event || e.kind == etmv4.ITE ||
		e.kind == etmv4.ASync || e.kind == etmv4.Overflow
}

// resolver turns packets into the elements that are committed, one packet
// after the other and slowly.
type resolver struct {
	max   int
	cfg   *coresight.Config
	wait  []elemV4 // not committed
	done  []elemV4
	hist  [3]uint64
	stamp uint64
	exc   *elemV4 // whose address comes next
	seen  map[etmv4.Kind]int
	err   error
}

func (v *resolver) fail(format string, args ...any) {
	if v.err == nil {
		v.err = fmt.Errorf(format, args...)
	}
}

// commit moves the n oldest P0 elements, and what stands before each.
func (v *resolver) commit(n int) {
	for n > 0 {
		if len(v.wait) == 0 {
			v.fail("commit of %d more than there are", n)
			return
		}
		if v.wait[0].p0() {
			n--
		}
		v.done, v.wait = append(v.done, v.wait[0]), v.wait[1:]
	}
}

// cancel drops the n newest P0 elements and what came with them.
func (v *resolver) cancel(n int) {
	i := len(v.wait)
	for n > 0 && i > 0 {
		if i--; v.wait[i].p0() {
			n--
		}
	}
	if n > 0 {
		v.fail("%d more cancelled than there are", n)
		return
	}
	var keep []elemV4
	for _, e := range v.wait[i:] {
		if e.kept() {
			keep = append(keep, e)
		}
	}
	v.wait = append(v.wait[:i:i], keep...)
}

func (v *resolver) add(e elemV4) {
	v.wait = append(v.wait, e)
	n := 0
	for i := range v.wait {
		if v.wait[i].p0() {
			n++
		}
	}
	if n > v.max {
		v.commit(n - v.max)
	}
}

func (v *resolver) atoms(bits uint64, n int, off int64) {
	for i := n - 1; i >= 0; i-- {
		v.add(elemV4{kind: etmv4.AtomF1, taken: bits>>i&1 != 0, off: off})
	}
}

func (v *resolver) mispredict() {
	for i := len(v.wait) - 1; i >= 0; i-- {
		if v.wait[i].kind == etmv4.AtomF1 {
			v.wait[i].taken = !v.wait[i].taken
			return
		}
	}
	v.fail("no atom to turn round")
}

// place returns the address that an address packet states. k is its kind as a
// target address.
func (v *resolver) place(p *etmv4.Packet, k etmv4.Kind) (a uint64) {
	is := uint64(p.Arg)
	switch k {
	case etmv4.AddrMatch:
		a = v.hist[p.Arg]
	case etmv4.AddrShort:
		low := p.Value&0x7f | p.Value>>8<<7
		n := 1 + 8*uint(p.N) - uint(is)
		a = v.hist[0]&^(1<<n-1) | low<<(2-is) | is
	default:
		a = p.Value&^0xff | p.Value&0x7f<<1 | is
		if is == 0 {
			a = p.Value&^0xffff | p.Value&0x7f00<<1 | p.Value&0x7f<<2
		}
		if k == etmv4.Addr32 || k == etmv4.AddrCtxt32 {
			a |= v.hist[0] &^ (1<<32 - 1)
		}
	}
	v.hist = [3]uint64{a, v.hist[0], v.hist[1]}
	return a
}

var firstAtoms = [4]struct{ bits, n int }{{0, 0}, {1, 1}, {3, 2}, {0, 1}}

func (v *resolver) packet(p *etmv4.Packet) {
	v.seen[p.Kind]++
	off := p.Off
	if v.exc != nil && (p.Kind < etmv4.AddrCtxt32 || p.Kind > etmv4.Addr64 || p.Kind == etmv4.TSMarker) {
		v.fail("+%#x: %v behind an exception packet", off, p)
		return
	}
	switch k := p.Kind; k {
	case etmv4.Bad:
		v.fail("+%#x: %v", off, p)
	case etmv4.AtomF1, etmv4.AtomF2, etmv4.AtomF3, etmv4.AtomF4, etmv4.AtomF5, etmv4.AtomF6:
		v.atoms(uint64(p.Extra), int(p.N), off)
	case etmv4.Context:
		v.context(p)
	case etmv4.AddrMatch, etmv4.AddrShort, etmv4.Addr32, etmv4.Addr64, etmv4.AddrCtxt32, etmv4.AddrCtxt64:
		a := v.place(p, k)
		if k == etmv4.AddrCtxt32 || k == etmv4.AddrCtxt64 {
			v.context(p)
		}
		if v.exc == nil {
			v.wait = append(v.wait, elemV4{kind: etmv4.AddrMatch, addr: a, off: off})
			break
		}
		e := *v.exc
		e.addr, v.exc = a, nil
		v.add(e)
	case etmv4.SrcMatch, etmv4.SrcShort, etmv4.Src32, etmv4.Src64:
		v.add(elemV4{kind: etmv4.SrcMatch, addr: v.place(p, k-etmv4.SrcMatch+etmv4.AddrMatch), off: off})
	case etmv4.Exception:
		if p.Arg < 0x80 && p.Extra != 0 {
			v.hist = [3]uint64{0, v.hist[0], v.hist[1]}
			v.add(elemV4{kind: k, fails: true, number: p.ExceptionType(), off: off})
			break
		}
		v.exc = &elemV4{kind: k, both: p.Arg&1 == 0, number: p.ExceptionType(), off: off}
	case etmv4.Q:
		v.q(p)
	case etmv4.Timestamp:
		if p.N < 9 {
			v.stamp &^= 1<<(7*p.N) - 1
		} else {
			v.stamp = 0
		}
		v.stamp |= p.Value
		v.wait = append(v.wait, elemV4{kind: k, stamp: v.stamp, off: off})
	case etmv4.TxStart:
		v.add(elemV4{kind: k, first: v.cfg.V4.TransactionsP0(), off: off})
	case etmv4.Event, etmv4.ITE:
		v.wait = append(v.wait, elemV4{kind: k, count: p.Value, number: uint16(p.Arg), off: off})
	case etmv4.TraceOn, etmv4.ASync, etmv4.TSMarker, etmv4.TxCommit, etmv4.ExceptionReturn:
		v.wait = append(v.wait, elemV4{kind: k, off: off})
	case etmv4.TraceInfo:
		v.hist, v.stamp = [3]uint64{}, 0
		n := 0
		for i := range v.wait {
			if v.wait[i].p0() {
				n++
			}
		}
		if uint64(n) != p.Value2>>32 {
			v.fail("+%#x: %d are not committed, Trace Info says %d", off, n, p.Value2>>32)
		}
	case etmv4.Overflow:
		v.cancelAll()
		v.done = append(v.done, elemV4{kind: k, off: off})
	default:
		v.speculation(p)
	}
}

// context notes the context that p states.
func (v *resolver) context(p *etmv4.Packet) {
	e := elemV4{kind: etmv4.Context, number: uint16(p.Extra & etmv4.InfoEL), off: p.Off}
	if p.Extra&etmv4.InfoV != 0 {
		e.count |= p.Value2 << 32
	}
	if p.Extra&etmv4.InfoC != 0 {
		e.count |= p.Value2 >> 32
	}
	v.wait = append(v.wait, e)
}

// cancelAll drops what is not committed. What stands before the first P0
// element of it belongs to the last that is.
func (v *resolver) cancelAll() {
	drop := false
	for i := range v.wait {
		if drop = drop || v.wait[i].p0(); !drop || v.wait[i].kept() {
			v.done = append(v.done, v.wait[i])
		}
	}
	v.wait = nil
}

func (v *resolver) q(p *etmv4.Packet) {
	e := elemV4{kind: etmv4.Q, count: etmv4.Number(p.Value2), hasN: p.Arg != etmv4.QBare, hasA: true, off: p.Off}
	switch p.Arg {
	case 0, 1, 2:
		e.addr = v.place(p, etmv4.AddrMatch)
	case etmv4.QShort0:
		e.addr = v.place(&etmv4.Packet{N: p.N, Value: p.Value}, etmv4.AddrShort)
	case etmv4.QLong0:
		e.addr = v.place(&etmv4.Packet{Value: p.Value}, etmv4.Addr32)
	default:
		e.hasA = false
	}
	v.add(e)
}

// speculation is packet for what settles P0 elements.
func (v *resolver) speculation(p *etmv4.Packet) {
	before := func(i uint8) { v.atoms(uint64(firstAtoms[i].bits), firstAtoms[i].n, p.Off) }
	commits := v.cfg.V4.CommitInCounts()
	switch p.Kind {
	case etmv4.Commit:
		v.commit(int(etmv4.Number(p.Value)))
	case etmv4.CancelF1:
		v.cancel(int(etmv4.Number(p.Value)))
		if p.Arg&1 != 0 {
			v.mispredict()
		}
	case etmv4.CancelF2:
		before(p.Arg)
		v.cancel(1)
		v.mispredict()
	case etmv4.CancelF3:
		before(p.Arg & 1)
		v.cancel(int(p.Arg>>1) + 2)
		v.mispredict()
	case etmv4.Mispredict:
		before(p.Arg)
		v.mispredict()
	case etmv4.CycleF1:
		v.commit(int(etmv4.Number(p.Value2)))
	case etmv4.CycleF2:
		if n := int(p.Value >> 4); commits && p.Arg == 0 {
			v.commit(n + 1)
		} else if commits {
			v.commit(n + v.max - 15)
		}
	case etmv4.CycleF3:
		if commits {
			v.commit(int(p.Arg>>2) + 1)
		}
	}
}

// followV4 follows the elements of a CPU's trace, told the words that were
// fetched.
type followV4 struct {
	followA64
	start   int  // of Starts: the next
	check   bool // an address behind an A-Sync tells where a segment begins
	lost    []Lost
	pending bool // the last waypoint was indirect: a target or the stack says where it led
	moved   bool // an address has said it
	missed  bool // packets were lost
	off     bool // not traced: an address tells where it goes on
	now     uint64
	late    uint64 // time of the last P0 element
	marks   bool   // timestamps are those of markers
	marked  uint64 // time of the last P0 element before the newest marker
	tx      txState
}

// waypoint steps over the next waypoint; at, if not 0, is its address.
func (f *followV4) waypoint(taken bool, at uint64) error {
	if err := f.land(); err != nil {
		return err
	}
	for {
		here := f.ip
		in, err := f.step()
		if err != nil {
			return err
		}
		back := f.ip
		w := taken
		if at != 0 {
			w = here == at
		}
		switch in.op {
		case opPlain, opMem, opSti, opCli, opInt, opTxCommit, opTxCancel:
			continue
		case opSync, opTxStart:
		case opCond:
			if w {
				f.ip = in.target
			}
		case opCall, opCallInd:
			f.stack = append(f.stack, back)
			f.ip = in.target
			f.pending = in.op == opCallInd
		case opJump:
			f.ip = in.target
		case opJumpInd, opRet, opIret:
			f.pending = true
		default:
			return fmt.Errorf("op %d at %#x retired", in.op, here)
		}
		if !w && in.op != opCond {
			return fmt.Errorf("op %d at %#x was not taken", in.op, here)
		}
		if at != 0 && !w {
			continue
		}
		t := f.c.Insns[f.k-1].Time
		if t < f.now {
			return fmt.Errorf("%#x ran at %d, behind a timestamp of %d", here, t, f.now)
		}
		f.late = t
		return nil
	}
}

// land ends an indirect branch that no target address followed.
func (f *followV4) land() error {
	f.moved = false
	if f.off {
		return fmt.Errorf("no address behind Trace On")
	}
	if !f.pending {
		return nil
	}
	f.pending = false
	n := len(f.stack) - 1
	if n < 0 {
		return fmt.Errorf("no target before %#x, and no call", f.ip)
	}
	f.ip, f.stack = f.stack[n], f.stack[:n]
	return nil
}

// goOn continues at a behind a stretch that was not traced.
func (f *followV4) goOn(a uint64) error {
	f.off = false
	if !f.missed {
		return nil
	}
	f.missed = false
	if len(f.lost) == 0 {
		return fmt.Errorf("trace goes on at %#x, but nothing was lost", a)
	}
	if f.k < f.lost[0].From {
		return fmt.Errorf("%d instructions told before a loss, want %d", f.k, f.lost[0].From)
	}
	f.k, f.lost = f.lost[0].To, f.lost[1:]
	return nil
}

func (f *followV4) element(e *elemV4) error {
	switch e.kind {
	case etmv4.ASync:
		f.stack, f.check = nil, true
	case etmv4.TraceOn, etmv4.Overflow:
		f.off, f.stack, f.pending, f.moved, f.tx = true, nil, false, false, txUnknown
		f.missed = f.missed || e.kind == etmv4.Overflow
	case etmv4.TSMarker:
		f.marks, f.marked = true, f.late
	case etmv4.Timestamp:
		if f.marks { // it is the marker's time, before what ran since
			if e.stamp < f.marked {
				return fmt.Errorf("a timestamp of %d, its marker behind what ran at %d", e.stamp, f.marked)
			}
		} else if e.stamp < f.late {
			return fmt.Errorf("a timestamp of %d behind what ran at %d", e.stamp, f.late)
		}
		f.now = e.stamp
	case etmv4.AddrMatch:
		switch {
		case f.off:
			if err := f.goOn(e.addr); err != nil {
				return err
			}
		case f.pending, f.moved: // of several the last holds
			f.pending, f.moved = false, true
		case f.ip != e.addr && f.ip != 0:
			return fmt.Errorf("an address %#x, but the flow is at %#x", e.addr, f.ip)
		}
		if f.ip = e.addr; f.check {
			f.check = false
			if want := f.c.Starts[f.start]; f.k != want {
				return fmt.Errorf("a segment begins with instruction %d, want %d", f.k, want)
			}
			f.start++
		}
	case etmv4.AtomF1:
		return f.waypoint(e.taken, 0)
	case etmv4.SrcMatch:
		return f.waypoint(true, e.addr)
	case etmv4.TxStart:
		return f.transaction(txOut, txIn)
	case etmv4.TxCommit:
		return f.transaction(txIn, txOut)
	case etmv4.Exception:
		if e.fails {
			if err := f.land(); err != nil {
				return err
			}
			f.ip, f.pending = 0, true // the target follows
			return f.transaction(txIn, txOut)
		}
		if e.both {
			if !f.pending && !f.moved && f.ip != e.addr {
				return fmt.Errorf("target %#x in an exception, but the flow is at %#x", e.addr, f.ip)
			}
			f.pending, f.ip = false, e.addr
		}
		if err := f.land(); err != nil {
			return err
		}
		for f.ip != e.addr {
			if _, err := f.step(); err != nil {
				return fmt.Errorf("on the way to %#x: %w", e.addr, err)
			}
		}
		f.ip, f.pending = 0, true // the target follows
	case etmv4.Q:
		if err := f.land(); err != nil {
			return err
		}
		if f.k += int(e.count); !e.hasN {
			f.k = f.c.Bare[e.off]
		}
		if f.ip, f.pending = e.addr, !e.hasA; f.k > len(f.c.Insns) {
			return fmt.Errorf("a Q of %d instructions, more than there are", e.count)
		}
	}
	return nil
}

// txState says whether the trace has told of a transaction.
type txState uint8

const (
	txUnknown txState = iota
	txOut
	txIn
)

// transaction goes from one state to another.
func (f *followV4) transaction(from, to txState) error {
	if f.tx != from && f.tx != txUnknown {
		return fmt.Errorf("a transaction goes from state %d to %d", f.tx, to)
	}
	f.tx = to
	return nil
}

// TestFollowV4 would catch a trace unit that does not say what its CPU did: an atom
// too few or too many, a wrong address, a timestamp out of place. It would catch
// something uncommitted that stays, or that is cancelled though it ran.
func TestFollowV4(t *testing.T) {
	seeds := uint64(testsize.Of(t, 60, 600))
	seen := map[etmv4.Kind]int{}
	for seed := range seeds {
		r := SimulateA64(DrawA64(seed).WithETM())
		for i := range r.CPUs {
			c := &r.CPUs[i]
			v := &resolver{max: int(c.Source.V4.IDR8), cfg: &c.Source, seen: seen}
			l := etmv4.NewLexer(c.Source, c.Trace, 0)
			var p etmv4.Packet
			for l.Next(&p) && v.err == nil {
				v.packet(&p)
			}
			if v.err != nil {
				t.Fatalf("seed %d CPU %d: %v", seed, i, v.err)
			}
			f := followV4{followA64: followA64{r: r, c: c}, lost: c.Lost}
			for j := range v.done {
				if err := f.element(&v.done[j]); err != nil {
					t.Fatalf("seed %d CPU %d +%#x: %v", seed, i, v.done[j].off, err)
				}
			}
			if f.k != len(c.Insns) {
				t.Fatalf("seed %d CPU %d: the trace tells %d instructions of %d", seed, i, f.k, len(c.Insns))
			}
		}
	}
	never := []etmv4.Kind{ // data trace, Armv8-M, conditional instructions
		etmv4.Discard, etmv4.FuncReturn, etmv4.NumDataSync, etmv4.DataSync, etmv4.CondF2,
		etmv4.CondFlush, etmv4.CondResF4, etmv4.CondResF2, etmv4.CondResF3, etmv4.CondResF1, etmv4.CondF1, etmv4.CondF3,
	}
	for k := etmv4.ASync; k < etmv4.NumKinds; k++ {
		if seen[k] < 10 && !slices.Contains(never, k) {
			t.Errorf("%v: %d times", k, seen[k])
		}
	}
}
