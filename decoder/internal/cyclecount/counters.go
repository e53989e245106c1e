// Package cyclecount reads how many cycles the packets of a trace count, where the decoded flow does not tell. Whoever takes
// flow reads these packets once more.
package cyclecount

import (
	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/pt"
)

// Counter reads the cycles that packets tell of.
type Counter interface {
	Lend(b []byte, from int64) // b is what lies in the stream from a place on, bytes
	Next(p *Counted) bool      // it reads a packet, and returns false at the end of what was lent
}

// Counted is what a Counter says of a packet.
type Counted struct {
	Off, End int64  // in its stream, bytes
	Cycles   uint64 // cycles of the core since the last count
	Bad      bool   // it may go on behind what was lent
}

// PT is the Counter of Intel PT: CYC packets (Intel SDM, "Cycle Count (CYC) Packet"). The
// CYC of a packet stands before it.
type PT struct {
	lexer pt.Lexer
	p     pt.Packet
}

// Lend has c read b.
func (c *PT) Lend(b []byte, from int64) { c.lexer.Reset(b, from) }

// Next reads a packet.
func (c *PT) Next(p *Counted) bool {
	if !c.lexer.Next(&c.p) {
		return false
	}
	*p = Counted{Off: c.p.Off, End: c.p.End(), Bad: c.p.Kind == pt.Bad}
	if c.p.Kind == pt.CYC {
		p.Cycles = c.p.Value
	}
	return true
}

// PTM is the Counter of PTM: packets have the cycles since the last count, in
// cycle-accurate mode (IHI0035B, "Cycle-accurate tracing"). Those of an I-sync passed while
// tracing was off.
type PTM struct {
	Format ptm.Format
	lexer  *ptm.Lexer
	p      ptm.Packet
}

// Lend has c read b.
func (c *PTM) Lend(b []byte, from int64) { c.lexer = ptm.NewLexer(c.Format, b, from) }

// Next reads a packet.
func (c *PTM) Next(p *Counted) bool {
	if !c.lexer.Next(&c.p) {
		return false
	}
	*p = Counted{Off: c.p.Off, End: c.p.End(), Bad: c.p.Kind == ptm.Bad}
	if c.p.CC > 0 && c.p.Kind != ptm.ISync {
		p.Cycles = uint64(c.p.Cycles)
	}
	return true
}

// V3 is the Counter of ETMv3: in cycle-accurate mode P-headers have cycles, as W atoms
// (IHI0014Q, "P-header encodings in cycle-accurate mode"). Those of Cycle count packets and
// I-syncs passed while tracing was off.
type V3 struct {
	Format etmv3.Format
	lexer  *etmv3.Lexer
	p      etmv3.Packet
}

// Lend has c read b.
func (c *V3) Lend(b []byte, from int64) { c.lexer = etmv3.NewLexer(c.Format, b, from) }

// Next reads a packet.
func (c *V3) Next(p *Counted) bool {
	if !c.lexer.Next(&c.p) {
		return false
	}
	*p = Counted{Off: c.p.Off, End: c.p.End(), Bad: c.p.Kind == etmv3.Bad}
	if c.p.Kind == etmv3.PHeader {
		switch c.p.Info { // its format
		case 1:
			p.Cycles = uint64(c.p.N) // a W before each
		case 2:
			p.Cycles = 1
		case 3:
			p.Cycles = uint64(c.p.Cycles)
		}
	}
	return true
}
