package boot

import (
	"cmp"
	"errors"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// longestCall is how long a call is at most, bytes: with a prefix, REX, SIB and displacement.
const longestCall = 9

// called reports whether a call ends at addr, or may: addr is no kernel code.
func (b *Kernel) called(dec isa.Decoder, addr uint64) bool {
	if !b.holds(addr-longestCall, longestCall) {
		return true
	}
	var in isa.Insn
	for n := uint64(2); n <= longestCall; n++ {
		code := b.code[addr-n-b.text : addr-b.text]
		if dec.Decode(&in, code, addr-n, b.mode) == isa.OK && uint64(in.Len) == n && (in.Class == isa.Call || in.Class == isa.CallInd) {
			return true
		}
	}
	return false
}

// errWorse ends the decoding of a segment that is worse than it may be.
var errWorse = errors.New("boot: worse")

// blockFacts is what matters of a block.
type blockFacts struct {
	pairs  []pair
	spaces int                // instructions that change the address space
	thunk  bool               // it is of a retpoline: its return stands for a jump
	other  bool               // its code is another in the trial under way
	forks  []buildtime.Choice // see forksIn
	asked  bool               // forks is known
}

// pair is a group that a block has bytes of, and a choice of it that a flow could tell.
type pair struct {
	g *buildtime.Group
	c buildtime.Choice
}

// factsKey is what facts of a block are kept by.
type factsKey struct{ addr, end uint64 }

// factsOf returns what matters of a block.
func (l *learner) factsOf(b *flow.Block) *blockFacts {
	k := factsKey{b.Addr, b.End}
	own := overlap(l.changed, b.Addr, b.End)
	if x := l.facts[k]; x != nil && !own {
		return x
	}
	x := &blockFacts{other: own, thunk: l.b.kernel.InThunk(b.Addr - l.b.shift), pairs: l.pairs(b.Addr, b.End)}
	if l.b.holds(b.Addr, int(b.End-b.Addr)) {
		x.spaces = l.spaces(b)
	}
	if !own {
		l.facts[k] = x
	}
	return x
}

// pairs returns the groups with a byte in [addr, end), each with what it depends on.
func (l *learner) pairs(addr, end uint64) (list []pair) {
	for _, g := range l.b.kernel.Within(nil, addr-l.b.shift, end-l.b.shift) {
		for _, c := range g.Choices {
			if !l.b.given(c) && l.tells(pair{g, c}) {
				list = append(list, pair{g, c})
			}
		}
	}
	return list
}

// spaces returns how many instructions of b change the address space.
func (l *learner) spaces(b *flow.Block) (n int) {
	code := l.b.code[b.Addr-l.b.text:]
	var in isa.Insn
	for _, size := range b.Lens {
		if code[0] == 0x0f && l.isa.Decode(&in, code[:size], 0, b.Mode) == isa.OK && in.Class == isa.SetSpace {
			n++
		}
		code = code[size:]
	}
	return n
}

// tells reports whether a flow could tell one value of a choice from another, be it refuted.
func (l *learner) tells(p pair) bool {
	is, ok := l.differs[p]
	if !ok {
		b := l.b
		is = !b.overlaps(p.g) && slices.ContainsFunc(b.kernel.Values(p.c), func(v int) bool {
			return v != b.state.Get(p.c) && !p.g.Alike(b.state, b.state.With(p.c, v))
		})
		l.differs[p] = is
	}
	return is
}

// overlap reports whether one of the ranges, by address, has a byte of [addr, end).
func overlap(list []image.Range, addr, end uint64) bool {
	i, _ := slices.BinarySearchFunc(list, addr, func(r image.Range, a uint64) int {
		if r.Last() < a {
			return -1
		}
		return 1
	})
	return i < len(list) && list[i].Addr < end
}

// returns follows calls and returns: one that leads elsewhere than behind the last call
// speaks against the code. So does one whose call was not seen and that leads to where no
// call ends.
func (k *sink) returns(r *flow.Range, x *blockFacts) {
	if p := &k.prev; p.Block != nil && p.Block.Class == isa.Return && p.N == p.Block.N {
		if n := len(k.stack); n > 0 {
			if k.stack[n-1] != r.Block.Addr && !k.thunk && k.stated {
				k.count(badReturn)
			}
			k.stack = k.stack[:n-1]
		} else if !k.thunk && !k.l.b.called(k.l.isa, r.Block.Addr) {
			k.count(badReturn) // the trace stated where it went
		}
	}
	k.thunk = x.thunk || k.thunk && k.prev.Block != nil && k.prev.Block.Class == isa.Jump
	if r.N == r.Block.N && (r.Block.Class == isa.Call || r.Block.Class == isa.CallInd) {
		k.stack = append(k.stack, r.Block.End)
	}
	k.prev = *r
}

// sink counts what a segment comes to.
type sink struct {
	l *learner
	outcome
	trail  []buildtime.Choice
	seen   map[pair]bool // that met has
	stack  []uint64      // return addresses
	prev   flow.Range    // Block is nil: none
	thunk  bool          // before is a retpoline's
	spaces int           // MOV CR3 that were executed
	most   int           // bad that ends it; 0: none
	off    int64         // of the event that the flow leads to
	// Of a trial: what the segment comes to without it, and whether it is worse by badEnough so far.
	base   []step
	worse  bool
	strict bool // that ends it
	// Of a trial: choices whose code ran from the first of the trial's on, until it was refuted.
	watched variant
	since   bool                     // its code ran
	last    map[buildtime.Choice]int // when each ran last, of ran times
	ran     int
	stated  bool // the trace states where each return went
}

// What is held against code: a gap is a contradiction. A return to where no call came from,
// and a change of the address space that the trace does not tell of, are unlikely.
const (
	badGap    = 8
	badReturn = 1
	badSpace  = 1
	badEnough = 4 // by so much one value has to be worse than another
)

// Flow takes a batch (flow.Sink).
func (k *sink) Flow(b *flow.Batch) error {
	at := 0
	for i := range b.Notes {
		n := &b.Notes[i]
		for ; at < n.At; at++ {
			k.off = b.Stamps[b.Ranges[at].Stamp].Off
			k.weigh(&b.Ranges[at])
		}
		if n.Kind == flow.NoteGap && n.Gap.Reason.Contradicts() {
			k.off = n.Gap.Off
			k.ahead(n.Gap.IP)
			k.count(badGap)
			if n.Gap.Reason != event.NoText {
				k.gaps++
			}
			k.stack, k.prev.Block = k.stack[:0], nil
			for i := len(k.trail) - 1; i >= 0; i-- {
				if !slices.Contains(k.before, k.trail[i]) {
					k.before = append(k.before, k.trail[i])
				}
			}
			k.trail = k.trail[:0]
		}
	}
	for ; at < len(b.Ranges); at++ {
		k.off = b.Stamps[b.Ranges[at].Stamp].Off
		k.weigh(&b.Ranges[at])
	}
	if k.most > 0 && k.bad > k.most || k.strict && k.worse {
		return errWorse
	}
	return nil
}

// step is what speaks against the code up to an offset.
type step struct {
	off int64
	bad int
}

// count adds what speaks against the code.
func (k *sink) count(bad int) {
	k.bad += bad
	if k.watched == nil {
		k.steps = append(k.steps, step{k.off, k.bad})
		return
	}
	was := 0
	if i, _ := slices.BinarySearchFunc(k.base, k.off+1, func(x step, off int64) int { return cmp.Compare(x.off, off) }); i > 0 {
		was = k.base[i-1].bad
	}
	k.worse = k.worse || k.bad >= was+badEnough
}

// weigh counts what a range says for and against the code.
func (k *sink) weigh(r *flow.Range) {
	x := k.l.base[r.Block]
	if x == nil {
		x = k.l.blocks[r.Block]
	}
	if x == nil {
		if x = k.l.factsOf(r.Block); x.other {
			k.l.blocks[r.Block] = x
		} else {
			k.l.base[r.Block] = x
		}
	}
	k.watch(x, r.Block.Addr, r.Block.End)
	k.returns(r, x)
	if r.N == r.Block.N {
		k.spaces += x.spaces
	}
	if k.met == nil {
		return
	}
	k.meet(x.pairs)
	if n := len(k.trail); n > 4*trailLength {
		k.trail = slices.Delete(k.trail, 0, n-trailLength)
	}
}

// meet notes choices that executed code depends on.
func (k *sink) meet(pairs []pair) {
	for _, y := range pairs {
		if !k.seen[y] {
			k.seen[y] = true
			k.l.leadsApart(y) // it is asked best where no trial is under way
			k.met[y.c] = append(k.met[y.c], y.g)
		}
		if n := len(k.trail); n == 0 || k.trail[n-1] != y.c {
			k.trail = append(k.trail, y.c)
		}
	}
}

// ahead notes the choices of the code from ip on, where the flow broke off: what contradicts
// the trace may lie there.
func (k *sink) ahead(ip uint64) {
	if k.met == nil && k.watched == nil || !k.l.b.holds(ip, 1) {
		return
	}
	for _, r := range k.l.b.way(k.l.isa, ip) {
		k.watch(&blockFacts{other: overlap(k.l.changed, r.Addr, r.Last()+1)}, r.Addr, r.Last()+1)
		if k.met != nil {
			k.meet(k.l.pairs(r.Addr, r.Last()+1))
		}
	}
}
