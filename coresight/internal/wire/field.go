package wire

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
)

// Form is how text writes a Field.
type Form uint8

// The forms.
const (
	Hex    Form = iota // 0x1f, always there
	Dec                // 31, always there
	Named              // name 0x1f, where it is not zero
	Number             // name 31, likewise
	Word               // name, where the bit is set
	Sized              // name 2: 0x1f, where the size, bytes or pieces, is not 0
	Count              // name 2: 31, likewise
	Atoms              // een: the outcomes, as many as the size says, oldest first; - for none
)

// Field is a piece of a packet: Width bits from bit Lo up of one of the numbers
// that the packet consists of.
type Field struct {
	Name  string
	In    uint8 // which number, as the protocol counts them
	Lo    uint8 // bits
	Width uint8 // bits
	Shift uint8 // bits: the text shows the piece times 1<<Shift
	Form  Form
	Size  uint8 // Sized, Count, Atoms: which number holds the size, in bytes or items
	Max   uint8 // Sized, Count, Atoms: the largest size, in pieces
	Piece uint8 // Sized, Count: bits that a piece adds; the value has no bits beyond
	Bare  bool  // Sized, Count: without the name
}

// Numbers is a packet as the numbers that it consists of.
type Numbers interface {
	// Number returns number i.
	Number(i uint8) uint64
	// SetNumber sets number i, which has room for v as far as the table of
	// packets is right.
	SetNumber(i uint8, v uint64)
}

// mask is the Width bits of f, from bit 0.
func (f *Field) mask() uint64 { return ^uint64(0) >> (64 - f.Width) }

func (f *Field) get(p Numbers) uint64 { return p.Number(f.In) >> f.Lo & f.mask() << f.Shift }

func (f *Field) set(p Numbers, v uint64) {
	p.SetNumber(f.In, p.Number(f.In)|(v>>f.Shift&f.mask())<<f.Lo)
}

// Append appends each field of p to dst behind a blank.
func Append(dst []byte, fields []Field, p Numbers) []byte {
	for i := range fields {
		f := &fields[i]
		v := f.get(p)
		switch f.Form {
		case Hex:
			dst = fmt.Appendf(dst, " 0x%x", v)
		case Dec:
			dst = fmt.Appendf(dst, " %d", v)
		case Named:
			if v != 0 {
				dst = fmt.Appendf(dst, " %s 0x%x", f.Name, v)
			}
		case Number:
			if v != 0 {
				dst = fmt.Appendf(dst, " %s %d", f.Name, v)
			}
		case Word:
			if v != 0 {
				dst = append(append(dst, ' '), f.Name...)
			}
		case Sized, Count:
			dst = f.appendSized(dst, v, p.Number(f.Size))
		case Atoms:
			dst = appendAtoms(dst, v, p.Number(f.Size))
		}
	}
	return dst
}

func (f *Field) appendSized(dst []byte, v, n uint64) []byte {
	if n == 0 {
		return dst
	}
	if !f.Bare {
		dst = append(append(dst, ' '), f.Name...)
	}
	if f.Form == Count {
		return fmt.Appendf(dst, " %d: %d", n, v)
	}
	return fmt.Appendf(dst, " %d: 0x%x", n, v)
}

func appendAtoms(dst []byte, v, n uint64) []byte {
	if n == 0 {
		return append(dst, " -"...)
	}
	dst = append(dst, ' ')
	for i := min(n, 64); i > 0; i-- {
		dst = append(dst, "ne"[v>>(i-1)&1])
	}
	return dst
}

// Parse takes the words of the fields off the front of words and sets them in
// p, whose numbers are zero.
func Parse(fields []Field, words []string, p Numbers) (rest []string, err error) {
	for i := range fields {
		if words, err = fields[i].parse(words, p); err != nil {
			return nil, err
		}
	}
	return words, nil
}

func (f *Field) parse(words []string, p Numbers) (rest []string, err error) {
	there := len(words) > 0
	switch f.Form {
	case Word:
		if there && words[0] == f.Name {
			f.set(p, 1)
			words = words[1:]
		}
		return words, nil
	case Named, Number:
		if !there || words[0] != f.Name {
			return words, nil
		}
		words = words[1:]
	case Sized, Count:
		return f.parseSized(words, p)
	case Atoms:
		return f.parseAtoms(words, p)
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("%s is missing", f.Name)
	}
	v, err := strconv.ParseUint(words[0], 0, 64)
	if err != nil {
		return nil, fmt.Errorf("%s: %q is no number", f.Name, words[0])
	}
	if v>>f.Shift > f.mask() || v>>f.Shift<<f.Shift != v {
		return nil, fmt.Errorf("%s: %s does not fit %d bits from bit %d up", f.Name, words[0], f.Width, f.Shift)
	}
	f.set(p, v)
	return words[1:], nil
}

func (f *Field) parseSized(words []string, p Numbers) (rest []string, err error) {
	if !f.Bare {
		if len(words) == 0 || words[0] != f.Name {
			return words, nil
		}
		words = words[1:]
	}
	if len(words) < 2 {
		return nil, fmt.Errorf("%s: need a size and a value", f.Name)
	}
	digits, ok := strings.CutSuffix(words[0], ":")
	n, err := strconv.ParseUint(digits, 10, 8)
	if !ok || err != nil || n == 0 || n > uint64(f.Max) {
		return nil, fmt.Errorf("%s: %q, need a size of 1 to %d and a colon", f.Name, words[0], f.Max)
	}
	v, err := strconv.ParseUint(words[1], 0, 64)
	if err != nil {
		return nil, fmt.Errorf("%s: %q is no number", f.Name, words[1])
	}
	if bits.Len64(v) > min(int(n)*int(f.Piece), int(f.Width)) {
		return nil, fmt.Errorf("%s: %s does not fit a size of %d", f.Name, words[1], n)
	}
	p.SetNumber(f.Size, n)
	f.set(p, v)
	return words[2:], nil
}

func (f *Field) parseAtoms(words []string, p Numbers) (rest []string, err error) {
	switch {
	case len(words) == 0:
		return nil, fmt.Errorf("%s: need letters e or n, or -", f.Name)
	case words[0] == "-":
		return words[1:], nil
	case len(words[0]) > int(f.Max):
		return nil, fmt.Errorf("%s: %d atoms, %d at most", f.Name, len(words[0]), f.Max)
	}
	var v uint64
	for _, c := range []byte(words[0]) {
		i := strings.IndexByte("ne", c)
		if i < 0 {
			return nil, fmt.Errorf("%s: %q, need e or n", f.Name, c)
		}
		v = v<<1 | uint64(i)
	}
	p.SetNumber(f.Size, uint64(len(words[0])))
	f.set(p, v)
	return words[1:], nil
}

// Usage is f as a table of text forms writes it.
func (f *Field) Usage() string {
	switch name := strings.ToUpper(f.Name); {
	case f.Form == Named, f.Form == Number:
		return "[" + f.Name + " " + name + "]"
	case f.Form == Word:
		return "[" + f.Name + "]"
	case f.Bare:
		return "SIZE: " + name
	case f.Form == Sized, f.Form == Count:
		return "[" + f.Name + " SIZE: " + name + "]"
	default:
		return name
	}
}
