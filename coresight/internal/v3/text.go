package v3

import (
	"fmt"

	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// Lexer reads packets one by one.
type Lexer[P any] interface {
	// Next reads a packet; it returns false where there is none.
	Next(p *P) bool
}

// NewCodec returns the text form of the packets of ETMv3 or PTM. table holds their
// kinds, numbers takes one apart, ofNumbers makes one, and size points to its length. A
// lexer of the format that like returns reads it.
func NewCodec[P interface {
	comparable
	Append(dst []byte) []byte
}, F any, L Lexer[P]](
	table packettext.Table, numbers func(p P) (kind uint8, n packettext.Numbers), ofNumbers func(kind uint8, n *packettext.Numbers) (P, error), size func(p *P) *uint8,
	lexer func(f F, buf []byte, base int64) L, like func(p *P) F, bad func(n uint64) P,
) packettext.Codec[P] {
	return packettext.Codec[P]{
		Table: table, Numbers: numbers, Packet: ofNumbers, Encode: packettext.Encoder(size), Bad: bad,
		Lex: func(raw []byte, p *P) (q P) {
			lexer(like(p), raw, 0).Next(&q)
			return q
		},
	}
}

// Dump returns a packet as dumps print it: the kind's name as the manual writes it,
// the fields of the text form, and what they mean. bad says of one of kind 0 why it is
// none.
func Dump[P comparable](c *packettext.Codec[P], p P, bad packettext.Bad, meaning string) string {
	kind, n := c.Numbers(p)
	switch {
	case kind == 0 && bad.Why == packettext.BadCut && bad.Of == kindASync:
		return fmt.Sprintf("%s %d bytes: zeros, cut short", c.Table[0].Name, bad.Size)
	case kind == 0:
		return c.Table.Dump(bad)
	}
	dst := c.Table.AppendDump(nil, kind, &n)
	if meaning != "" {
		dst = append(append(append(dst, " ("...), meaning...), ')')
	}
	return string(dst)
}

// kindASync is the kind of an A-sync in both protocols.
const kindASync = 1

// ContextSize is the error of a context ID of as many bytes, nil where there can be one.
func ContextSize(n uint8) error {
	if n == 3 {
		return fmt.Errorf("context ID of 3 bytes, need 1, 2 or 4")
	}
	return nil
}
