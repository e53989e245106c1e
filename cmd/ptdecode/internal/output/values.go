package output

import (
	"encoding/binary"
	"math/bits"
	"strconv"
	"unicode/utf8"
)

// appendHex16 appends v as 16 hex digits. It spreads the digits of each half
// over the bytes of a word and turns all of them into letters at once.
func appendHex16(dst []byte, v uint64) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, hex8(uint32(v>>32)))
	return binary.LittleEndian.AppendUint64(dst, hex8(uint32(v)))
}

// hex8 returns the eight hex digits of v, the first in the lowest byte.
func hex8(v uint32) uint64 {
	x := uint64(bits.ReverseBytes32(v))
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x>>4 | x<<8) & 0x0f0f0f0f0f0f0f0f
	// Digits of 10 and more, and only they, carry into bit 4 when 6 is added.
	letters := (x + 0x0606060606060606) >> 4 & 0x0101010101010101
	return x + 0x3030303030303030 + letters*('a'-'0'-10)
}

// appendTime appends t, ns, as seconds with nine decimals.
func appendTime(dst []byte, t uint64) []byte {
	dst = strconv.AppendUint(dst, t/1e9, 10)
	dst = append(dst, '.')
	var d [9]byte
	ns := t % 1e9
	for i := len(d) - 1; i >= 0; i-- {
		d[i] = '0' + byte(ns%10)
		ns /= 10
	}
	return append(dst, d[:]...)
}

// appendBytes appends b, two hex digits a byte.
func appendBytes(dst []byte, b []byte) []byte {
	const digits = "0123456789abcdef"
	for _, c := range b {
		dst = append(dst, digits[c>>4], digits[c&15])
	}
	return dst
}

// appendJSON appends s as a JSON string (RFC 8259, section 7).
func appendJSON(dst []byte, s string) []byte {
	dst = append(dst, '"')
	for _, r := range s { // bytes that are no UTF-8 become U+FFFD
		switch {
		case r == '"' || r == '\\':
			dst = append(dst, '\\', byte(r))
		case r < ' ':
			const digits = "0123456789abcdef"
			dst = append(dst, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
		default:
			dst = utf8.AppendRune(dst, r)
		}
	}
	return append(dst, '"')
}
