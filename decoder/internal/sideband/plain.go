package sideband

import "math"

// Most lines of an event stream are plain: an object of known fields, each once,
// whose values are whole numbers, booleans, and strings of ASCII without escapes.
// parsePlain reads these without encoding/json, which takes most of the time that
// a journal of pokes needs. Any other line, and any that is wrong, it leaves to
// parseAny.

// plainLine is a plain line that is being read.
type plainLine struct {
	buf []byte
	at  int // bytes of buf that are read
}

// end reports whether all is read.
func (l *plainLine) end() bool { return l.at >= len(l.buf) }

// skip passes over white space.
func (l *plainLine) skip() {
	for !l.end() && (l.buf[l.at] == ' ' || l.buf[l.at] == '\t' || l.buf[l.at] == '\r' || l.buf[l.at] == '\n') {
		l.at++
	}
}

// next passes over white space and c, and reports whether c was there.
func (l *plainLine) next(c byte) bool {
	if !l.end() && l.buf[l.at] == c { // as most lines have it: without white space
		l.at++
		return true
	}
	l.skip()
	if l.end() || l.buf[l.at] != c {
		return false
	}
	l.at++
	return true
}

// text reads a string; ok is false if it is not plain. It is lent with the line.
func (l *plainLine) text() (s []byte, ok bool) {
	if !l.next('"') {
		return nil, false
	}
	rest := l.buf[l.at:]
	for i, b := range rest {
		if stops[b] {
			l.at += i + 1
			return rest[:i], b == '"'
		}
	}
	return nil, false
}

// stops has the bytes that end a plain string: its quote, and what makes it none.
var stops = func() (t [256]bool) {
	for b := range t {
		t[b] = b == '"' || b < ' ' || b == '\\' || b >= 0x80
	}
	return t
}()

// number reads a whole number of at most 19 digits, as its sign and the rest.
func (l *plainLine) number() (n uint64, negative, ok bool) {
	if l.end() || l.buf[l.at]-'0' > 9 { // as few have it
		if negative = l.next('-'); !negative {
			l.skip()
		}
	}
	rest, digits := l.buf[l.at:], 0
	for _, c := range rest {
		d := c - '0'
		if d > 9 {
			break
		}
		n = n*10 + uint64(d)
		digits++
	}
	l.at += digits
	return n, negative, digits > 0 && digits <= 19 && (digits == 1 || rest[0] != '0')
}

// signed reads a whole number between -limit-1 and limit.
func (l *plainLine) signed(limit int64) (n int64, ok bool) {
	u, negative, ok := l.number()
	if negative {
		return -int64(u), ok && u <= uint64(limit)
	}
	return int64(u), ok && u <= uint64(limit)
}

// unsigned reads a whole number up to limit.
func (l *plainLine) unsigned(limit uint64) (n uint64, ok bool) {
	n, negative, ok := l.number()
	return n, ok && !negative && n <= limit
}

// hex reads what Hex.UnmarshalJSON does.
func (l *plainLine) hex() (n Hex, ok bool) {
	if l.skip(); l.end() || l.buf[l.at] != '"' {
		u, ok := l.unsigned(math.MaxUint64)
		return Hex(u), ok
	}
	digits := l.buf[l.at+1:]
	for i, b := range digits[:min(len(digits), 17)] { // as most have it: digits and a quote
		v := hexDigits[b]
		if v&0x80 == 0 {
			n = n<<4 | Hex(v)
			continue
		}
		if b == '"' && i > 0 {
			l.at += i + 2
			return n, true
		}
		break
	}
	n = 0
	s, ok := l.text()
	if len(s) > 2 && s[0] == '0' && s[1] == 'x' {
		s = s[2:]
	}
	if !ok || len(s) == 0 || len(s) > 16 {
		return 0, false
	}
	bad := byte(0)
	for _, b := range s {
		v := hexDigits[b]
		bad |= v
		n = n<<4 | Hex(v&0xf)
	}
	return n, bad&0x80 == 0
}

// hexDigits has the value of each hexadecimal digit, 0x80 for what is none.
var hexDigits = func() (t [256]byte) {
	for i := range t {
		t[i] = 0x80
	}
	for i := range 10 {
		t['0'+i] = byte(i)
	}
	for i := range 6 {
		t['a'+i], t['A'+i] = byte(10+i), byte(10+i)
	}
	return t
}()

// boolean reads true or false.
func (l *plainLine) boolean() (b, ok bool) {
	l.skip()
	for _, word := range []string{"true", "false"} {
		if rest := l.buf[l.at:]; len(rest) >= len(word) && string(rest[:len(word)]) == word {
			l.at += len(word)
			return word == "true", true
		}
	}
	return false, false
}

// roomBytes is how much room for bytes of events is made at once.
const roomBytes = 4096

// plainBytes reads what HexBytes.UnmarshalJSON does, but for spaces.
func (r *Reader) plainBytes(l *plainLine) (out HexBytes, ok bool) {
	if rest, to := l.buf[l.at:], r.room[len(r.room):cap(r.room)]; len(rest) > 0 && rest[0] == '"' { // as most have it, and with room
		rest = rest[1:]
		for i := range to[:min(len(to), len(rest)/2)] {
			hi, lo := hexDigits[rest[2*i]], hexDigits[rest[2*i+1]]
			if (hi|lo)&0x80 == 0 {
				to[i] = hi<<4 | lo
				continue
			}
			if rest[2*i] == '"' && i > 0 {
				l.at += 2*i + 2
				r.room = r.room[:len(r.room)+i]
				return HexBytes(to[:i:i]), true
			}
			break
		}
	}
	s, ok := l.text()
	n := len(s) / 2
	if !ok || len(s)%2 != 0 || n == 0 {
		return nil, ok && n == 0 && len(s) == 0
	}
	if cap(r.room)-len(r.room) < n {
		r.room = make([]byte, 0, max(n, roomBytes))
	}
	at, bad := len(r.room), byte(0)
	to := r.room[at : at+n]
	for i := range to {
		hi, lo := hexDigits[s[0]], hexDigits[s[1]]
		bad |= hi | lo
		to[i], s = hi<<4|lo, s[2:]
	}
	if bad&0x80 != 0 {
		return nil, false
	}
	r.room = r.room[:at+n]
	return HexBytes(r.room[at : at+n : at+n]), true
}

// maxWords bounds how many strings are held to be used again.
const maxWords = 64

// word reads a string of field i. Events of a stream use the same few again and again, and
// most fields what they had last.
func (r *Reader) word(l *plainLine, i int) (w string, ok bool) {
	w = r.last[i]
	if rest := l.buf[l.at:]; len(rest) > len(w)+1 && rest[0] == '"' && rest[len(w)+1] == '"' && string(rest[1:len(w)+1]) == w {
		l.at += len(w) + 2
		return w, true
	}
	s, ok := l.text()
	if len(s) > maxWords {
		return string(s), ok
	}
	if !ok {
		return "", false
	}
	w, held := r.words[string(s)]
	if !held {
		w = string(s)
		if len(r.words) < maxWords {
			r.words[w] = w
		}
	}
	r.last[i] = w
	return w, true
}

// The fields that every line may have come before those of Fields in Reader.fields
// and Reader.to.
const (
	headType = iota
	headTime
	headCPU
)

// field reads a field's name and the colon, behind another field or at a line's begin,
// which is len(r.keys). What came there before mostly comes there again. ok is false for
// a name that is not plain, or not known.
func (r *Reader) field(l *plainLine, behind int) (i int, ok bool) {
	i = r.behind[behind]
	if rest, key := l.buf[l.at:], r.keys[i]; len(rest) >= len(key) && string(rest[:len(key)]) == key {
		l.at += len(key)
		return i, true
	}
	name, ok := l.text()
	if !ok || !l.next(':') {
		return 0, false
	}
	if i, ok = r.fields[string(name)]; ok {
		r.behind[behind] = i
	}
	return i, ok
}

// parsePlain reads a plain object into r.event, which is empty. Where it returns false,
// r.event holds anything.
func (r *Reader) parsePlain(line []byte) bool {
	l := plainLine{buf: line}
	var seen [2]uint64 // a bit each
	if !l.next('{') {
		return false
	}
	i := len(r.keys)
	for more := true; more; more = l.next(',') {
		var ok bool
		if i, ok = r.field(&l, i); !ok || i>>6 >= len(seen) || seen[i>>6]>>(i&63)&1 != 0 || !r.plainValue(&l, i) {
			return false
		}
		seen[i>>6] |= 1 << (i & 63)
	}
	if !l.next('}') {
		return false
	}
	r.event.Timed = seen[0]>>headTime&1 != 0
	l.skip()
	return l.end()
}

// plainValue reads a value of a plain line into field i.
func (r *Reader) plainValue(l *plainLine, i int) (ok bool) {
	var n int64
	var u uint64
	var s string
	switch to := r.to[i].(type) {
	case *Hex:
		*to, ok = l.hex()
	case *HexBytes:
		*to, ok = r.plainBytes(l)
	case *string:
		*to, ok = r.word(l, i)
	case *Str:
		s, ok = r.word(l, i)
		*to = Str(s)
	case *int:
		n, ok = l.signed(math.MaxInt)
		*to = int(n)
	case *int32:
		n, ok = l.signed(math.MaxInt32)
		*to = int32(n)
	case *int64:
		*to, ok = l.signed(math.MaxInt64)
	case *uint16:
		u, ok = l.unsigned(math.MaxUint16)
		*to = uint16(u)
	case *uint32:
		u, ok = l.unsigned(math.MaxUint32)
		*to = uint32(u)
	case *uint64:
		*to, ok = l.unsigned(math.MaxUint64)
	case **uint64:
		held := new(uint64)
		*held, ok = l.unsigned(math.MaxUint64)
		*to = held
	case *bool:
		*to, ok = l.boolean()
	}
	return ok
}
