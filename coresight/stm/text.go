package stm

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/coresight/internal/wire"
)

// String returns p in one line as dumps print it: the kind's name as STPv2
// writes it, then the fields of the text form.
func (p Packet) String() string {
	if p.Kind >= NumKinds {
		return "?"
	}
	dst := append([]byte(nil), specs[p.Kind].name...)
	if p.Kind != Bad {
		return string(appendFields(dst, &p))
	}
	dst = fmt.Appendf(dst, " %d half bytes: ", p.Value)
	switch {
	case p.Why == BadCut && p.Of == Bad:
		dst = append(dst, "packet cut short"...)
	case p.Why == BadCut:
		dst = fmt.Appendf(dst, "%v: packet cut short: have %d half bytes, need %d", p.Of, p.Value, p.Need)
	case p.Why == BadForm:
		dst = fmt.Appendf(dst, "%v: reserved form", p.Of)
	default:
		dst = append(dst, "no packet starts so"...)
	}
	return string(dst)
}

// AppendText appends p in the text form of docs/formats/stm-packets.md, one
// line without its end. raw is the stream's bytes [Off, End) of p: the text of
// a Bad packet shows them; for other kinds it may be nil.
func AppendText(dst []byte, p Packet, raw []byte) []byte {
	if p.Kind >= NumKinds {
		return dst
	}
	dst = append(dst, specs[p.Kind].text...)
	if p.Kind != Bad {
		return appendFields(dst, &p)
	}
	dst = append(dst, ' ')
	for i := int(p.Half); i < int(p.Half)+int(p.Value) && i/2 < len(raw); i++ {
		dst = append(dst, "0123456789abcdef"[raw[i/2]>>(i%2*4)&15])
	}
	return dst
}

// appendFields appends the data of p and its timestamp, each behind a space.
func appendFields(dst []byte, p *Packet) []byte {
	s := &specs[p.Kind]
	switch {
	case s.field == "":
	case s.decimal:
		dst = fmt.Appendf(dst, " %d", p.Value)
	default:
		dst = fmt.Appendf(dst, " 0x%x", p.Value)
	}
	if s.stamped {
		dst = fmt.Appendf(dst, " ts %d", p.TSLen)
		if p.TSLen > 0 {
			dst = fmt.Appendf(dst, ": 0x%x", p.TS)
		}
	}
	return dst
}

// ParseText reads one line of the text form and returns the packet as Next
// would give it at the front of a stream. digits are its half bytes, a hex
// digit each, in the order sent. Blanks between words do not matter.
func ParseText(line string) (p Packet, digits string, err error) {
	words := strings.Fields(line)
	if len(words) == 0 {
		return Packet{}, "", fmt.Errorf("packet text: no packet in an empty line")
	}
	k := Kind(0)
	for k < NumKinds && specs[k].text != words[0] {
		k++
	}
	switch k {
	case NumKinds:
		return Packet{}, "", fmt.Errorf("packet text: %q: no packet has that name", words[0])
	case Bad:
		return parseBad(words[1:])
	}
	p.Kind = k
	rest, err := p.parse(words[1:])
	if err != nil {
		return Packet{}, "", fmt.Errorf("packet text: %s: %w", words[0], err)
	}
	if len(rest) > 0 {
		return Packet{}, "", fmt.Errorf("packet text: %s: %q is too much", words[0], rest[0])
	}
	raw := AppendPacket(nil, p)
	l := NewLexer(raw, 0)
	var q Packet
	l.Next(&q)
	p.Len = q.Len
	if q != p {
		return Packet{}, "", fmt.Errorf("packet text: %q: no packet holds that", line)
	}
	return p, hexDigits(raw)[:p.Len], nil
}

// parse takes the words of p's data and timestamp off the front of words.
func (p *Packet) parse(words []string) (rest []string, err error) {
	s := &specs[p.Kind]
	if s.field != "" {
		if len(words) == 0 {
			return nil, fmt.Errorf("%s is missing", s.field)
		}
		if p.Value, err = strconv.ParseUint(words[0], 0, 64); err != nil {
			return nil, fmt.Errorf("%s: %q is no number", s.field, words[0])
		}
		words = words[1:]
	}
	if !s.stamped {
		return words, nil
	}
	if len(words) < 2 || words[0] != "ts" {
		return nil, fmt.Errorf("the timestamp is missing: ts and its length in half bytes")
	}
	size, more := strings.CutSuffix(words[1], ":")
	n, err := strconv.ParseUint(size, 10, 8)
	if err != nil {
		return nil, fmt.Errorf("timestamp: length %q is no number", size)
	}
	p.TSLen = uint8(n)
	if !more && n == 0 {
		return words[2:], nil
	}
	if !more || len(words) < 3 {
		return nil, fmt.Errorf("the timestamp is missing behind its length")
	}
	if p.TS, err = strconv.ParseUint(words[2], 0, 64); err != nil {
		return nil, fmt.Errorf("timestamp: %q is no number", words[2])
	}
	return words[3:], nil
}

// parseBad reads the half bytes of a packet that is none. What the lexer says
// of them stands in p, if it takes all of them for bad.
func parseBad(words []string) (p Packet, digits string, err error) {
	digits = strings.ToLower(strings.Join(words, ""))
	if digits == "" || strings.Trim(digits, "0123456789abcdef") != "" {
		return Packet{}, "", fmt.Errorf("packet text: bad: need half bytes, a hex digit each")
	}
	w := writer{}
	w.digits(digits)
	l := NewLexer(w.dst, 0)
	if l.Next(&p); len(digits)%2 != 0 || p.Kind != Bad || p.Value != uint64(len(digits)) {
		p = Packet{Kind: Bad, Value: uint64(len(digits))}
	}
	return p, digits, nil
}

// digits appends half bytes given as hex digits.
func (w *writer) digits(s string) {
	for i := range len(s) {
		v, _ := strconv.ParseUint(s[i:i+1], 16, 4) // the callers give hex digits
		w.put(v, 1)
	}
}

// hexDigits returns the half bytes of raw in the order sent, a hex digit each.
func hexDigits(raw []byte) string {
	dst := make([]byte, 0, 2*len(raw))
	for _, b := range raw {
		dst = append(dst, "0123456789abcdef"[b&15], "0123456789abcdef"[b>>4])
	}
	return string(dst)
}

// Assemble returns the bytes of text, in the text form, one packet a line.
// What follows a # and empty lines are passed over. Where the last packet ends
// in a lower half, the upper one is zero.
func Assemble(text string) ([]byte, error) {
	var w writer
	err := wire.Lines(text, func(line string) error {
		_, digits, err := ParseText(line)
		w.digits(digits)
		return err
	})
	return w.dst, err
}
