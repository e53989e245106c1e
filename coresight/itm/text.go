package itm

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/coresight/internal/wire"
)

// String returns p in one line as dumps print it: the kind's name, then the
// fields of the text form.
func (p Packet) String() string {
	if p.Kind >= NumKinds {
		return "?"
	}
	dst := append([]byte(nil), specs[p.Kind].name...)
	if p.Kind != Bad {
		return string(appendFields(dst, &p))
	}
	dst = fmt.Appendf(dst, " %d bytes: ", p.Value)
	switch p.Arg {
	case BadCut:
		dst = fmt.Appendf(dst, "%v: packet cut short: have %d bytes, need %d", p.Of, p.Value, p.N)
	case BadForm:
		dst = fmt.Appendf(dst, "%v: reserved form", p.Of)
	default:
		dst = append(dst, "no packet starts so"...)
	}
	return string(dst)
}

// AppendText appends p in the text form of docs/formats/itm-packets.md, one
// line without its end. raw is the bytes of p: the text of a Bad packet shows
// them; for other kinds it may be nil.
func AppendText(dst []byte, p Packet, raw []byte) []byte {
	if p.Kind >= NumKinds {
		return dst
	}
	dst = append(dst, specs[p.Kind].text...)
	if p.Kind == Bad {
		return fmt.Appendf(append(dst, ' '), "%x", raw)
	}
	return appendFields(dst, &p)
}

// get returns the number that f shows of p.
func (f *bitField) get(p *Packet) uint64 {
	v := p.Value
	switch f.in {
	case inArg:
		v = uint64(p.Arg)
	case inN:
		v = uint64(p.N)
	}
	return v >> f.lo & (1<<f.width - 1)
}

// set is the inverse of get; false: v has bits that f has no room for.
func (f *bitField) set(p *Packet, v uint64) bool {
	if v>>f.width != 0 {
		return false
	}
	switch f.in {
	case inArg:
		p.Arg |= uint8(v << f.lo)
	case inN:
		p.N = uint8(v)
	default:
		p.Value |= v << f.lo
	}
	return true
}

// least returns how many bytes p's value needs, where they are 7 bits each.
func (p *Packet) least() uint8 {
	n := uint8(bits.Len64(p.Value)+6) / 7
	switch {
	case p.Kind == GTS1 && p.Arg != 0:
		return 4 // the flags are in the fourth
	case p.Kind != Ext:
		n = max(n, 1)
	}
	return n
}

// appendFields appends each field of p behind a space.
func appendFields(dst []byte, p *Packet) []byte {
	fields := specs[p.Kind].fields
	for i := range fields {
		f := &fields[i]
		v := f.get(p)
		switch f.form {
		case asHex:
			dst = fmt.Appendf(dst, " 0x%x", v)
		case asDec:
			dst = fmt.Appendf(dst, " %d", v)
		case asWord:
			if v != 0 {
				dst = append(append(dst, ' '), f.name...)
			}
		case asMore:
			if p.N != p.least() {
				dst = fmt.Appendf(dst, " %s %d", f.name, v)
			}
		case asRun:
			if v != minZeros {
				dst = fmt.Appendf(dst, " %d", v)
			}
		}
	}
	return dst
}

// ParseText reads one line of the text form and returns the packet as Next
// would give it at offset 0. raw is its bytes. Blanks between words do not
// matter.
func ParseText(line string) (p Packet, raw []byte, err error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return Packet{}, nil, fmt.Errorf("packet text: no packet in an empty line")
	}
	k := Kind(0)
	for k < NumKinds && specs[k].text != words[0] {
		k++
	}
	switch k {
	case NumKinds:
		return Packet{}, nil, fmt.Errorf("packet text: %q: no packet has that name", words[0])
	case Bad:
		return parseBad(words[1:])
	}
	p.Kind = k
	rest := words[1:]
	for i := range specs[k].fields {
		if rest, err = specs[k].fields[i].parse(&p, rest); err != nil {
			return Packet{}, nil, fmt.Errorf("packet text: %s: %w", words[0], err)
		}
	}
	if len(rest) > 0 {
		return Packet{}, nil, fmt.Errorf("packet text: %s: %q is too much", words[0], rest[0])
	}
	if k == Sync && p.Value > maxZeros {
		return Packet{}, nil, fmt.Errorf("packet text: sync: %d zeros, at most %d", p.Value, maxZeros)
	}
	raw = AppendPacket(nil, p)
	var q Packet
	if NewLexer(raw, 0).Next(&q); q != p {
		return Packet{}, nil, fmt.Errorf("packet text: %q: no packet holds that: its bytes would be %x", line, raw)
	}
	return p, raw, nil
}

// maxZeros bounds what a line of text can be made to stand for, bytes.
const maxZeros = 1 << 20

// parse takes the words of f off the front of words.
func (f *bitField) parse(p *Packet, words []string) (rest []string, err error) {
	switch f.form {
	case asWord:
		if len(words) > 0 && words[0] == f.name {
			f.set(p, 1)
			return words[1:], nil
		}
		return words, nil
	case asMore:
		if len(words) == 0 || words[0] != f.name {
			p.N = p.least()
			return words, nil
		}
		words = words[1:]
	case asRun:
		if len(words) == 0 {
			p.Value = minZeros
			return nil, nil
		}
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("%s is missing", f.name)
	}
	v, err := strconv.ParseUint(words[0], 0, 64)
	if err != nil {
		return nil, fmt.Errorf("%s: %q is no number", f.name, words[0])
	}
	if !f.set(p, v) {
		return nil, fmt.Errorf("%s: %s does not fit: %d bits", f.name, words[0], f.width)
	}
	return words[1:], nil
}

// parseBad reads the bytes of a packet that is none. What the lexer says of
// them stands in p, if it takes all of them for bad.
func parseBad(words []string) (p Packet, raw []byte, err error) {
	if raw, err = wire.ParseBytes(words); err != nil {
		return Packet{}, nil, fmt.Errorf("packet text: bad: %w", err)
	}
	if NewLexer(raw, 0).Next(&p); p.Kind != Bad || p.Value != uint64(len(raw)) {
		p = Packet{Kind: Bad, Value: uint64(len(raw))}
	}
	return p, raw, nil
}

// Assemble appends the bytes of text, in the text form, one packet a line.
// What follows a # and empty lines are passed over.
func Assemble(dst []byte, text string) ([]byte, error) {
	return wire.Assemble(dst, text, func(line string) ([]byte, error) {
		_, raw, err := ParseText(line)
		return raw, err
	})
}
