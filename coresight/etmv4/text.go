package etmv4

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
)

// String returns p in one line as dumps print it: the kind's name as the
// manuals write it, then the fields of the text form.
func (p Packet) String() string {
	if p.Kind >= NumKinds {
		return "?"
	}
	dst := append([]byte(nil), specs[p.Kind].name...)
	if p.Kind != Bad {
		return string(appendFields(dst, &p))
	}
	dst = fmt.Appendf(dst, " %d bytes: ", p.Value)
	of := Kind(p.Extra)
	switch {
	case p.Arg == BadCut && of == Bad:
		dst = append(dst, "packet cut short"...)
	case p.Arg == BadCut:
		dst = fmt.Appendf(dst, "%v: packet cut short: have %d bytes, need %d", of, p.Value, p.N)
	case p.Arg == BadForm:
		dst = fmt.Appendf(dst, "%v: reserved form", of)
	default:
		dst = append(dst, "no packet of this trace unit starts so"...)
	}
	return string(dst)
}

// AppendText appends p in the text form of docs/formats/etmv4-packets.md, one
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
	var v uint64
	switch f.in {
	case inAddress:
		v, _ = p.Address()
	case inReserved:
		v = p.reserved()
	default:
		v = [...]uint64{inValue: p.Value, inValue2: p.Value2, inExtra: uint64(p.Extra), inArg: uint64(p.Arg), inN: uint64(p.N)}[f.in]
	}
	return v >> f.lo & (1<<f.width - 1)
}

// set is the inverse of get; false: v has bits that f has no room for. Until
// setBytes an address stands in Value instead of its bytes, and what of them is
// reserved in Extra.
func (f *bitField) set(p *Packet, v uint64) bool {
	if f.width < 64 && v>>f.width != 0 {
		return false
	}
	w := v << f.lo
	switch f.in {
	case inValue:
		p.Value |= w
	case inValue2:
		p.Value2 |= w
	case inExtra:
		p.Extra |= uint32(w)
	case inArg:
		p.Arg |= uint8(w)
	case inN:
		p.N |= uint8(w)
	case inAddress:
		p.Value |= w
	case inReserved:
		p.Extra |= uint32(w) << reservedShift
	}
	return true
}

// reservedShift is where Extra holds reserved bits of an address until setBytes.
const reservedShift = 16

// setBytes makes the address in Value, of a packet that has one and whose other
// fields are set, the bytes that state it; false: they cannot.
func (p *Packet) setBytes() bool {
	n, _ := p.sent()
	if n == 0 {
		return true
	}
	addr, reserved := p.Value, p.Extra>>reservedShift
	p.Extra &= 1<<reservedShift - 1
	p.setAddress(addr, reserved)
	low, _ := p.Address()
	return low == addr && p.reserved() == uint64(reserved)
}

// flagged reports whether the bit that says that f is there is set.
func (f *bitField) flagged(p *Packet) bool {
	if f.flag < 8 {
		return p.Arg>>f.flag&1 != 0
	}
	return p.Extra>>(f.flag-8)&1 != 0
}

// setFlag sets the bit that says that f is there.
func (f *bitField) setFlag(p *Packet) {
	if f.flag < 8 {
		p.Arg |= 1 << f.flag
	} else {
		p.Extra |= 1 << (f.flag - 8)
	}
}

// half returns the place in N of the size of the ID that f shows, a bit number.
func (f *bitField) half() uint8 { return 4 * (f.flag - 14) }

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
		case asNamed:
			if v != 0 {
				dst = fmt.Appendf(dst, " %s 0x%x", f.name, v)
			}
		case asCount:
			if v != 0 {
				dst = fmt.Appendf(dst, " %s %d", f.name, v)
			}
		case asWord:
			if v != 0 {
				dst = append(append(dst, ' '), f.name...)
			}
		case asFlagged:
			if f.flagged(p) {
				dst = fmt.Appendf(dst, " %s %d", f.name, v)
			}
		case asBytes:
			dst = fmt.Appendf(dst, " %d: 0x%x", p.N, v)
		case asAtoms:
			dst = append(dst, ' ')
			for n := int(p.N) - 1; n >= 0; n-- {
				dst = append(dst, "ne"[v>>n&1])
			}
		case asBefore:
			if v != 0 {
				dst = append(append(dst, ' '), before[v]...)
			}
		case asID:
			if f.flagged(p) {
				dst = fmt.Appendf(dst, " %s %d: 0x%x", f.name, p.N>>f.half()&0xf, v)
			}
		}
	}
	return dst
}

// ParseText reads one line of the text form and returns the packet as Next
// would give it at offset 0 in the stream of the trace unit that c describes.
// raw is its bytes. Blanks between words do not matter.
func ParseText(c coresight.Config, line string) (p Packet, raw []byte, err error) {
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
		return parseBad(c, words[1:])
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
	ok := p.setBytes()
	raw = AppendPacket(nil, p)
	p.Len = uint8(len(raw))
	var q Packet
	if NewLexer(c, raw, 0).Next(&q); !ok || q != p {
		return Packet{}, nil, fmt.Errorf("packet text: %q: no packet of this trace unit holds that: its bytes would be %x", line, raw)
	}
	return p, raw, nil
}

// parseBad reads the bytes of a packet that is none. What the lexer says of
// them stands in p, if it takes all of them for bad.
func parseBad(c coresight.Config, words []string) (p Packet, raw []byte, err error) {
	if raw, err = wire.ParseBytes(words); err != nil {
		return Packet{}, nil, fmt.Errorf("packet text: bad: %w", err)
	}
	if NewLexer(c, raw, 0).Next(&p); p.Kind != Bad || p.Value != uint64(len(raw)) {
		p = Packet{Kind: Bad, Value: uint64(len(raw))}
	}
	return p, raw, nil
}

// parse takes the words of f off the front of words.
func (f *bitField) parse(p *Packet, words []string) (rest []string, err error) {
	named := len(words) > 0 && words[0] == f.name
	switch f.form {
	case asAtoms:
		return parseAtoms(p, words)
	case asBytes:
		n, rest, err := f.sized(p, words)
		p.N = uint8(n)
		return rest, err
	case asBefore:
		for v := 1; v < len(before) && len(words) > 0; v++ {
			if words[0] == before[v] {
				f.set(p, uint64(v))
				return words[1:], nil
			}
		}
		return words, nil
	case asWord:
		if named {
			f.set(p, 1)
			return words[1:], nil
		}
		return words, nil
	case asNamed, asCount, asFlagged, asID:
		if !named {
			return words, nil
		}
		words = words[1:]
		if f.form == asFlagged {
			f.setFlag(p)
		}
	}
	if f.form == asID {
		n, rest, err := f.sized(p, words)
		f.setFlag(p)
		p.N |= uint8(n) << f.half()
		return rest, err
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("%s is missing", f.name)
	}
	return words[1:], f.number(p, words[0])
}

// number sets f to what word says.
func (f *bitField) number(p *Packet, word string) error {
	v, err := strconv.ParseUint(word, 0, 64)
	if err != nil {
		return fmt.Errorf("%s: %q is no number", f.name, word)
	}
	if !f.set(p, v) {
		return fmt.Errorf("%s: %s does not fit: %d bits", f.name, word, f.width)
	}
	return nil
}

// sized reads a size in bytes with a colon, and the number.
func (f *bitField) sized(p *Packet, words []string) (n int, rest []string, err error) {
	if len(words) < 2 {
		return 0, nil, fmt.Errorf("%s: need its size, a colon, and the number", f.name)
	}
	c, ok := strings.CutSuffix(words[0], ":")
	size, err := strconv.ParseUint(c, 10, 4)
	if !ok || err != nil || size > 9 {
		return 0, nil, fmt.Errorf("%s: %q is no size in bytes with a colon", f.name, words[0])
	}
	return int(size), words[2:], f.number(p, words[1])
}

func parseAtoms(p *Packet, words []string) (rest []string, err error) {
	if len(words) == 0 || len(words[0]) > 24 {
		return nil, fmt.Errorf("need 1 to 24 atoms")
	}
	for _, c := range []byte(words[0]) {
		i := strings.IndexByte("ne", c)
		if i < 0 {
			return nil, fmt.Errorf("atom %q, need e or n", c)
		}
		p.Extra = p.Extra<<1 | uint32(i)
		p.N++
	}
	return words[1:], nil
}

// Assemble appends the bytes of text, in the text form, one packet a line.
// What follows a # and empty lines are passed over.
func Assemble(c coresight.Config, dst []byte, text string) ([]byte, error) {
	return wire.Assemble(dst, text, func(line string) ([]byte, error) {
		_, raw, err := ParseText(c, line)
		return raw, err
	})
}
