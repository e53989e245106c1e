package perfdata

import (
	"bytes"
	"encoding/binary"
)

// cursor reads little-endian fields from a bounded buffer. Reading past the
// end gives zeros and sets short, with how many bytes were needed.
type cursor struct {
	b     []byte
	off   int
	need  int
	short bool
	wrong error // why there is nothing to read
}

func (c *cursor) take(n int) []byte {
	if c.short {
		return nil
	}
	if n < 0 || n > len(c.b)-c.off {
		c.short = true
		c.need = c.off + max(n, 0)
		return nil
	}
	p := c.b[c.off : c.off+n]
	c.off += n
	return p
}

func (c *cursor) u8() uint8 {
	if p := c.take(1); p != nil {
		return p[0]
	}
	return 0
}

func (c *cursor) u16() uint16 {
	if p := c.take(2); p != nil {
		return binary.LittleEndian.Uint16(p)
	}
	return 0
}

func (c *cursor) u32() uint32 {
	if p := c.take(4); p != nil {
		return binary.LittleEndian.Uint32(p)
	}
	return 0
}

func (c *cursor) i32() int32 { return int32(c.u32()) }

func (c *cursor) u64() uint64 {
	if p := c.take(8); p != nil {
		return binary.LittleEndian.Uint64(p)
	}
	return 0
}

// left is how many bytes are unread.
func (c *cursor) left() int { return len(c.b) - c.off }

// count reads nothing: it checks that n items of size bytes are there, so that
// what they are read into can be allocated.
func (c *cursor) count(n uint64, size int) int {
	if c.short || n > uint64(c.left()/size) {
		if !c.short {
			c.short = true
			c.need = c.off + int(min(n, 1<<31))*size
		}
		return 0
	}
	return int(n)
}

// words reads n 64-bit words.
func (c *cursor) words(n uint64) []uint64 {
	k := c.count(n, 8)
	if k == 0 {
		return nil
	}
	w := make([]uint64, k)
	for i := range w {
		w[i] = c.u64()
	}
	return w
}

// str reads a string that a zero byte or the end of the buffer ends.
func (c *cursor) str() string { return cstring(c.take(c.left())) }

// perfString reads a perf_header_string: u32 length, that many bytes, padded
// with zeros (tools/perf/util/header.c, do_write_string).
func (c *cursor) perfString() string {
	n := c.u32()
	return cstring(c.take(c.count(uint64(n), 1)))
}

// cstring is b up to its first zero byte.
func cstring(b []byte) string {
	if i := bytes.IndexByte(b, 0); i >= 0 {
		b = b[:i]
	}
	return string(b)
}
