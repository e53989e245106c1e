package calls

import (
	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/pt"
)

// counter reads the cycles that packets tell of.
type counter interface {
	lend(b []byte, from int64) // b is what lies in the stream from a place on, bytes
	next(p *counted) bool      // it reads a packet, and returns false at the end of what was lent
}

// counted is what a counter needs of a packet.
type counted struct {
	off, end int64  // in its stream, bytes
	cycles   uint64 // that passed since the last count
	bad      bool   // it may go on behind what was lent
}

// countersOf returns what counts the cycles of a stream, nil where its packets have none.
func countersOf(st *decoder.Stream) *cycles {
	if st.Guest != 0 {
		return nil
	}
	switch u := st.Unit.(type) {
	case pt.Config:
		y := &cycles{st: st, packets: &countsPT{}}
		if !u.CYC {
			y.reach(st.Head)
			if y.reach(st.Head + firstCYC); y.now == 0 {
				return nil
			}
			*y = cycles{st: st, packets: &countsPT{}}
		}
		return y
	case coresight.Config:
		switch {
		case (u.Protocol == coresight.ETMv4 || u.Protocol == coresight.ETE) && u.V4.CycleCounts():
			return &cycles{st: st}
		case u.Protocol == coresight.ETMv3 && u.V3.CycleAccurate():
			f := (&etmv3.Config{Trace: u}).Format()
			return &cycles{st: st, with: 1, packets: &countsV3{format: f}}
		case u.Protocol == coresight.PTM && u.V3.CycleAccurate():
			f := (&ptm.Config{Trace: u}).Format()
			return &cycles{st: st, with: 1, packets: &countsPTM{format: f}}
		}
	}
	return nil
}

// countsPT is the counter of Intel PT: CYC packets (Intel SDM, "Cycle Count (CYC) Packet"). The
// CYC of a packet stands before it.
type countsPT struct {
	lexer pt.Lexer
	p     pt.Packet
}

func (c *countsPT) lend(b []byte, from int64) { c.lexer.Reset(b, from) }

func (c *countsPT) next(p *counted) bool {
	if !c.lexer.Next(&c.p) {
		return false
	}
	*p = counted{off: c.p.Off, end: c.p.End(), bad: c.p.Kind == pt.Bad}
	if c.p.Kind == pt.CYC {
		p.cycles = c.p.Value
	}
	return true
}

// countsPTM is the counter of PTM: packets have the cycles since the last count, in
// cycle-accurate mode (IHI0035B, "Cycle-accurate tracing"). Those of an I-sync passed while
// tracing was off.
type countsPTM struct {
	format ptm.Format
	lexer  *ptm.Lexer
	p      ptm.Packet
}

func (c *countsPTM) lend(b []byte, from int64) { c.lexer = ptm.NewLexer(c.format, b, from) }

func (c *countsPTM) next(p *counted) bool {
	if !c.lexer.Next(&c.p) {
		return false
	}
	*p = counted{off: c.p.Off, end: c.p.End(), bad: c.p.Kind == ptm.Bad}
	if c.p.CC > 0 && c.p.Kind != ptm.ISync {
		p.cycles = uint64(c.p.Cycles)
	}
	return true
}

// countsV3 is the counter of ETMv3: in cycle-accurate mode P-headers have cycles, as W atoms
// (IHI0014Q, "P-header encodings in cycle-accurate mode"). Those of Cycle count packets and
// I-syncs passed while tracing was off.
type countsV3 struct {
	format etmv3.Format
	lexer  *etmv3.Lexer
	p      etmv3.Packet
}

func (c *countsV3) lend(b []byte, from int64) { c.lexer = etmv3.NewLexer(c.format, b, from) }

func (c *countsV3) next(p *counted) bool {
	if !c.lexer.Next(&c.p) {
		return false
	}
	*p = counted{off: c.p.Off, end: c.p.End(), bad: c.p.Kind == etmv3.Bad}
	if c.p.Kind == etmv3.PHeader {
		switch c.p.Info { // its format
		case 1:
			p.cycles = uint64(c.p.N) // a W before each
		case 2:
			p.cycles = 1
		case 3:
			p.cycles = uint64(c.p.Cycles)
		}
	}
	return true
}
