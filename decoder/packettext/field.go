package packettext

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"
)

// Form is how text writes a Field.
type Form uint8

// The forms.
const (
	Hex     Form = iota // 0x1f, always there
	Dec                 // 31, always there
	Named               // name 0x1f, where it is not zero
	Number              // name 31, likewise
	Word                // name, where the bit is set
	Flagged             // name 31, where the flag is set
	Usually             // 31, where it is not the usual number
	OneOf               // one of Words, by the number; nothing where that word is empty
	Sized               // name 2: 0x1f, where the size is not 0 or, if there is a flag, where it is set
	Count               // name 2: 31, likewise
	Letters             // een: as many of the two Words as the size says, the highest bit first
)

// Field is a piece of a packet: Width bits from bit Lo up of one of the Numbers
// that the packet consists of.
type Field struct {
	Name  string
	In    uint8 // which number
	Lo    uint8 // bits
	Width uint8 // bits
	Shift uint8 // bits: the text shows the piece times 1<<Shift
	Form  Form
	Size  Size     // Sized, Count, Letters
	Flag  Flag     // Flagged, Sized, Count: says whether the field is there
	Usual uint64   // Usually
	Words []string // OneOf; Letters: for 0, for 1, and for none at all where there is a third
}

// Size is where the size of a Field lies, and what fits a field of that size.
type Size struct {
	Name  string  // in tables; "": size
	In    uint8   // which number is the size
	Max   uint8   // the largest; Letters: how many at most
	Piece uint8   // bits that each step of the size adds
	Bits  []uint8 // in place of Piece: bits by size, 0 where there is no such size
	Bare  bool    // the field is written without its name
	Zero  bool    // the size is written even where it is 0, without a number behind it
}

// Flag is a bit that says whether a Field is there.
type Flag struct {
	In, Bit uint8
	On      bool // there is such a bit
}

// Numbers are what a packet consists of. Its protocol says which is which.
type Numbers [9]uint64

// mask is the Width bits of f, from bit 0.
func (f *Field) mask() uint64 { return ^uint64(0) >> (64 - f.Width) }

func (f *Field) get(n *Numbers) uint64 { return n[f.In] >> f.Lo & f.mask() << f.Shift }

func (f *Field) set(n *Numbers, v uint64) { n[f.In] |= (v >> f.Shift & f.mask()) << f.Lo }

// there reports whether the flag of f is set.
func (f *Field) there(n *Numbers) bool { return n[f.Flag.In]>>f.Flag.Bit&1 != 0 }

// appendTo appends f of a packet to dst behind a blank, or nothing.
func (f *Field) appendTo(dst []byte, n *Numbers) []byte {
	v := f.get(n)
	switch f.Form {
	case Hex:
		return appendHex(dst, v)
	case Dec:
		return appendNumber(dst, v)
	case Named:
		if v != 0 {
			dst = appendHex(appendWord(dst, f.Name), v)
		}
	case Number:
		if v != 0 {
			dst = appendNumber(appendWord(dst, f.Name), v)
		}
	case Word:
		if v != 0 {
			dst = appendWord(dst, f.Name)
		}
	case Flagged:
		if f.there(n) {
			dst = appendNumber(appendWord(dst, f.Name), v)
		}
	case Usually:
		if v != f.Usual {
			dst = appendNumber(dst, v)
		}
	case OneOf:
		if w := f.Words[min(v, uint64(len(f.Words)-1))]; w != "" {
			dst = appendWord(dst, w)
		}
	case Sized, Count:
		dst = f.appendSized(dst, v, n)
	case Letters:
		dst = f.appendLetters(dst, v, n[f.Size.In])
	}
	return dst
}

func appendWord(dst []byte, word string) []byte { return append(append(dst, ' '), word...) }

func appendNumber(dst []byte, v uint64) []byte { return strconv.AppendUint(append(dst, ' '), v, 10) }

func appendHex(dst []byte, v uint64) []byte { return strconv.AppendUint(append(dst, " 0x"...), v, 16) }

func (f *Field) appendSized(dst []byte, v uint64, n *Numbers) []byte {
	size := n[f.Size.In]
	if f.Flag.On && !f.there(n) || !f.Flag.On && size == 0 && !f.Size.Zero {
		return dst
	}
	if !f.Size.Bare {
		dst = appendWord(dst, f.Name)
	}
	if dst = appendNumber(dst, size); size == 0 && f.Size.Zero {
		return dst
	}
	dst = append(dst, ':')
	if f.Form == Count {
		return appendNumber(dst, v)
	}
	return appendHex(dst, v)
}

func (f *Field) appendLetters(dst []byte, v, n uint64) []byte {
	if n == 0 {
		if len(f.Words) > 2 {
			dst = appendWord(dst, f.Words[2])
		}
		return dst
	}
	dst = append(dst, ' ')
	for i := min(n, 64); i > 0; i-- {
		dst = append(dst, f.Words[v>>(i-1)&1]...)
	}
	return dst
}

// parse takes the words of f off the front of words and sets its number in n,
// where it is 0.
func (f *Field) parse(words []string, n *Numbers) (rest []string, err error) {
	there := len(words) > 0
	named := there && words[0] == f.Name
	switch f.Form {
	case Word:
		if named {
			f.set(n, 1)
			words = words[1:]
		}
		return words, nil
	case OneOf:
		return f.parseOneOf(words, n)
	case Sized, Count:
		return f.parseSized(words, n)
	case Letters:
		return f.parseLetters(words, n)
	case Named, Number, Flagged:
		if !named {
			return words, nil
		}
		words = words[1:]
		if f.Flag.On {
			n[f.Flag.In] |= 1 << f.Flag.Bit
		}
	case Usually:
		if !there {
			f.set(n, f.Usual)
			return nil, nil
		}
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("%s is missing", f.Name)
	}
	v, err := f.number(words[0])
	if err != nil {
		return nil, err
	}
	if v>>f.Shift > f.mask() || v>>f.Shift<<f.Shift != v {
		return nil, fmt.Errorf("%s: %s does not fit %d bits from bit %d up", f.Name, words[0], f.Width, f.Shift)
	}
	if v == 0 && (f.Form == Named || f.Form == Number) {
		return nil, fmt.Errorf("%s: 0 is left out", f.Name)
	}
	f.set(n, v)
	return words[1:], nil
}

// number reads the number of f.
func (f *Field) number(word string) (uint64, error) {
	v, err := strconv.ParseUint(word, 0, 64)
	if err != nil {
		return 0, fmt.Errorf("%s: %q is no number", f.Name, word)
	}
	return v, nil
}

func (f *Field) parseOneOf(words []string, n *Numbers) (rest []string, err error) {
	if len(words) > 0 && words[0] != "" {
		if v := slices.Index(f.Words, words[0]); v >= 0 {
			f.set(n, uint64(v))
			return words[1:], nil
		}
	}
	if f.Words[0] != "" {
		return nil, fmt.Errorf("%s: need %s", f.Name, strings.Join(f.Words, " or "))
	}
	return words, nil
}

func (f *Field) parseSized(words []string, n *Numbers) (rest []string, err error) {
	switch {
	case len(words) == 0 && !f.Size.Zero:
		return nil, nil
	case !f.Size.Bare && (len(words) == 0 || words[0] != f.Name):
		if f.Size.Zero {
			return nil, fmt.Errorf("%s is missing", f.Name)
		}
		return words, nil
	case !f.Size.Bare:
		words = words[1:]
	}
	if f.Flag.On {
		n[f.Flag.In] |= 1 << f.Flag.Bit
	}
	if len(words) == 0 {
		return nil, fmt.Errorf("%s: need a size and a value", f.Name)
	}
	digits, more := strings.CutSuffix(words[0], ":")
	size, err := strconv.ParseUint(digits, 10, 8)
	if f.Size.Zero && !more && err == nil && size == 0 {
		return words[1:], nil
	}
	width, ok := f.fits(size)
	if err != nil || !ok {
		return nil, fmt.Errorf("%s: %q, need a size of %s and a colon", f.Name, words[0], f.sizes())
	}
	if len(words) < 2 || !more {
		return nil, fmt.Errorf("%s: need a size and a value", f.Name)
	}
	v, err := f.number(words[1])
	if err != nil {
		return nil, err
	}
	if bits.Len64(v) > width {
		return nil, fmt.Errorf("%s: %s does not fit a size of %d", f.Name, words[1], size)
	}
	n[f.Size.In] |= size
	f.set(n, v)
	return words[2:], nil
}

// fits returns how many bits a field of the size has; false: there is no such
// size.
func (f *Field) fits(size uint64) (width int, ok bool) {
	switch {
	case f.Size.Bits != nil:
		if size < uint64(len(f.Size.Bits)) {
			width = int(f.Size.Bits[size])
		}
		return width, width > 0
	case size == 0:
		return 0, f.Flag.On || f.Size.Zero
	}
	return min(int(size)*int(f.Size.Piece), int(f.Width)), size <= uint64(f.Size.Max)
}

// sizes says which sizes there are.
func (f *Field) sizes() string {
	if f.Size.Bits == nil {
		return fmt.Sprintf("1 to %d", f.Size.Max)
	}
	var list []string
	for size, width := range f.Size.Bits {
		if width > 0 {
			list = append(list, strconv.Itoa(size))
		}
	}
	return strings.Join(list, ", ")
}

func (f *Field) parseLetters(words []string, n *Numbers) (rest []string, err error) {
	switch {
	case len(words) == 0 && len(f.Words) > 2:
		return nil, fmt.Errorf("%s: need letters %s or %s, or %s", f.Name, f.Words[0], f.Words[1], f.Words[2])
	case len(words) == 0:
		return nil, nil
	case len(f.Words) > 2 && words[0] == f.Words[2]:
		return words[1:], nil
	case len(words[0]) > int(f.Size.Max):
		return nil, fmt.Errorf("%s: %d letters, %d at most", f.Name, len(words[0]), f.Size.Max)
	}
	var v uint64
	for _, c := range words[0] {
		i := slices.Index(f.Words[:2], string(c))
		if i < 0 {
			return nil, fmt.Errorf("%s: %q, need %s or %s", f.Name, c, f.Words[0], f.Words[1])
		}
		v = v<<1 | uint64(i)
	}
	n[f.Size.In] |= uint64(len(words[0]))
	f.set(n, v)
	return words[1:], nil
}

// Usage is f as a table of text forms writes it.
func (f *Field) Usage() string {
	name := strings.ToUpper(f.Name)
	switch f.Form {
	case Named, Number, Flagged:
		return "[" + f.Name + " " + name + "]"
	case Word:
		return "[" + f.Name + "]"
	case Usually:
		return "[" + name + "]"
	case OneOf:
		if f.Words[0] == "" {
			last := len(f.Words) - 1
			return "[" + strings.Join(f.Words[1:last], ", ") + " or " + f.Words[last] + "]"
		}
	case Sized, Count:
		size := strings.ToUpper(f.Size.Name)
		if size == "" {
			size = "SIZE"
		}
		switch {
		case f.Size.Zero:
			return f.Name + " " + size + "[: " + name + "]"
		case f.Size.Bare && f.Size.Bits != nil:
			return "[" + size + ": " + name + "]"
		case f.Size.Bare:
			return size + ": " + name
		}
		return "[" + f.Name + " " + size + ": " + name + "]"
	}
	return name
}
