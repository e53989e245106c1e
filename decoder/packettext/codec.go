package packettext

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// Codec writes packets of type P in their text form, and reads them back.
type Codec[P comparable] struct {
	Table Table
	// Numbers returns the kind of p, and the numbers that its fields lie in.
	Numbers func(p P) (kind uint8, n Numbers)
	// Packet makes a packet of a kind, not 0, of its numbers.
	Packet func(kind uint8, n *Numbers) (P, error)
	// Encode returns the bytes of p, and sets in p what the lexer says of their
	// length.
	Encode func(p *P) []byte
	// Lex returns the packet that the lexer reads from the front of raw, in a trace
	// that like can be in.
	Lex func(raw []byte, like *P) P
	// Bad returns the packet of n bytes that are none.
	Bad func(n uint64) P
	// Pack makes bytes of half bytes, the lower half first. Where it is set packets
	// consist of half bytes: raw has one in each byte.
	Pack func(halves []byte) []byte
}

// Encoder returns an Encode for packets that hold their length in bytes, which size
// points to.
func Encoder[P interface{ Append(dst []byte) []byte }](size func(p *P) *uint8) func(p *P) []byte {
	return func(p *P) []byte {
		raw := (*p).Append(nil)
		*size(p) = uint8(len(raw))
		return raw
	}
}

// AppendText appends p in the text form, one line without its end. raw is the bytes
// of p: the text of bytes that are no packet shows them. For other kinds it may be nil.
func (c *Codec[P]) AppendText(dst []byte, p P, raw []byte) []byte {
	kind, n := c.Numbers(p)
	return c.Table.Append(dst, kind, &n, raw)
}

// AppendFields appends the fields of p as a JSON object (Table.AppendFields).
func (c *Codec[P]) AppendFields(dst []byte, p P) []byte {
	kind, n := c.Numbers(p)
	return c.Table.AppendFields(dst, kind, &n)
}

// Dump returns p as dumps print it: the kind's name, then the fields of the text form.
func (c *Codec[P]) Dump(p P) string {
	kind, n := c.Numbers(p)
	return string(c.Table.AppendDump(nil, kind, &n))
}

// Parse reads one line of the text form and returns the packet as the lexer would
// give it at the front of a stream. raw is its bytes. Blanks between words do not
// matter.
func (c *Codec[P]) Parse(line string) (p P, raw []byte, err error) {
	if p, raw, err = c.parseLine(line); err != nil {
		var zero P
		return zero, nil, fmt.Errorf("packet text: %w", err)
	}
	return p, raw, nil
}

func (c *Codec[P]) parseLine(line string) (p P, raw []byte, err error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return p, nil, fmt.Errorf("no packet in an empty line")
	}
	kind := 0
	for kind < len(c.Table) && c.Table[kind].Text != words[0] {
		kind++
	}
	switch kind {
	case len(c.Table):
		return p, nil, fmt.Errorf("%q: no packet has that name", words[0])
	case 0:
		return c.parseBad(words[1:])
	}
	var n Numbers
	rest, fields := words[1:], c.Table[kind].Fields
	for i := range fields {
		if rest, err = fields[i].parse(rest, &n); err != nil {
			return p, nil, fmt.Errorf("%s: %w", words[0], err)
		}
	}
	if len(rest) > 0 {
		return p, nil, fmt.Errorf("%s: %q is too much", words[0], rest[0])
	}
	if p, err = c.Packet(uint8(kind), &n); err != nil {
		return p, nil, fmt.Errorf("%s: %w", words[0], err)
	}
	raw = c.Encode(&p)
	if c.Lex(raw, &p) != p {
		return p, nil, fmt.Errorf("%q: no packet holds that: its bytes would be %x", line, raw)
	}
	return p, raw, nil
}

// parseBad reads the bytes of a packet that is none. What the lexer says of them
// stands in p, if it takes all of them for bad.
func (c *Codec[P]) parseBad(words []string) (p P, raw []byte, err error) {
	digits := strings.Join(words, "")
	if c.Pack != nil {
		for _, d := range digits {
			v := strings.IndexRune("0123456789abcdef", d)
			if v < 0 {
				return p, nil, fmt.Errorf("bad: %q, need half bytes, a hex digit each", d)
			}
			raw = append(raw, byte(v))
		}
		if len(raw) == 0 {
			return p, nil, fmt.Errorf("bad: need half bytes, a hex digit each")
		}
	} else if raw, err = hex.DecodeString(digits); err != nil || len(raw) == 0 {
		return p, nil, fmt.Errorf("bad: %q, need bytes of two hex digits", digits)
	}
	return c.Bad(uint64(len(raw))), raw, nil
}

// Assemble appends the bytes of text, in the text form, one packet a line.
// What follows a # and empty lines are passed over.
func (c *Codec[P]) Assemble(dst []byte, text string) ([]byte, error) {
	all, err := c.assemble(text)
	if c.Pack != nil {
		all = c.Pack(all)
	}
	return append(dst, all...), err
}

func (c *Codec[P]) assemble(text string) (all []byte, err error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		_, raw, err := c.Parse(line)
		if err != nil {
			return all, fmt.Errorf("line %d: %w", n, err)
		}
		all = append(all, raw...)
	}
	return all, nil
}
