package packettext

import (
	"fmt"
	"strconv"
)

// AppendFields appends the fields of a packet of the kind as a JSON object, by their
// names. Fields that the text form leaves out are left out, but for those that it leaves
// out because their number is the usual one. Of numbers that the text form writes in
// hexadecimal digits, addresses and those of more than 53 bits are strings of 16 such
// digits. Letters and words are strings, a bit is true.
func (t Table) AppendFields(dst []byte, kind uint8, n *Numbers) []byte {
	dst = append(dst, '{')
	if int(kind) < len(t) && kind != 0 {
		begin := len(dst)
		for i := range t[kind].Fields {
			dst = t[kind].Fields[i].appendMember(dst, n, begin)
		}
	}
	return append(dst, '}')
}

// appendMember appends f of a packet, behind a comma if dst is longer than begin.
func (f *Field) appendMember(dst []byte, n *Numbers, begin int) []byte {
	v := f.get(n)
	var text string
	switch f.Form {
	case Named, Number, Word:
		if v == 0 {
			return dst
		}
	case Flagged:
		if !f.there(n) {
			return dst
		}
	case OneOf:
		if text = f.Words[min(v, uint64(len(f.Words)-1))]; text == "" {
			return dst
		}
	case Sized, Count:
		size := n[f.Size.In]
		if f.Flag.On && !f.there(n) || !f.Flag.On && size == 0 && !f.Size.Zero {
			return dst
		}
		key := f.Size.Name
		if key == "" {
			key = f.Name + "_size"
		}
		dst = strconv.AppendUint(appendKey(dst, key, begin), size, 10)
		if size == 0 && f.Size.Zero {
			return dst
		}
	case Letters:
		if text = string(f.appendLetters(nil, v, n[f.Size.In])); text == "" {
			return dst
		}
		text = text[1:] // without the blank
	}
	dst = appendKey(dst, f.Name, begin)
	switch {
	case text != "":
		return fmt.Appendf(dst, "%q", text)
	case f.Form == Word:
		return append(dst, "true"...)
	case f.inHex() && (f.Name == "address" || int(f.Width)+int(f.Shift) > 53):
		return fmt.Appendf(dst, `"%016x"`, v)
	}
	return strconv.AppendUint(dst, v, 10)
}

// inHex reports whether the text form writes the number of f in hexadecimal digits.
func (f *Field) inHex() bool { return f.Form == Hex || f.Form == Named || f.Form == Sized }

// appendKey appends a name and a colon.
func appendKey(dst []byte, name string, begin int) []byte {
	if len(dst) > begin {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	for _, c := range []byte(name) {
		if c == ' ' || c == '-' {
			c = '_'
		}
		dst = append(dst, c)
	}
	return append(dst, `":`...)
}
