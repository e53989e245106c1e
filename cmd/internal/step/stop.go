package step

import (
	"fmt"
	"math"
	"slices"

	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Stop is where a stepper stands: an instruction that was executed, with the code around
// it as of then. As JSON it is the object of type "stop" (docs/formats/output.md).
type Stop struct {
	Type    string   `json:"type"`
	Stream  string   `json:"stream"`
	CPU     *int32   `json:"cpu,omitempty"`
	Guest   int32    `json:"guest,omitempty"` // the process that runs the virtual machine; absent: the host
	Time    uint64   `json:"time,omitempty"`  // ns, the lower bound
	Until   *uint64  `json:"until,omitempty"` // ns, the upper bound
	TID     *int32   `json:"tid,omitempty"`
	Comm    string   `json:"comm,omitempty"`
	Addr    string   `json:"addr" schema:"hex16"`
	Sym     string   `json:"sym,omitempty"`
	DSO     string   `json:"dso,omitempty"`
	Insn    string   `json:"disasm,omitempty"`
	SrcLine string   `json:"srcline,omitempty"` // FILE:LINE of the source
	Source  string   `json:"source,omitempty"`  // what that line says, if the file is here
	Verdict string   `json:"verdict" schema:"verdict"`
	Epoch   uint32   `json:"epoch"`           // changes to the code that are done by then
	Since   uint32   `json:"epoch_from"`      // from which epoch on this is the code
	Before  *uint32  `json:"epoch_until"`     // and before which one it is; null: to the end
	Pokes   []int    `json:"pokes,omitempty"` // changes that touch the instruction
	Notes   []string `json:"notes,omitempty"` // what lies between the instruction before and this one
	Code    []Line   `json:"code"`
	Next    string   `json:"next,omitempty" schema:"hex16"` // address of the instruction executed next
	NextSym string   `json:"next_sym,omitempty"`
	Gaps    []string `json:"next_gaps,omitempty"` // what cannot be followed before that, or before the trace ends
}

// Line is an instruction of the code around a Stop.
type Line struct {
	Addr  string `json:"addr" schema:"hex16"`
	Bytes string `json:"bytes" schema:"hex"`
	Insn  string `json:"disasm"`
	Src   string `json:"srcline,omitempty"` // FILE:LINE of the source
	Here  bool   `json:"here,omitempty"`
	Poked bool   `json:"poked,omitempty"` // some change touches it
}

// The code shown around a place, instructions.
const (
	linesBefore = 5
	linesBehind = 7
	farthest    = 1 << 16 // bytes from where a function begins
)

// stop describes where c stands; nil if nothing was executed there.
func (c *cursor) stop() (*Stop, error) {
	x, ok := c.here()
	if !ok {
		return nil, nil
	}
	st := c.s.Streams()[c.stream]
	addr, t := x.addr(c.k), x.stamp.Time
	p := &Stop{
		Type: "stop", Stream: st.Name, Time: t.Lo, Addr: hex16(addr), Verdict: x.verdict.String(),
		Guest: st.Guest, Notes: c.notes(x), Pokes: []int{},
	}
	if st.CPU >= 0 {
		p.CPU = &st.CPU
	}
	if t.Hi != math.MaxUint64 && t.Hi != t.Lo {
		p.Until = &t.Hi
	}
	if tid, comm, _, ok := c.s.Running(c.stream, t.Stated()); ok {
		p.TID, p.Comm = &tid, comm
	}
	at := c.epoch(x)
	c.epochs(p, x, addr, at)
	p.Sym, p.DSO = c.name(x.block.Space, addr, t.Likely())
	if x.block.Space == 0 {
		p.Pokes = c.of.Text().Between(addr, int(x.block.Lens[c.k]), 0, event.MaxEpoch, p.Pokes)
	}
	p.SrcLine, p.Source = c.source(x.block.Space, addr, t.Likely())
	c.code(p, x, at)
	return p, c.following(p)
}

// following says where the flow goes on.
func (c *cursor) following(p *Stop) error {
	peek := *c
	more, err := peek.next()
	if err != nil {
		return err
	}
	notes := c.tail
	if more {
		y := &peek.items[peek.i]
		p.Next = hex16(y.addr(peek.k))
		p.NextSym, _ = c.name(y.block.Space, y.addr(peek.k), y.stamp.Time.Likely())
		if notes = y.notes; peek.k > 0 {
			notes = nil
		}
	}
	for i := range notes {
		if g := notes[i].Gap; notes[i].Kind == decoder.NoteGap {
			p.Gaps = append(p.Gaps, fmt.Sprintf("%s, %s of trace", g.Reason, plural.Count(g.End-g.Off, "byte")))
		}
	}
	return nil
}

// epoch returns the epoch as of which the code of x is shown: that of its time, if the
// code was what ran then.
func (c *cursor) epoch(x *item) event.Epoch {
	at := c.of.EpochAt(x.stamp.Time.Likely())
	return min(max(at, x.block.Span.From), x.block.Span.Until-1)
}

// epochs says for which changes the code at addr of x is this, as flow does. It counts those
// of the kernel's code, or for code of a program those of that program's.
func (c *cursor) epochs(p *Stop, x *item, addr uint64, at event.Epoch) {
	span := x.block.Span
	if x.block.Space != 0 && !c.of.Kernel(addr) {
		span = c.of.UserEpochs(x.block.Space, addr)
		at = span.From
	}
	p.Epoch, p.Since = uint32(at), uint32(span.From)
	if until := uint32(span.Until); span.Until != event.MaxEpoch {
		p.Before = &until
	}
}

// name renders what an address is called, and the file or module that it is of.
func (c *cursor) name(space uint32, addr, time uint64) (sym, dso string) {
	sym, off, dso, ok := c.of.Symbol(space, addr, time)
	switch {
	case !ok:
		return "", ""
	case sym == "":
		return fmt.Sprintf("%s+0x%x", dso, off), dso
	case off > 0:
		sym = fmt.Sprintf("%s+0x%x", sym, off)
	}
	return sym, dso
}

// notes renders what lies before the cursor.
func (c *cursor) notes(x *item) (out []string) {
	if c.k > 0 {
		return nil
	}
	for i := range x.notes {
		n := &x.notes[i]
		switch n.Kind {
		case decoder.NoteGap:
			out = append(out, fmt.Sprintf("gap: %s, %s of trace", n.Gap.Reason, plural.Count(n.Gap.End-n.Gap.Off, "byte")))
		case decoder.NoteTrap:
			s := fmt.Sprintf("trap (%s) at %s", n.Trap, hex16(n.IP))
			if n.Poke >= 0 {
				s += fmt.Sprintf(", poke %d", n.Poke)
			}
			out = append(out, s)
		case decoder.NoteCut:
			if n.Poke >= 0 && n.Verdict == decoder.Ambiguous {
				out = append(out, fmt.Sprintf("poke %d may have taken effect before this, or later (%s)", n.Poke, n.Verdict))
			} else if n.Poke >= 0 {
				out = append(out, fmt.Sprintf("poke %d took effect (%s)", n.Poke, n.Verdict))
			}
		case decoder.NoteTrackOff:
			out = append(out, "tracing went off")
		case decoder.NoteTrackOn:
			out = append(out, "tracing came on")
		case decoder.NoteEvent:
			if n.Event.Kind == event.Async {
				out = append(out, "interrupt or exception at "+hex16(n.Event.From))
			}
		}
	}
	return out
}

// code adds the code around the instruction at the cursor, as of an epoch.
func (c *cursor) code(p *Stop, x *item, at event.Epoch) {
	here, t := x.addr(c.k), x.stamp.Time.Likely()
	from := x.block.Addr
	if _, off, _, ok := c.of.Symbol(x.block.Space, here, t); ok && off <= farthest && c.of.Kernel(here) {
		from = here - off
	}
	buf := make([]byte, here-from+(linesBehind+2)*maxInsn)
	n := c.of.Code(buf, x.block.Space, from, at)
	if uint64(n) <= here-from { // what the function begins with is not known
		from = x.block.Addr
		n = c.of.Code(buf, x.block.Space, from, at)
	}
	after := 0
	for off := 0; off < n && after <= linesBehind; {
		a := from + uint64(off)
		if a > x.block.Addr && a < here && from != x.block.Addr && !begins(x, a) {
			off = int(x.block.Addr - from) // counted from the block: the function has data in it
			continue
		}
		line, size := c.insn(x.block.Space, buf[off:n], a, x.block.Mode, t)
		l := Line{Addr: hex16(a), Bytes: fmt.Sprintf("%x", buf[off:off+size]), Insn: line, Here: a == here}
		l.Src, _ = c.source(x.block.Space, a, t)
		l.Poked = x.block.Space == 0 && len(c.of.Text().Between(a, size, 0, event.MaxEpoch, nil)) > 0
		if l.Here {
			p.Insn = line
		}
		switch {
		case a > here:
			after++
		case !l.Here && len(p.Code) == linesBefore:
			p.Code = slices.Delete(p.Code, 0, 1)
		}
		if after <= linesBehind {
			p.Code = append(p.Code, l)
		}
		off += size
	}
}

// maxInsn is the longest instruction, bytes.
const maxInsn = 15

// begins reports whether an instruction of x begins at a.
func begins(x *item, a uint64) bool {
	for i := range x.block.Lens {
		if x.addr(i) == a {
			return true
		}
	}
	return false
}

// insn disassembles the instruction of space at the front of text, and returns its length. Its
// target is named as of t, ns.
func (c *cursor) insn(space uint32, text []byte, addr uint64, m isa.Mode, t uint64) (string, int) {
	set, mode := c.of.ISA()
	if m == mode {
		m = c.of.ModeAt(addr)
	}
	var in isa.Insn
	n := 1
	switch set.Decode(&in, text, addr, m) {
	case isa.Bad:
	case isa.Short:
		n = max(1, len(text))
	default:
		n = int(in.Len)
	}
	return c.of.Format(text[:n], addr, m, func(a uint64) (string, uint64) {
		sym, off, _, ok := c.of.Symbol(space, a, t)
		if !ok || sym == "" {
			return "", 0
		}
		return sym, a - off
	}), n
}

func hex16(v uint64) string { return fmt.Sprintf("%016x", v) }
