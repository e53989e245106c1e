package sim

// outline is the plan of a program that is being written, whatever its
// instruction set: its functions, and how much of the present one is left.
type outline struct {
	r      rnd
	funcs  []label
	cur    int // the function being written
	noSite int // functions from here on have no sites (the kernel's noinstr)
	budget int // statements left in the function

	flags   map[label]uint8
	targets map[label][]label
	late    []func() // out-of-line blocks of the function being written
	marks   []mark
	tracers []label // what the entry of a traced function calls

	newLabel func() label
}

// mark is a symbol's name and place.
type mark struct {
	name string
	at   label
}

func newOutline(c *Config, newLabel func() label) outline {
	o := outline{r: newRand(c.Seed, 1), flags: map[label]uint8{}, targets: map[label][]label{}, newLabel: newLabel}
	n := max(c.Funcs, 6)
	o.noSite = n - 3
	for range n {
		o.funcs = append(o.funcs, newLabel())
	}
	o.tracers = []label{newLabel(), newLabel()}
	return o
}

// maxNest bounds how deep blocks nest in a function.
const maxNest = 3

// body writes the function's statements.
func (o *outline) body(statement func(nest int)) {
	o.budget = 4 + int(o.r.n(8))
	if !o.sited() {
		o.budget = 2
	}
	o.block(0, statement)
}

// block writes statements until the function's budget is spent.
func (o *outline) block(nest int, statement func(nest int)) {
	n := 1 + int(o.r.n(5))
	if nest == 0 {
		n = o.budget
	}
	for ; n > 0 && o.budget > 0; n-- {
		o.budget--
		statement(nest)
	}
}

// construct draws what the next statement is and writes it; blocks that nest too
// deep are plain instructions.
func (o *outline) construct(w writer, nest int) {
	k := o.r.n(20)
	if nest >= maxNest && (k == 4 || k == 5 || k == 9) {
		k = 0
	}
	switch k {
	case 0, 1, 2:
		w.few(1 + int(o.r.n(5)))
	case 3:
		o.skip(w)
	case 4:
		o.branch(w, nest)
	case 5:
		w.loop(nest)
	case 6, 7:
		w.call()
	case 8:
		w.callIndirect()
	case 9:
		w.choose(nest)
	case 10, 11, 12:
		w.jumpLabel()
	default:
		w.special(k)
	}
}

// outOfLine writes the blocks that were put off.
func (o *outline) outOfLine() {
	for len(o.late) > 0 {
		f := o.late[0]
		o.late = o.late[1:]
		f()
	}
}

// sited reports whether the function being written may have patch sites.
func (o *outline) sited() bool { return o.cur < o.noSite }

// callee returns a function that the one being written may call: a later
// one, so that calls end; without sites where the caller has none.
func (o *outline) callee() label {
	lo := o.cur + 1
	if !o.sited() {
		lo = max(lo, o.noSite)
	}
	if lo >= len(o.funcs) {
		return -1
	}
	return o.funcs[lo+int(o.r.n(uint64(len(o.funcs)-lo)))]
}

// callees returns up to n functions to choose from.
func (o *outline) callees(n int) (to []label) {
	for range n {
		if f := o.callee(); f >= 0 {
			to = append(to, f)
		}
	}
	return to
}

// bias gives the conditional branch that is written next a bias, now and then.
func (o *outline) bias(here label) {
	switch o.r.n(4) {
	case 0:
		o.flags[here] |= flagLikely
	case 1:
		o.flags[here] |= flagSeldom
	}
}

// writer is what writes the code of an outline.
type writer interface {
	// here returns a label at what is written next, and bind puts l there.
	here() label
	bind(l label)
	// straight writes n plain instructions, few perhaps one more that has a condition.
	straight(n int)
	few(n int)
	statement(nest int)
	// What statements are: a loop that is left at random, a call, a switch through a
	// jump table, a static branch, and by number what not every set has.
	loop(nest int)
	call()
	callIndirect()
	choose(nest int)
	jumpLabel()
	special(k uint64)
	// branchTo writes a conditional branch to l with a bias of its own.
	branchTo(l label, near bool)
	// jumpTo writes a jump to l; probed: it may be probed.
	jumpTo(l label, probed bool)
}

// skip writes a short forward branch over plain instructions.
func (o *outline) skip(w writer) {
	l := o.newLabel()
	w.branchTo(l, true)
	w.straight(1 + int(o.r.n(4)))
	w.bind(l)
}

// branch writes if-then-else.
func (o *outline) branch(w writer, nest int) {
	other, end := o.newLabel(), o.newLabel()
	w.branchTo(other, false)
	o.block(nest+1, w.statement)
	w.jumpTo(end, true)
	w.bind(other)
	o.block(nest+1, w.statement)
	w.bind(end)
}

// loopBody writes what a loop repeats, and reports whether that is only a few plain
// instructions.
func (o *outline) loopBody(w writer, nest int) (small bool) {
	if small = o.r.one(2); small {
		w.straight(int(o.r.n(4)))
	} else {
		o.block(nest+1, w.statement)
	}
	return small
}

// putOff leaves the block at to for the end of the function; it leads back here.
func (o *outline) putOff(w writer, to label) {
	back := w.here()
	o.late = append(o.late, func() {
		w.bind(to)
		w.straight(1 + int(o.r.n(3)))
		if o.r.one(3) {
			o.skip(w)
		}
		w.jumpTo(back, false)
	})
}

// cases writes the targets of the indirect jump at jump, each of which ends with
// a jump to end.
func (o *outline) cases(w writer, jump, end label, nest int) {
	for range 2 + o.r.n(3) {
		o.targets[jump] = append(o.targets[jump], w.here())
		w.straight(int(o.r.n(3)))
		if o.budget > 0 && o.r.one(2) {
			o.budget--
			w.statement(nest + 1)
		}
		w.jumpTo(end, false)
	}
	w.bind(end)
}

// addresses returns where labels are.
func addresses(a interface{ addr(label) uint64 }, labels []label) (out []uint64) {
	for _, l := range labels {
		out = append(out, a.addr(l))
	}
	return out
}

// notes returns the flags and the targets of o by address.
func (o *outline) notes(a interface{ addr(label) uint64 }) (flags map[uint64]uint8, targets map[uint64][]uint64) {
	flags, targets = map[uint64]uint8{}, map[uint64][]uint64{}
	for l, f := range o.flags {
		flags[a.addr(l)] |= f
	}
	for l, to := range o.targets {
		targets[a.addr(l)] = addresses(a, to)
	}
	return flags, targets
}
