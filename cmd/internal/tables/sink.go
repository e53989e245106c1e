package tables

import (
	"encoding/hex"

	"github.com/ptdecode/ptdecode/cmd/internal/counts"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// Sink fills tables with a session's flow. It takes that of all streams in order of time.
type Sink struct {
	o       Options
	s       *decoder.Session
	f       *host.Filter
	enc     Encoder
	calls   callTaker       // is enc; nil: calls become rows one by one
	passed  *calls.Rows     // for calls: those that the filters let pass
	maker   *rows.Maker     // nil: no table asks for it
	tree    *calls.Tree     // the same
	counter *counts.Counter // the same
	row     []Value
	err     error
}

// Options says what is written.
type Options struct {
	Choice  Choice
	Crossed func(poke int) []report.Crossing // how CPUs crossed a change, asked at the end; nil: no crossings
	Counted func(*counts.Counter)            // is told at the end of what was counted (Sink.Counts); nil: nobody asks
	// Each is as in counts.Options, if the sink tells it of ranges (Sink.TellsEach); nil: nobody asks.
	Each func(*decoder.Batch, *decoder.BatchRange) (more bool)
}

// New returns a sink that writes to enc.
func New(s *decoder.Session, f *host.Filter, enc Encoder, o Options) *Sink {
	k := &Sink{o: o, s: s, f: f, enc: enc}
	k.calls, _ = enc.(callTaker)
	c := &o.Choice
	if c[tableBranches] || c[tableTraps] || c[tableGaps] || c[tableEvents] {
		r := f.Options
		r.Level, r.Gaps, r.Events, r.Rare = rows.LevelBranch, true, c[tableEvents], !c[tableBranches]
		k.maker = rows.New(s, f.Streams, f.Query.Streams, r, k.take)
	}
	if c[tableCalls] {
		k.tree = &calls.Tree{Session: s, OnEnd: k.call, Brief: true}
		if k.calls != nil {
			k.tree.OnRows, k.passed = k.callRows, new(calls.Rows)
		}
	}
	if c[tableBlocks] || c[tableInstructions] {
		k.counter = counts.New(s, f, counts.Options{CPUs: true, Blocks: true, Each: o.Each})
	}
	return k
}

// Counts reports whether instructions are counted, all of them: Options.Counted is going to be called.
func (k *Sink) Counts() bool { return k.counter != nil && k.o.Counted != nil && !k.f.Options.Filters() }

// TellsEach reports whether Options.Each is told of ranges, as in counts.Options.
func (k *Sink) TellsEach() bool { return k.counter != nil && !k.f.Options.Filters() }

// Flow takes b.
func (k *Sink) Flow(b *decoder.Batch) error {
	if b.Part != 0 {
		return nil
	}
	if k.maker != nil {
		if err := k.maker.Flow(b); err != nil {
			return err
		}
	}
	if k.tree != nil {
		if err := k.tree.Flow(b); err != nil {
			return err
		}
	}
	if k.counter != nil {
		if err := k.counter.Flow(b); err != nil {
			return err
		}
	}
	return k.err
}

// put writes the row that was made.
func (k *Sink) put(table int) error {
	if !k.o.Choice[table] {
		return nil
	}
	if err := k.enc.Row(table, k.row); err != nil && k.err == nil {
		k.err = err
	}
	return k.err
}

func (k *Sink) addNumber(n int64)   { k.row = append(k.row, Value{N: uint64(n)}) }
func (k *Sink) addAddress(n uint64) { k.row = append(k.row, Value{N: n}) }
func (k *Sink) addText(s string)    { k.row = append(k.row, Value{S: s}) }

// addHinted adds a text, with a hint (Value).
func (k *Sink) addHinted(s string, hint uint64) { k.row = append(k.row, Value{N: hint, S: s}) }

// begin begins a row with when and where.
func (k *Sink) begin(t event.Time, stream string, cpu, tid int32, comm string) {
	k.row = k.row[:0]
	k.addNumber(int64(t.Lo))
	k.addNumber(int64(min(t.Hi, 1<<63-1)))
	k.addHinted(stream, uint64(cpu))
	k.addNumber(int64(cpu))
	k.addNumber(int64(tid))
	k.addHinted(comm, uint64(tid))
}

// take takes a row of flow.
func (k *Sink) take(r *rows.Row) error {
	switch {
	case r.Kind == rows.KindBranch && !k.o.Choice[tableBranches]:
		return nil // of a handler whose end is not seen
	case r.Kind == rows.KindEvent && r.Note.Kind != decoder.NoteEvent:
		return nil
	}
	names := k.maker.Names()
	tid, comm := names.Thread(r)
	k.begin(r.Time, r.Stream.Name, r.Stream.CPU, tid, comm)
	switch r.Kind {
	case rows.KindBranch:
		k.addHinted(r.Transfer.String(), uint64(r.Transfer))
		k.addAddress(r.IP)
		k.addHinted(names.At(r, r.IP).Sym, r.IP)
		to := uint64(0)
		if r.HasAddr {
			to = r.Addr
		}
		k.addAddress(to)
		if r.HasAddr {
			k.addHinted(names.At(r, to).Sym, to)
		} else {
			k.addText("")
		}
		k.addHinted(r.Verdict.String(), uint64(r.Verdict))
		return k.put(tableBranches)
	case rows.KindTrap:
		k.addAddress(r.IP)
		k.addText(names.At(r, r.IP).Sym)
		k.addText(r.Trap.String())
		k.addNumber(int64(r.Poke))
		k.addAddress(r.Addr)
		k.addText(r.Verdict.String())
		return k.put(tableTraps)
	case rows.KindGap:
		g := &r.Note.Gap
		k.addText(g.Reason.String())
		k.addText(g.What)
		k.addAddress(g.IP)
		k.addNumber(g.Off)
		k.addNumber(g.End)
		return k.put(tableGaps)
	case rows.KindEvent:
		e := &r.Note.Event
		k.addText(e.Kind.String())
		k.addText(e.Detail.String())
		k.addAddress(r.IP)
		k.addAddress(e.Value)
		k.addAddress(e.Value2)
		return k.put(tableEvents)
	}
	return nil
}

// callRows takes rows of calls, those that the filters let pass (calls.Tree.OnRows).
func (k *Sink) callRows(x *calls.Rows) (next *calls.Rows) {
	o, only := &k.f.Options, k.f.Given != "" && k.f.Only != nil
	if !only && o.From == 0 && o.Until == 0 {
		x, err := k.calls.takesCalls(k.tree, x)
		k.Fail(err)
		return x
	}
	for i := range x.N {
		if x.EndMax[i] < o.From || o.Until != 0 && x.Begin[i] > o.Until {
			continue
		}
		if only {
			sym, file, addr := k.tree.Named(x.Function[i])
			if !k.f.Only.Call(x.Ran[i].Stream.Index, x.Ran[i].TID, x.Ran[i].Comm, addr, sym, file) {
				continue
			}
		}
		if k.passed.Takes(x, i); k.passed.N == maxWaiting {
			k.handsRows()
		}
	}
	return x
}

// handsRows hands on the rows of calls that the filters let pass.
func (k *Sink) handsRows() {
	if k.passed != nil && k.passed.N > 0 {
		var err error
		k.passed, err = k.calls.takesCalls(k.tree, k.passed)
		k.Fail(err)
	}
}

// call takes a call that has ended, if the filters let it pass.
func (k *Sink) call(c *calls.Call) {
	f := &k.f.Options
	if c.End.Hi < f.From || f.Until != 0 && c.Begin.Lo > f.Until || k.f.Given != "" && k.f.Only != nil && !k.f.Only.Call(c.Stream.Index, c.TID, c.Comm, c.Addr, c.Sym, c.File) {
		return
	}
	k.begin(c.Begin, c.Stream.Name, c.Stream.CPU, c.TID, c.Comm)
	k.addNumber(int64(c.End.Lo))
	k.addNumber(int64(min(c.End.Hi, 1<<63-1)))
	k.addHinted(c.Sym, uint64(c.Function))
	k.addHinted(c.File, uint64(c.Function))
	k.addAddress(c.Addr)
	k.addAddress(c.From)
	k.addNumber(int64(c.Depth))
	k.addHinted(c.How.String(), uint64(c.How))
	k.addHinted(c.Ended.String(), uint64(c.Ended))
	total, self, ok := c.Took()
	if ok {
		k.addNumber(int64(total))
		k.addNumber(int64(self))
	} else {
		k.addNumber(-1)
		k.addNumber(-1)
	}
	k.addNumber(int64(c.Insns))
	k.addNumber(int64(c.Self))
	k.addHinted(c.Verdict.String(), uint64(c.Verdict))
	_ = k.put(tableCalls)
}

// Fail says that flow is missing, and why: Close is not to make the tables look whole.
func (k *Sink) Fail(err error) {
	if k.err == nil {
		k.err = err
	}
}

// ender is an Encoder that is told when a table has no more rows, so that it needs less memory.
type ender interface{ ends(table int) }

// ended says that tables have no more rows.
func (k *Sink) ended(tables ...int) {
	if e, ok := k.enc.(ender); ok {
		for _, t := range tables {
			e.ends(t)
		}
	}
}

// apart is an Encoder of which goroutines may write rows at the same time, each those of another table.
type apart interface{ apart() }

// aside has f write a table while others are written, if the encoder allows it. Else f writes it once what aside returns
// is called, which returns what f does.
func (k *Sink) aside(f func() error) (wait func() error) {
	if _, ok := k.enc.(apart); !ok {
		return f
	}
	done := make(chan error, 1)
	go func() { done <- f() }()
	return func() error { return <-done }
}

// Close writes what is known at the end only.
func (k *Sink) Close() error {
	if k.err == nil && k.maker != nil {
		k.Fail(k.maker.Close())
	}
	if k.err == nil {
		symbols := k.aside(k.symbols)
		if k.tree != nil {
			k.tree.Close()
			k.handsRows()
		}
		k.maker, k.tree = nil, nil
		k.ended(tableCalls, tableBranches, tableTraps, tableGaps, tableEvents)
		if k.counter != nil {
			k.executed()
			if k.Counts() {
				k.o.Counted(k.counter)
			}
		}
		k.counter = nil
		k.ended(tableBlocks, tableInstructions)
		k.changes()
		k.ended(tablePokes, tableCrossings, tableVersions)
		k.Fail(symbols())
	}
	return k.enc.Close(k.err)
}

// symbols writes the kernel's symbols. It touches nothing that changes.
func (k *Sink) symbols() error {
	y := k.s.Symbols()
	if y == nil || !k.o.Choice[tableSymbols] {
		return nil
	}
	row := make([]Value, 0, len(Tables[tableSymbols].Columns))
	for _, s := range y.Named(func(string) bool { return true }) {
		row = append(row[:0], Value{N: s.Addr}, Value{N: uint64(s.Len)}, Value{S: s.Name}, Value{S: s.Module})
		if err := k.enc.Row(tableSymbols, row); err != nil {
			return err
		}
	}
	return nil
}

// insnAt is where an instruction lies. Programs have code of their own at one address: the names tell it apart.
type insnAt struct {
	addr      uint64
	sym, file string // of the kernel's: ""
}

// insnOf returns where the instruction of r at addr lies.
func insnOf(names *counts.Names, r *counts.Range, addr uint64) insnAt {
	if r.Block.Space == 0 {
		return insnAt{addr: addr}
	}
	p := names.At(r.Block.Space, addr, r.Seen)
	return insnAt{addr, p.Sym, p.File}
}

// executed writes blocks and instructions with how often they were executed.
func (k *Sink) executed() {
	names := counts.NewNames(k.s)
	for _, g := range k.counter.Groups() {
		if g.Guest != 0 || g.Stream < 0 {
			continue
		}
		stream := k.s.Streams()[g.Stream].Name
		insns := map[insnAt]counts.Count{}
		list := k.counter.Table(g).Ranges()
		for i := range list {
			r := &list[i]
			p := names.At(r.Block.Space, r.Block.Addr, r.Seen)
			k.row = k.row[:0]
			k.addText(stream)
			k.addAddress(r.Block.Addr)
			k.addAddress(r.End())
			k.addText(p.Sym)
			k.addText(p.File)
			k.addNumber(int64(r.Insns))
			k.addNumber(int64(r.N))
			k.addNumber(int64(r.Ambiguous))
			_ = k.put(tableBlocks)
			a := r.Block.Addr
			for _, n := range r.Block.Lens[:r.Insns] {
				at := insnOf(names, r, a)
				c := insns[at]
				insns[at] = counts.Count{N: c.N + r.N, Ambiguous: c.Ambiguous + r.Ambiguous}
				a += uint64(n)
			}
		}
		k.each(stream, names, list, insns)
	}
}

// each writes instructions, in the order of the blocks that hold them.
func (k *Sink) each(stream string, names *counts.Names, list []counts.Range, insns map[insnAt]counts.Count) {
	for i := range list {
		r := &list[i]
		a := r.Block.Addr
		for _, n := range r.Block.Lens[:r.Insns] {
			at := insnOf(names, r, a)
			if c, ok := insns[at]; ok {
				delete(insns, at)
				p := names.At(r.Block.Space, a, r.Seen)
				k.row = k.row[:0]
				k.addText(stream)
				k.addAddress(a)
				k.addText(p.Sym)
				k.addText(p.File)
				k.addNumber(int64(c.N))
				k.addNumber(int64(c.Ambiguous))
				_ = k.put(tableInstructions)
			}
			a += uint64(n)
		}
	}
}

// changes writes changes to the code, its versions, and how CPUs crossed the changes.
func (k *Sink) changes() {
	v := versions{map[uint64]*version{}, k.version}
	for p := range k.s.Pokes() {
		if k.o.Choice[tableVersions] {
			v.follow(&p)
		}
		k.row = k.row[:0]
		k.addNumber(int64(p.Index))
		k.addAddress(p.Time)
		k.addAddress(p.Addr)
		k.addText(p.Symbol)
		k.addText(hex.EncodeToString(p.Old))
		k.addText(hex.EncodeToString(p.New))
		k.addText(p.Kind.String())
		k.addText(p.Scheme.String())
		k.addNumber(int64(p.TID))
		k.addText(p.Comm)
		_ = k.put(tablePokes)
		if k.o.Crossed == nil {
			continue
		}
		for _, c := range k.o.Crossed(p.Index) {
			k.row = k.row[:0]
			k.addNumber(int64(p.Index))
			k.addText(k.s.Streams()[c.Stream].Name)
			k.addNumber(int64(c.Old.N))
			k.addAddress(c.Old.Last.Time.Likely())
			k.addNumber(int64(c.Traps.N))
			k.addNumber(int64(c.New.N))
			k.addAddress(c.New.First.Time.Likely())
			k.addText(c.Verdict().String())
			_ = k.put(tableCrossings)
		}
	}
	v.ends()
}
