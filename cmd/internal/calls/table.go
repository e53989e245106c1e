package calls

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/machines"
	"github.com/ptdecode/ptdecode/cmd/internal/spread"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// table counts calls. It is a decoder.Sink.
type table struct {
	o      *options
	s      *decoder.Session
	tree   calls.Tree
	gaps   uint64
	listed int // calls that --each printed
	groups []*group
	of     map[groupKey]*group
	plain  []*group // by Call.Function, where nothing else tells calls apart
	first  []int    // by Call.Function, plus 1: the first one that is the same function elsewhere in memory
	places map[placeOf]int
	holder holder // of the address asked for
	slow   []slowCall
	counts bool   // some call has cycles
	slower uint64 // ns that a call must take to be among the slowest
}

// groupKey is what calls are told apart by.
type groupKey struct {
	function int
	by       string
	part     int8 // of --split-at
}

// The parts of --split-at.
const (
	noPart int8 = iota
	before
	across
	after
)

var partNames = [...]string{"", "before", "across", "after"}

// group is calls of one function.
type group struct {
	// Each call changes these; they fill two cache lines, with the first fields of took.
	count uint64 // of which the first instruction ran
	self  uint64 // ns
	insns uint64 // with callees
	weak  uint64 // calls in which something is ambiguous or unconfirmed
	open  uint64 // calls without a time
	took  spread.Spread

	pace                 // of the calls that have cycles
	unseen uint64        // calls that began before the trace shows them
	off    spread.Spread // of calls of which bounds are known: how far off the time may be, ns

	elsewhere uint64 // calls without their first instruction, that began in the trace

	groupKey
	sym, file string
	guest     int32 // decoder.Stream.Guest
	addr      uint64
}

// pace is how fast calls ran of which the trace tells the cycles.
type pace struct {
	cycles, ran uint64 // ran: instructions in them
	counted     uint64 // calls
}

// perCycle returns the instructions a cycle; ok is false where there is no cycle.
func (p *pace) perCycle() (ipc float64, ok bool) {
	return float64(p.ran) / float64(max(p.cycles, 1)), p.cycles > 0
}

// paceOf returns how fast c ran.
func paceOf(c *calls.Call) (p pace) {
	if c.Counted {
		p = pace{c.Cycles, c.Insns, c.Times}
	}
	return p
}

// slowCall is a call that took long.
type slowCall struct {
	*group
	begin, end event.Time
	ns, off    uint64 // off: how far off ns may be
	stream     *decoder.Stream
	tid        int32
	comm       string
	speed      pace
	object     callObject
}

// newTable returns an empty table.
func newTable(s *decoder.Session, o *options) *table {
	t := &table{o: o, s: s, holder: holder{addr: o.addr}}
	t.tree = calls.Tree{Session: s, OnEnd: t.ended, OnRestart: t.forget, Fold: !o.filters && o.by == "" && o.split == 0 && o.slowest == 0 && !o.each}
	t.forget()
	return t
}

// forget begins anew.
func (t *table) forget() bool {
	t.gaps, t.groups, t.of, t.plain, t.slow, t.slower, t.counts = 0, nil, map[groupKey]*group{}, nil, nil, 0, false
	t.first, t.places = nil, map[placeOf]int{}
	return true
}

// Restart begins anew (decoder.Restarter).
func (t *table) Restart() bool { return t.tree.Restart() }

// Condenser returns what takes out of flow what the tree needs no more than counted.
func (t *table) Condenser() func(out, b *decoder.Batch) {
	if t.o.bounds {
		return nil
	}
	return t.tree.Condenser()
}

// Flow takes flow.
func (t *table) Flow(b *decoder.Batch) error {
	for i := range b.Notes {
		if b.Notes[i].Kind == decoder.NoteGap {
			t.gaps++
		}
	}
	if t.o.byAddr {
		t.holder.look(t.s, b)
	}
	return t.tree.Flow(b)
}

// Close ends the calls that are in progress.
func (t *table) Close() error {
	t.tree.Close()
	return nil
}

// ended counts a call.
func (t *table) ended(c *calls.Call) {
	if t.o.filters && !t.wants(c) {
		return
	}
	g := t.group(c)
	switch {
	case c.How == calls.Unseen:
		g.unseen++
	case c.Ran:
		g.count += c.Times
	default:
		g.elsewhere++
	}
	g.insns += c.Insns
	if c.Verdict >= decoder.Unconfirmed {
		g.weak++
	}
	if c.Counted {
		g.cycles += c.Cycles
		g.ran += c.Insns
		g.counted += c.Times
		t.counts = true
	}
	total, self, ok := c.Took()
	if !ok {
		g.open++
		return
	}
	g.took.Take(total, c.Times)
	g.self += self
	if t.o.bounds {
		g.off.Take(offBy(c, total), 1)
	}
	if t.o.slowest > 0 && total >= t.slower {
		t.rank(slowCall{
			group: g, ns: total, stream: c.Stream, tid: c.TID, comm: c.Comm, object: objectOf(c),
			begin: c.Begin, end: c.End, off: offBy(c, total), speed: paceOf(c),
		})
	}
}

// offBy returns how far off total, the time that c took, may be, ns.
func offBy(c *calls.Call, total uint64) uint64 {
	b, _ := c.Total()
	return max(max(b.Hi, total)-total, total-min(b.Lo, total))
}

// rank puts a call among the slowest, of which it holds up to twice as many as asked for.
func (t *table) rank(c slowCall) {
	t.slow = append(t.slow, c)
	if len(t.slow)/2 >= t.o.slowest {
		t.cutSlow()
	}
}

// cutSlow leaves the slowest calls, in order; among equal ones those that ended first.
func (t *table) cutSlow() {
	slices.SortStableFunc(t.slow, func(a, b slowCall) int { return cmp.Compare(b.ns, a.ns) })
	if n := t.o.slowest; n > 0 && len(t.slow) >= n {
		t.slow = t.slow[:n]
		t.slower = t.slow[n-1].ns + 1
	}
}

// wants reports whether c is asked for.
func (t *table) wants(c *calls.Call) bool {
	o, f := t.o, &t.o.filter.Options
	switch {
	case c.End.Hi < f.From || c.Begin.Lo > f.Until && f.Until != 0, !o.filter.Only.Call(c.Stream.Index, c.TID, c.Comm, c.Addr, c.Sym, c.File):
		return false
	}
	return o.only == "" || c.Sym == o.only || o.byAddr && t.holder.holds(c)
}

// placeOf is where a function lies in its file.
type placeOf struct {
	guest     int32
	sym, file string
	at        uint64
}

// function returns the number of c's function. Programs may have a file at addresses of their own: the
// function is one for all.
func (t *table) function(c *calls.Call) int {
	for c.Function >= len(t.first) {
		t.first = append(t.first, 0)
	}
	n := &t.first[c.Function]
	if *n > 0 {
		return *n - 1
	}
	*n = c.Function + 1
	if c.Space() == 0 || c.Sym == "" {
		return c.Function
	}
	o, ok := machines.Of(t.s, c.Guest()).Object(c.Space(), c.Addr, c.Begin.Lo)
	if !ok {
		return c.Function
	}
	k := placeOf{c.Guest(), c.Sym, c.File, c.Addr - o.Start}
	if known, ok := t.places[k]; ok {
		*n = known + 1
	} else {
		t.places[k] = c.Function
	}
	return *n - 1
}

// plainGroup is group, where only functions are told apart, and this one comes for the first time.
func (t *table) plainGroup(c *calls.Call) *group {
	f := t.function(c)
	for c.Function >= len(t.plain) {
		t.plain = append(t.plain, nil)
	}
	if t.plain[f] == nil {
		t.plain[f] = t.newGroup(c, groupKey{function: f})
	}
	t.plain[c.Function] = t.plain[f]
	return t.plain[f]
}

// group returns the group of c.
func (t *table) group(c *calls.Call) *group {
	if t.o.by == "" && t.o.split == 0 {
		if c.Function < len(t.plain) && t.plain[c.Function] != nil {
			return t.plain[c.Function]
		}
		return t.plainGroup(c)
	}
	f := t.function(c)
	k := groupKey{function: f}
	switch t.o.by {
	case "cpu":
		k.by = c.Stream.Name
	case "tid":
		k.by = strconv.Itoa(int(c.TID))
	case "comm":
		k.by = c.Comm
	case "caller":
		if k.by = c.How.String(); c.Caller != nil {
			k.by = nameOf(c.Caller.Sym, c.Caller.Addr)
		}
	}
	if at := t.o.split; at != 0 {
		switch {
		case c.End.Hi < at:
			k.part = before
		case c.Begin.Lo > at:
			k.part = after
		default:
			k.part = across
		}
	}
	g := t.of[k]
	if g == nil {
		g = t.newGroup(c, k)
		t.of[k] = g
	}
	return g
}

// newGroup adds a group of calls as c.
func (t *table) newGroup(c *calls.Call, k groupKey) *group {
	g := &group{groupKey: k, sym: c.Sym, file: c.File, guest: c.Guest(), addr: c.Addr}
	t.groups = append(t.groups, g)
	return g
}

// nameOf names a function.
func nameOf(sym string, addr uint64) string {
	if sym == "" {
		return fmt.Sprintf("0x%x", addr)
	}
	return sym
}

// sort puts the groups in the order asked for.
func (t *table) sort() {
	t.cutSlow()
	for _, g := range t.groups {
		g.took.Settle()
		g.off.Settle()
	}
	key := map[string]func(*group) uint64{
		"total": func(g *group) uint64 { return g.took.Sum },
		"self":  func(g *group) uint64 { return g.self },
		"count": func(g *group) uint64 { return g.count },
		"max":   func(g *group) uint64 { return g.took.Most },
		"name":  func(*group) uint64 { return 0 },
	}[t.o.sort]
	slices.SortStableFunc(t.groups, func(a, b *group) int {
		by := cmp.Compare(key(b), key(a))
		if by == 0 && a.took.N == 0 && b.took.N == 0 { // without times
			by = cmp.Compare(b.count, a.count)
		}
		by = cmp.Or(by, cmp.Compare(b.insns, a.insns))
		if t.o.sort == "name" {
			by = 0
		}
		return cmp.Or(by, cmp.Compare(nameOf(a.sym, a.addr), nameOf(b.sym, b.addr)), cmp.Compare(a.addr, b.addr),
			cmp.Compare(a.guest, b.guest), strings.Compare(a.by, b.by), cmp.Compare(a.part, b.part))
	})
	if n := t.o.first; n > 0 {
		t.groups = t.groups[:min(n, len(t.groups))]
	}
}

// known reports whether the function asked for is one of the recording's.
func (t *table) known() bool {
	if t.o.byAddr {
		return true
	}
	if y := t.s.Symbols(); y != nil {
		if _, ok := y.Find(t.o.only); ok {
			return true
		}
	}
	functions, _, _ := decoder.NamesIn(t.s)
	return filter.Has(t.o.only, functions)
}
