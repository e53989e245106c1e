package calls

import (
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// condensed is what a condenser took out of a batch. Functions in it are the condenser's own.
type condensed struct {
	detours []detour   // of the ranges that are flow.IsDetour, in their order
	timed   []ended    // calls of detours, and inside of them, that took time
	folded  []foldedOf // those that took none
	next    int        // of detours
	told    bool       // of timed and folded
}

// foldedOf is calls of a function that took no time.
type foldedOf struct {
	f *function
	folded
}

// What o's members take, bytes.
const (
	detourBytes = 72
	endedBytes  = 32
	foldedBytes = 24
)

// size is what o takes in memory, bytes.
func (o *condensed) size() int64 {
	return int64(cap(o.detours)*detourBytes + cap(o.timed)*endedBytes + cap(o.folded)*foldedBytes)
}

// filled is what o would take with no room left, bytes.
func (o *condensed) filled() int64 {
	return int64(len(o.detours)*detourBytes + len(o.timed)*endedBytes + len(o.folded)*foldedBytes)
}

// lend has t follow b. Of the calls that were taken out of it, and of its detours, it tells at once.
func (t *Tree) lend(b *decoder.Batch) {
	with, _ := flow.CondensedOf(b)
	o, _ := with.(*condensed)
	if t.over = o; o == nil || o.told {
		return
	}
	o.told = true
	for i := range o.folded {
		x := &o.folded[i]
		f := t.own(x.f)
		f.folded.n += x.n
		f.folded.insns += x.insns
	}
	if t.OnEnd == nil {
		return
	}
	t.lent = Call{TID: -1, How: Called, Ended: Returned, Ran: true, timed: true, Times: 1}
	for i := range o.timed {
		x, c := &o.timed[i], &t.lent
		c.function, c.took, c.inside, c.Insns = t.own(x.f), x.took, x.inside, x.insns
		t.OnEnd(c)
	}
}

// own returns t's own function for a condenser's.
func (t *Tree) own(f *function) *function {
	if f.own == nil {
		if f.own = t.find(f.at, f.Sym, f.File); f.own == nil {
			f.own = &function{
				lo: f.lo, unnamed: f.unnamed, leadsOn: f.leadsOn, callsOn: f.callsOn, inner: f.inner, slots: f.slots, switches: f.switches,
				at: f.at, Sym: f.Sym, File: f.File, Addr: f.Addr,
			}
			t.finds(f.own)
		}
	}
	return f.own
}

// bypasses takes the next detour, which k calls, up to the end of the block that returns. It returns that,
// and its stamp. The instructions and the verdict are as briefly has them.
func bypasses(c *cpu, k *decoder.Block, stamps []decoder.Stamp, insns uint64, v decoder.Verdict) (last *decoder.Block, stamp uint32) {
	d := &c.over.detours[c.over.next]
	c.over.next++
	c.ran(insns, v, k)
	if len(c.part.calls)+c.briefs.n+int(d.deep) > maxCalls {
		c.begins()
		c.outgrown()
	}
	f, b := c.own(d.f), &c.briefs
	if n := b.n; n > 0 {
		b.list[n-1].insns += d.gone.insns
		b.list[n-1].inside += d.gone.took
	} else if c.top != nil {
		c.top.Insns += d.gone.insns
		c.top.inside += d.gone.took
	}
	if n := b.n; c.top != nil && c.code != nil && n < maxBrief && (n == 0 || !b.list[n-1].hidden) {
		x := &b.list[n]
		x.function, x.how, x.hidden, x.now, x.began = f, Called, false, c.now, d.began
		x.ret, x.from, x.self, x.insns, x.inside, x.verdict, x.tag, x.told = k.End, k.LastIP(), d.insns, 0, 0, decoder.Certain, 0, true
		b.n = n + 1
	} else {
		c.begins()
		call := c.enter(f, Called, k.LastIP())
		call.began, call.ret, call.Ran, call.told, call.Self = d.began, k.End, true, true, d.insns
	}
	if d.before != 0 {
		c.stated = d.before // it counts where the last range has another place than the call: see moment
	}
	c.moment(stamps, int(d.stamp))
	passed(c)
	c.prev = d.last
	c.within(f)
	return d.last, d.stamp
}
