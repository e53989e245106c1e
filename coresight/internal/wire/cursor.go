package wire

// Cursor is the place of a lexer in the bytes of a stream.
type Cursor struct {
	Buf  []byte
	Pos  int   // index in Buf of the next packet
	Base int64 // offset of Buf in the stream, bytes
}

// Reset begins buf, whose first byte is at offset base of its stream.
func (c *Cursor) Reset(buf []byte, base int64) { c.Buf, c.Pos, c.Base = buf, 0, base }

// Off returns the offset in the stream of the next packet, bytes.
func (c *Cursor) Off() int64 { return c.Base + int64(c.Pos) }

// SeekTo moves to offset off of the stream, which must start a packet. It is confined
// to the bytes that there are.
func (c *Cursor) SeekTo(off int64) {
	c.Pos = int(min(max(off-c.Base, 0), int64(len(c.Buf))))
}

// Skip passes over bytes that are no packet: up to end. It returns where they began in
// the stream, and how many they are.
func (c *Cursor) Skip(end int) (off int64, n uint64) {
	off, n = c.Off(), uint64(end-c.Pos)
	c.Pos = end
	return off, n
}
