package stream

// chunkBytes is how much of a stream Chunks gives at once at least, bytes.
const chunkBytes = 1 << 20

// Chunks gives the stream's bytes from its first sync point on, in pieces that
// begin at sync points, each with its offset. A piece is lent until the next.
func (st *Stream) Chunks(yield func(off int64, b []byte) bool) {
	for g, ok := st.After(0); ok; {
		from, to := g.Off, st.Size
		if g, ok = st.After(from + chunkBytes); ok {
			to = g.Off
		}
		if !yield(from, st.Data.Bytes(from, to-from)) {
			return
		}
	}
}
