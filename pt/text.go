package pt

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// String returns p in one line as dumps print it: the kind's name as the SDM
// writes it, then the fields of the text form.
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
		dst = append(dst, "no packet starts so"...)
	}
	return string(dst)
}

// AppendText appends p in the text form of docs/formats/intel-pt-packets.md,
// one line without its end. raw is the bytes of p: the text of a Bad packet
// shows them; for other kinds it may be nil.
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
	case inValue:
		v = p.Value
	case inArg:
		v = uint64(p.Arg)
	case inExtra:
		v = uint64(p.Extra)
	case inN:
		v = uint64(p.N)
	case inLen:
		v = uint64(p.Len)
	case inFlag:
		if p.Flag {
			v = 1
		}
	}
	return v >> f.lo & (1<<f.width - 1) << f.shift
}

// set is the inverse of get; false: v has bits that f has no room for.
func (f *bitField) set(p *Packet, v uint64) bool {
	w := v >> f.shift
	if w<<f.shift != v || f.width < 64 && w>>f.width != 0 {
		return false
	}
	w <<= f.lo
	switch f.in {
	case inValue:
		p.Value |= w
	case inArg:
		p.Arg |= uint16(w)
	case inExtra:
		p.Extra |= uint16(w)
	case inN:
		p.N = uint8(w)
	case inLen:
		p.Len = uint8(w)
	case inFlag:
		p.Flag = w != 0
	}
	return true
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
		case asSize:
			dst = fmt.Appendf(dst, " %d", 4<<v)
		case asRepeat:
			if v != 1 {
				dst = fmt.Appendf(dst, " %d", v)
			}
		case asResults:
			dst = appendResults(dst, p)
		case asIP:
			if p.Arg != 0 {
				dst = fmt.Appendf(dst, " %d: 0x%x", p.Arg, v)
			}
		}
	}
	return dst
}

func appendResults(dst []byte, p *Packet) []byte {
	if p.N == 0 {
		return dst
	}
	dst = append(dst, ' ')
	for i := int(p.N) - 1; i >= 0; i-- {
		dst = append(dst, "nt"[p.Value>>i&1])
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
	if k == BIP && p.N != 4 && p.N != 8 {
		return Packet{}, nil, fmt.Errorf("packet text: bip: size: %d, need 4 or 8", p.N)
	}
	raw = AppendPacket(nil, p)
	p.Len = uint8(len(raw))
	l := NewLexer(raw, 0)
	if k == BIP {
		l.block(p.N)
	}
	var q Packet
	if l.Next(&q); q != p {
		return Packet{}, nil, fmt.Errorf("packet text: %q: no packet holds that: its bytes would be %x", line, raw)
	}
	return p, raw, nil
}

// parseBad reads the bytes of a packet that is none. What the lexer says of
// them stands in p, if it takes all of them for bad.
func parseBad(words []string) (p Packet, raw []byte, err error) {
	digits := strings.Join(words, "")
	for len(digits) >= 2 {
		b, err := strconv.ParseUint(digits[:2], 16, 8)
		if err != nil {
			return Packet{}, nil, fmt.Errorf("packet text: bad: %q is no byte in hex", digits[:2])
		}
		raw, digits = append(raw, byte(b)), digits[2:]
	}
	if digits != "" || len(raw) == 0 {
		return Packet{}, nil, fmt.Errorf("packet text: bad: need bytes of two hex digits")
	}
	l := NewLexer(raw, 0)
	if l.Next(&p); p.Kind != Bad || p.Value != uint64(len(raw)) {
		p = Packet{Kind: Bad, Value: uint64(len(raw))}
	}
	return p, raw, nil
}

// parse takes the words of f off the front of words.
func (f *bitField) parse(p *Packet, words []string) (rest []string, err error) {
	switch f.form {
	case asResults:
		return parseResults(p, words)
	case asIP:
		return parseIP(p, words)
	case asWord:
		if len(words) > 0 && words[0] == f.name {
			f.set(p, 1)
			return words[1:], nil
		}
		return words, nil
	case asNamed, asCount:
		if len(words) == 0 || words[0] != f.name {
			return words, nil
		}
		words = words[1:]
	case asRepeat:
		if len(words) == 0 {
			f.set(p, 1)
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
	switch f.form {
	case asRepeat:
		if v == 0 {
			return nil, fmt.Errorf("%s: 0, need 1 at least", f.name)
		}
	case asSize:
		if v != 4 && v != 8 {
			return nil, fmt.Errorf("%s: %d, need 4 or 8", f.name, v)
		}
		v = v/4 - 1
	}
	if !f.set(p, v) {
		return nil, fmt.Errorf("%s: %s does not fit: %d bits from bit %d up", f.name, words[0], f.width, f.shift)
	}
	return words[1:], nil
}

func parseResults(p *Packet, words []string) (rest []string, err error) {
	if len(words) == 0 {
		return nil, nil
	}
	if len(words[0]) > 47 {
		return nil, fmt.Errorf("%d results, 47 at most", len(words[0]))
	}
	for _, c := range []byte(words[0]) {
		i := strings.IndexByte("nt", c)
		if i < 0 {
			return nil, fmt.Errorf("result %q, need t or n", c)
		}
		p.Value = p.Value<<1 | uint64(i)
		p.N++
	}
	return words[1:], nil
}

func parseIP(p *Packet, words []string) (rest []string, err error) {
	if len(words) == 0 {
		return nil, nil
	}
	c, ok := strings.CutSuffix(words[0], ":")
	n, err := strconv.ParseUint(c, 10, 3)
	switch {
	case !ok || err != nil || n == 0 || ipSize[n] < 0:
		return nil, fmt.Errorf("%q, need IPBytes (1, 2, 3, 4 or 6) and a colon", words[0])
	case len(words) < 2:
		return nil, fmt.Errorf("the address is missing")
	}
	v, err := strconv.ParseUint(words[1], 0, 64)
	if err != nil {
		return nil, fmt.Errorf("%q is no address", words[1])
	}
	if size := int(ipSize[n]); bits.Len64(v) > 8*size {
		return nil, fmt.Errorf("%s does not fit the %d bytes of IPBytes %d", words[1], size, n)
	}
	p.Arg, p.Value = uint16(n), v
	return words[2:], nil
}

// Assemble appends the bytes of text, in the text form, one packet a line.
// What follows a # and empty lines are passed over.
func Assemble(dst []byte, text string) ([]byte, error) {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, _, _ = strings.Cut(line, "#")
		if strings.TrimSpace(line) == "" {
			continue
		}
		_, raw, err := ParseText(line)
		if err != nil {
			return dst, fmt.Errorf("line %d: %w", n, err)
		}
		dst = append(dst, raw...)
	}
	return dst, nil
}
