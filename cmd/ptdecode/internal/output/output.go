// Package output holds the sinks of ptdecode: what turns decoded flow into
// lines on a writer, one file a format. A sink takes flow.Batch values, each
// stream's in order, and keeps none of their memory; what it must know of the
// recording it asks a Recording. What the lines look like is
// docs/formats/output.md.
package output

import (
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore"
)

// Options says what to print of a flow, and how.
type Options struct {
	Level  Level
	JSON   bool
	Fields []Field
	Digest bool // nothing but a hash a CPU; the fields and filters below do not apply
	Runs   bool // runs, or with Digest a hash over them; the fields and filters below do not apply
	None   bool // no rows at all, only what is told of gaps

	Gaps  bool // gaps in place, as lines "# gap ..."; else by Say. JSON always has them in place
	Notes bool // what lies between instructions, as lines "# ..."; JSON: objects of type event

	TIDs  []int32 // threads; nil: all
	From  uint64  // ns; 0: from the start
	Until uint64  // ns; 0: to the end
	Syms  []string
	Last  int // rows at most, the last in time; 0: all

	Reverse  bool // newest first
	RawTraps bool // in the levels branch and call: traps with their handlers' flow
	Say      func(line string)
	Hint     func(*event.Gap) string // what to do about a gap; nil: nothing is said
}

// Recording is what a sink asks of the recording whose flow it prints.
type Recording interface {
	// Symbol names addr in an address space at a time, ns.
	Symbol(space uint32, addr, time uint64) (sym string, off uint64, dso string, ok bool)
	// Kernel reports whether addr is the kernel's, whatever the address space.
	Kernel(addr uint64) bool
	// Running returns the thread that a stream traced at a time, ns.
	Running(stream int, time uint64) (tid int32, comm string, ok bool)
	// Code copies the machine code at addr as of an epoch; it returns how many
	// bytes are known.
	Code(dst []byte, space uint32, addr uint64, at event.Epoch) int
	// ISA returns the instruction set of the kernel's text and its mode.
	ISA() (isa.Decoder, isa.Mode)
	// Format gives the instruction at the front of text, at addr in mode m, as a
	// line; sym names the symbol that holds an address.
	Format(text []byte, addr uint64, m isa.Mode, sym func(uint64) (string, uint64)) string
	// Text returns the kernel's text in time.
	Text() *kcore.Text
	// Symbols returns the kernel's symbols, nil where there are none.
	Symbols() *kcore.Symbols
}

// Stream names one trace source.
type Stream struct {
	Index int
	CPU   int32  // -1: not known, or a thread's
	TID   int32  // of a thread's
	ID    string // of CoreSight: the trace ID, hex; else ""
	Name  string // for people: "cpu0", "tid12", "id10"

	SilentReturns bool // no packet tells of an exception return: an executed ERET is one
	Software      Software

	// FileOff returns the file that the byte at off stands in, and where in it; ok
	// is false where off itself says it, or nothing does.
	FileOff func(off int64) (file string, at int64, ok bool)
}

// place appends " (FILE+0xAT)", where the byte at off stands in its file; nothing
// where off says it.
func (s *Stream) place(dst []byte, off int64) []byte {
	if s.FileOff == nil {
		return dst
	}
	file, at, ok := s.FileOff(off)
	if !ok {
		return dst
	}
	dst = append(appendName(append(dst, " ("...), file), "+0x"...)
	return append(strconv.AppendInt(dst, at, 16), ')')
}

// fileOff appends where in its file the byte at off stands, as place does, to an
// object.
func (s *Stream) fileOff(dst []byte, off int64) []byte {
	if s.FileOff == nil {
		return dst
	}
	file, at, ok := s.FileOff(off)
	if !ok {
		return dst
	}
	return number(name(dst, "file", file), "file_off", uint64(at))
}

// Software says what of software a stream carries.
type Software uint8

// What software writes to.
const (
	NoSoftware  Software = iota // it is traced itself
	SoftwareSTM                 // messages to a System Trace Macrocell
	SoftwareITM                 // the ports of an Instrumentation Trace Macrocell, and its watch on the core
)

// short returns how lines name the stream: its CPU's number, tidN for a
// thread's, the trace ID where neither is known.
func (s *Stream) short() string {
	if s.CPU < 0 && s.TID < 0 && s.ID != "" {
		return s.ID
	}
	if s.CPU < 0 {
		return "tid" + strconv.Itoa(int(s.TID))
	}
	return strconv.Itoa(int(s.CPU))
}

// ErrEnough is returned by a sink that wants no more flow; it is no error.
var ErrEnough = errors.New("output: enough")

// Sink takes the flow and prints it.
type Sink interface {
	flow.Sink
	// Close writes what is left.
	Close() error
}

// Order says in which order a sink wants its batches.
type Order struct {
	Merged  bool // of all streams by time; else each stream in its order will do
	Reverse bool // newest first
}

// New returns a sink that prints to w what o asks for, the counter of what it
// printed, and the order in which it wants batches. only are the indices of the
// streams that will come, nil for all.
func New(rec Recording, streams []Stream, only []int, w io.Writer, o Options) (Sink, *Counter, Order) {
	c := &Counter{streams: streams, inPlace: o.Gaps, say: o.Say, hint: o.Hint}
	out := lines{w: w}
	if only == nil {
		for i := range streams {
			only = append(only, i)
		}
	}
	switch {
	case o.Runs:
		return newRuns(only, o.Digest, out, c), c, Order{}
	case o.Digest:
		return newDigest(only, out, c), c, Order{}
	case o.None:
		return &nothing{out: out, counter: c}, c, Order{}
	case IsFixed(o.Level, o.Fields) && !o.JSON && !o.Notes && !o.Reverse && !o.filters():
		return newAddresses(streams, out, o.Fields, c), c, Order{}
	}
	order := Order{Merged: true, Reverse: o.Reverse || o.Last > 0}
	return newPrinter(rec, out, o, order.Reverse, only, c), c, order
}

// filters reports whether some of the flow may be left out.
func (o *Options) filters() bool {
	return o.TIDs != nil || o.From != 0 || o.Until != 0 || o.Syms != nil || o.Last > 0
}

// Printer is a sink that prints rows: at any level, in any format, filtered.
type Printer struct {
	o        Options
	backward bool // batches come newest first
	out      lines
	counter  *Counter
	lanes    []*lane
	only     []int // lanes to which batches may come
	ended    bool  // level element: the ends of the streams were printed
	names    names
	keep     []Row // with Options.Last: newest first
	kept     int   // rows of the level in keep
	enc      encoder
	queue    queue
	spans    []span // of Options.Syms
}

// span is addresses from <= a < until.
type span struct{ from, until uint64 }

// encoder appends a row as a line.
type encoder interface {
	row(dst []byte, r *Row) []byte
}

// newPrinter returns a Printer of the streams only, whose batches come newest
// first if backward.
func newPrinter(rec Recording, out lines, o Options, backward bool, only []int, c *Counter) *Printer {
	p := &Printer{o: o, backward: backward, out: out, counter: c, names: newNames(rec, len(c.streams)), only: only}
	for i := range c.streams {
		p.lanes = append(p.lanes, newLane(p, &c.streams[i]))
	}
	if o.JSON {
		p.enc = &jsonEncoder{names: &p.names, fields: o.Fields}
	} else {
		p.enc = &textEncoder{names: &p.names, fields: o.Fields}
	}
	for _, n := range o.Syms {
		if y := rec.Symbols(); y != nil {
			if sym, ok := y.Find(n); ok {
				p.spans = append(p.spans, span{sym.Addr, sym.Addr + sym.Len})
			}
		}
	}
	return p
}

// Flow prints b.
func (p *Printer) Flow(b *flow.Batch) error {
	ln := p.lanes[b.Stream]
	if p.backward {
		if err := p.ends(); err != nil {
			return err
		}
		n := len(b.Notes)
		for i := len(b.Ranges); i >= 0; i-- {
			for ; n > 0 && b.Notes[n-1].At >= i; n-- {
				if err := ln.note(&b.Notes[n-1]); err != nil {
					return err
				}
			}
			if i > 0 {
				if err := ln.ran(b, &b.Ranges[i-1]); err != nil {
					return err
				}
			}
		}
		return p.out.full()
	}
	n := 0
	for i := 0; i <= len(b.Ranges); i++ {
		for ; n < len(b.Notes) && b.Notes[n].At <= i; n++ {
			if err := ln.note(&b.Notes[n]); err != nil {
				return err
			}
		}
		if i < len(b.Ranges) {
			if err := ln.ran(b, &b.Ranges[i]); err != nil {
				return err
			}
		}
	}
	return p.out.full()
}

// ends prints, at the level element, that the streams end: once, in front of all
// else if that comes newest first.
func (p *Printer) ends() error {
	if p.ended || p.o.Level != LevelElement {
		return nil
	}
	p.ended = true
	for i := range p.only {
		if p.backward {
			i = len(p.only) - 1 - i
		}
		if err := p.lanes[p.only[i]].bare(endOfTrace, event.Time{}); err != nil {
			return err
		}
	}
	return nil
}

// Close writes what is left.
func (p *Printer) Close() error {
	for _, ln := range p.lanes {
		if p.o.Last > 0 && p.kept == p.o.Last {
			break
		}
		if err := ln.finish(); err != nil && err != ErrEnough {
			return err
		}
	}
	if err := p.ends(); err != nil && err != ErrEnough {
		return err
	}
	if err := p.release(true); err != nil && err != ErrEnough {
		return err
	}
	if p.o.Last > 0 {
		rows := p.keep
		if !p.o.Reverse {
			slices.Reverse(rows)
			settleDepths(rows)
		}
		for i := range rows {
			p.out.buf = p.enc.row(p.out.buf, &rows[i])
		}
	}
	return p.out.flush()
}

// row prints r, or keeps it, if the filters let it pass.
func (p *Printer) row(r *Row) error {
	if !p.wanted(r) {
		return nil
	}
	if p.queue.waiting() {
		p.queue.put(r)
		if len(p.queue.rows)-p.queue.head < maxQueue {
			return nil
		}
		return p.release(false)
	}
	return p.print(r)
}

// print prints r, or keeps it for the end.
func (p *Printer) print(r *Row) error {
	switch r.Kind {
	case RowGap:
		if !p.o.Gaps && !p.o.JSON {
			return p.counter.note(r.Stream.Index, r.Event, &p.out)
		}
		p.counter.gap(&r.Event.Gap)
	case RowInsn, RowBlock, RowElement:
		p.counter.Insns += uint64(r.N)
		if r.Verdict == flow.Ambiguous {
			p.counter.Ambiguous += uint64(r.N)
		}
	}
	if r.Kind != RowGap && r.Kind != RowEvent {
		p.counter.Rows++
	}
	if p.o.Last > 0 {
		return p.keepRow(r)
	}
	p.out.buf = p.enc.row(p.out.buf, r)
	return nil
}

// keepRow keeps r for the end. What lies between the rows that were asked for
// is not counted, but bounded too.
func (p *Printer) keepRow(r *Row) error {
	if p.kept == p.o.Last {
		return ErrEnough // it waited behind the last one
	}
	if r.Kind == RowGap || r.Kind == RowEvent || r.Word == endOfTrace {
		if len(p.keep)-p.kept < 2*p.o.Last+1024 {
			p.keep = append(p.keep, r.clone())
		}
		return nil
	}
	p.keep = append(p.keep, r.clone())
	if p.kept++; p.kept == p.o.Last {
		return ErrEnough
	}
	return nil
}

// wanted reports whether the filters let r pass.
func (p *Printer) wanted(r *Row) bool {
	o := &p.o
	if (o.From != 0 && r.Time.Hi < o.From) || (o.Until != 0 && r.Time.Lo > o.Until) {
		return false
	}
	if r.Kind == RowGap {
		return true // what lies in a gap is not known to be unwanted
	}
	if o.TIDs != nil && !slices.Contains(o.TIDs, p.names.task(r).tid) {
		return false
	}
	if o.Syms == nil {
		return true
	}
	return p.inSym(r, r.IP) || (r.HasAddr && (r.Kind == RowBranch || r.Kind == RowTrap) && p.inSym(r, r.Addr))
}

// inSym reports whether addr lies in one of the symbols asked for.
func (p *Printer) inSym(r *Row, addr uint64) bool {
	for _, sp := range p.spans {
		if sp.from <= addr && addr < sp.until {
			return true
		}
	}
	if len(p.spans) == len(p.o.Syms) {
		return false
	}
	return slices.Contains(p.o.Syms, p.names.at(r, addr).sym)
}
