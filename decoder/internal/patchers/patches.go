package patchers

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/sideband"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// settle is how long, ns, a change lasts of which nothing says when it was over. It is
// also how long a CPU goes on with old code at most when the caches are Maintained.
const settle = 1_000_000

// patience is how long, ns, a change is waited for of which a step is watched and was not
// seen yet. An interrupt, or another thread, may come before each step.
const patience = 1_000_000_000

// Take takes a poke, or a time in which pokes were lost, and the place of its sample: a file, and
// where in it, bytes. What it gets is lent until it returns.
type Take func(e *sideband.Record, file string, off int64) error

// Patches makes pokes of samples taken where the kernel changes its code.
//
// A sample says what is about to be written, and where. What the thread does next
// says when it was written and the caches were Maintained: a sample behind the
// maintenance, or the next change. Else it took as long from the sample at which the
// maintenance begins as the quickest change of the recording took to the next one,
// unless another thread ran meanwhile. Else settle bounds it.
type Patches struct {
	*table
	r         *perfdata.Recording
	take      Take
	kicks     bool // samples say when all CPUs had taken an interrupt
	open      []*change
	slots     map[uint64]bool
	sampled   map[runner]uint64 // ns: each one's last sample
	newest    map[runner]uint64 // address of each one's newest change, until it is known to be made
	throttled map[uint64]uint64 // by event id: since when it is off, ns
	unread    int               // samples of probes that lack arguments
	fix       fixmap
	tails     *tails
	seen      map[string]bool // how which of the kernel's patchers are watched
	first     uint64          // ns: the time of the first change; 0: none
	back      uint64          // where patchers go on behind the caches' maintenance; 0: not seen
	last      uint64          // ns: the time of the last change given
	quick     uint64          // ns: of the quickest change, from the caches to the next one; 0: none
}

// fixmap is what pairs of a change and its mapping tell of the addresses at which the
// kernel's code is mapped to be written.
type fixmap struct {
	known bool
	index uint64
	delta uint64 // of a virtual address over the physical one
}

// runner is who writes: a thread, or, of idle threads and where samples do not name
// them, a CPU.
type runner struct{ tid, cpu int32 }

// change is a change under way.
type change struct {
	e      sideband.Record
	file   string // that holds the sample
	off    int64  // where in it, bytes
	by     runner
	asked  runner  // who had it made
	begin  uint64  // ns
	of     patcher // whose sample announces it; patchNone: none whose steps are known
	again  uint64  // ns: the last sample that announces it
	caches uint64  // ns: when their maintenance began; 0: not seen
	done   uint64  // ns: the word is stored, the caches are Maintained; 0: not seen
	end    uint64  // ns: all CPUs have synchronised; 0: not seen
	behind bool    // the thread has come to its next change
	kept   bool    // another thread ran there soon behind caches
	exact  bool    // done is of right behind the maintenance
	mapped bool    // its mapping was seen
}

// New returns what makes pokes of the samples of a recording, by its kernel's symbols.
// Each goes to take.
func New(r *perfdata.Recording, syms *symbols.Table, take Take) *Patches {
	x := &Patches{table: newTable(syms), r: r, take: take, slots: map[uint64]bool{}, sampled: map[runner]uint64{}, newest: map[runner]uint64{}, throttled: map[uint64]uint64{}, seen: map[string]bool{}}
	for _, a := range r.Attrs() {
		if a.Type == perfdata.EventTracepoint && Watches(a, r) {
			x.kicks = true
		}
	}
	x.watch()
	x.tails = newTails(r)
	x.quick = x.quickest()
	return x
}

// runnerOf returns who ran as a record was made.
func runnerOf(rec *perfdata.Record) runner {
	if rec.Has&perfdata.SampleTID != 0 && rec.TID > 0 {
		return runner{rec.TID, -1}
	}
	return runner{-1, rec.CPU}
}

// Sample takes a record that may tell of a change.
func (x *Patches) Sample(rec *perfdata.Record) error {
	if rec.HasTime() {
		if err := x.flush(rec.Time); err != nil {
			return err
		}
		x.others(rec)
		if err := x.throttle(rec); err != nil {
			return err
		}
	}
	if rec.Type != perfdata.TypeSample || rec.Attr == nil || !rec.HasTime() || !Watches(rec.Attr, x.r) {
		return nil
	}
	by := runnerOf(rec)
	m, err := rec.Sample()
	if err != nil {
		return nil // told of elsewhere
	}
	if rec.Attr.Type == perfdata.EventTracepoint {
		return x.probed(rec, &m, by)
	}
	before := x.sampled[by]
	x.sampled[by] = rec.Time
	return x.hit(rec, &m, by, before)
}

// hit takes the sample of a breakpoint. The one before by the same runner was at a time,
// ns; 0: there was none.
func (x *Patches) hit(rec *perfdata.Record, m *perfdata.Sample, by runner, before uint64) error {
	reg := func(n int) uint64 {
		v, _ := m.IntrReg(rec.Attr, n)
		return v
	}
	_, ok0 := m.IntrReg(rec.Attr, regX0)
	_, ok1 := m.IntrReg(rec.Attr, regX1)
	what := x.breakpoint(rec.Attr.Config1)
	switch what {
	case patchCleaned, patchKick:
	default:
		if !ok0 || !ok1 {
			return nil
		}
	}
	switch what {
	case patchWrite:
		c := x.changeAt(rec, reg(regX0), binary.LittleEndian.AppendUint32(nil, uint32(reg(regX1))))
		if c.of = what; x.within(reg(regLR), insnPatchStop) {
			c.e.Under = "stop_machine"
		}
		return x.write(c)
	case patchLiteral:
		c := x.changeAt(rec, reg(regX0), binary.LittleEndian.AppendUint64(nil, reg(regX1)))
		c.of = what
		return x.write(c)
	case patchCopy, patchSet:
		return x.unsaid(rec, m, what)
	case patchCaches:
		from, to, lr := reg(regX0), reg(regX1), reg(regLR)
		if !x.cleaning(by, from, to, rec.Time) {
			return x.missed(rec, from, to, lr, before)
		}
		if x.within(lr, insnPatch) {
			x.back = lr
		}
	case patchCleaned:
		delete(x.newest, by)
		x.finished(by, rec.Time, func(c *change) bool { c.exact = c.exact || c.done == 0 && c.caches != 0; return c.caches != 0 })
	case patchKick:
		delete(x.newest, by)
		x.finished(by, rec.Time, func(*change) bool { return true })
	}
	return nil
}

// changeAt returns the change that a sample announces.
func (x *Patches) changeAt(rec *perfdata.Record, addr uint64, code []byte) *change {
	by := runnerOf(rec)
	if x.first == 0 || rec.Time < x.first {
		x.first = rec.Time
	}
	c := &change{file: rec.File, off: rec.Off, by: by, asked: by, begin: rec.Time, again: rec.Time}
	c.e = sideband.Record{Type: sideband.TypePoke, Timed: true, CPU: int(rec.CPU)}
	c.e.ID, c.e.StreamID = rec.ID, rec.StreamID
	if rec.Has&perfdata.SampleTID != 0 {
		c.e.PID, c.e.TID = rec.PID, rec.TID
	}
	c.e.Addr, c.e.New, c.e.Scheme = sideband.Hex(addr), code, "atomic"
	return c
}

// write takes a change that is about to be made. It may be known. A breakpoint is hit
// again where an interrupt comes before the step behind it. A probe may have told of
// what a breakpoint then shows.
func (x *Patches) write(c *change) error {
	for _, o := range x.open {
		if o.done == 0 && o.caches == 0 && o.e.Addr == c.e.Addr && string(o.e.New) == string(c.e.New) {
			o.by, o.again, o.e.Under = c.by, c.begin, cmp.Or(c.e.Under, o.e.Under)
			return nil
		}
	}
	if x.ends(c) {
		for i := len(x.open) - 1; i >= 0; i-- {
			if o := x.open[i]; o.by == c.by && o.e.Addr+4 == c.e.Addr && len(o.e.New) == 4 {
				x.toSlot(o)
				break
			}
		}
	}
	x.newest[c.by] = uint64(c.e.Addr)
	x.finished(c.by, c.begin, func(*change) bool { return true })
	for _, o := range x.open {
		o.behind = o.behind || o.by == c.by
	}
	if x.ends(c) {
		x.toSlot(c)
	}
	x.open = append(x.open, c)
	return x.flush(c.begin)
}

// slotEnd is BRK #6, which ends the copy of a probed instruction in its slot
// (arch/arm64/include/asm/brk-imm.h, KPROBES_BRK_SS_IMM, v6.12).
const slotEnd = "\xc0\x00\x20\xd4"

// ends reports whether a change writes the end of a probe's slot.
func (x *Patches) ends(c *change) bool { return string(c.e.New) == slotEnd }

// toSlot makes a change one that fills a slot, unless the slot was used before.
func (x *Patches) toSlot(c *change) {
	if c.e.Scheme != "atomic" || x.slots[uint64(c.e.Addr)] {
		return
	}
	x.slots[uint64(c.e.Addr)] = true
	c.e.Scheme = "slot"
}

// throttle takes the records that say that an event was off, as it came too often:
// changes may be missing.
func (x *Patches) throttle(rec *perfdata.Record) error {
	if rec.Attr == nil || !Watches(rec.Attr, x.r) {
		return nil
	}
	since, off := x.throttled[rec.ID]
	switch {
	case rec.Type == perfdata.TypeThrottle && !off:
		x.throttled[rec.ID] = rec.Time
	case rec.Type == perfdata.TypeUnthrottle && off:
		delete(x.throttled, rec.ID)
		return x.take(sideband.UnknownPokes(rec.Time, &since), rec.File, rec.Off)
	}
	return nil
}

// GiveRest gives what is left at the end of the recording.
func (x *Patches) GiveRest() error {
	if err := x.flush(math.MaxUint64); err != nil {
		return err
	}
	for _, id := range slices.Sorted(maps.Keys(x.throttled)) {
		since := x.throttled[id]
		if err := x.take(sideband.UnknownPokes(math.MaxUint64, &since), x.r.Name(), 0); err != nil {
			return err
		}
	}
	return x.tails.give(x.take)
}

// others notes threads that ran on the CPU of a change soon after it.
func (x *Patches) others(rec *perfdata.Record) {
	for _, c := range x.open {
		if c.caches != 0 && rec.Time < c.caches+x.quick && int(rec.CPU) == c.e.CPU && runnerOf(rec) != c.by {
			c.kept = true
		}
	}
}

// quickest returns how long it takes at least from where caches are about to be
// Maintained to the next change by the same thread, ns; 0 where nothing tells.
func (x *Patches) quickest() (least uint64) {
	caches := map[runner]uint64{}
	rd := x.r.Records()
	var rec perfdata.Record
	for rd.Next(&rec) {
		x.tails.note(&rec)
		if rec.Type != perfdata.TypeSample || rec.Attr == nil || rec.Attr.Type != perfdata.EventBreakpoint || !Watches(rec.Attr, x.r) {
			continue
		}
		by := runnerOf(&rec)
		switch x.breakpoint(rec.Attr.Config1) {
		case patchCaches:
			caches[by] = rec.Time
		case patchWrite:
			if at, ok := caches[by]; ok && (least == 0 || rec.Time-at < least) {
				least = rec.Time - at
			}
			delete(caches, by)
		}
	}
	return least
}

// cleaning notes that the caches of [from, to) are about to be Maintained.
// It reports whether they are a change's.
func (x *Patches) cleaning(by runner, from, to, time uint64) bool {
	for i := len(x.open) - 1; i >= 0; i-- {
		if c := x.open[i]; c.by == by && c.done == 0 && from <= uint64(c.e.Addr) && uint64(c.e.Addr) < to {
			c.caches = time
			return true
		}
	}
	return false
}

// finished notes that a thread's changes are made, as it has come further by then.
func (x *Patches) finished(by runner, time uint64, which func(*change) bool) {
	for _, c := range x.open {
		if (c.by == by || c.asked == by) && c.done == 0 && which(c) {
			c.done = time
		}
	}
}

// kicked notes that all CPUs have taken an interrupt since a thread's changes.
func (x *Patches) kicked(by runner, time uint64) {
	for _, c := range x.open {
		if c.by == by && c.done != 0 && c.end == 0 {
			c.end = time
		}
	}
}

// awaits reports whether a sample of a change's next step is to come. A literal has none: the
// thread's next change tells that it was not announced again.
func (x *Patches) awaits(c *change) bool {
	switch {
	case c.done != 0 || c.of == patchNone:
		return false
	case c.of == patchLiteral:
		return true
	case c.caches == 0:
		return x.seen[ByBreakpoint+x.nameOf(patchCaches)]
	}
	return x.seen[ByBreakpoint+Maintained]
}

// bound sets what is known of a change by a time. It reports whether that is all.
func (x *Patches) bound(c *change, now uint64) bool {
	if c.e.Scheme == "slot" {
		return true
	}
	last := max(c.again, c.caches)
	if !c.behind && (last+settle > now || last+patience > now && x.awaits(c)) {
		return false
	}
	likely := last + settle
	if c.caches != 0 && x.quick != 0 && !c.kept {
		likely = c.caches + x.quick
	}
	if c.done == 0 || c.done > likely && !c.exact {
		c.done = likely
	}
	switch {
	case c.end != 0:
		return true
	case c.e.Under != "":
		c.end = c.done
		return true
	case c.done+settle <= now || !x.kicks:
		c.end = c.done + settle
		return true
	}
	return false
}

// flush gives the changes of which nothing more can be learnt by a time, in order.
func (x *Patches) flush(now uint64) error {
	for len(x.open) > 0 && x.bound(x.open[0], now) {
		c := x.open[0]
		x.open = x.open[1:]
		c.e.Time = c.begin
		if c.e.Scheme != "slot" { // the order of changes is that of their beginnings
			c.done = max(c.done, x.last)
			c.end = max(c.end, c.done)
			x.last = c.done
			c.e.Time, c.e.Begin, c.e.End = c.done, &c.begin, &c.end
		}
		if err := x.take(&c.e, c.file, c.off); err != nil {
			return err
		}
	}
	return nil
}
