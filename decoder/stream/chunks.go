package stream

// chunkBytes is how much of a stream Chunks gives at once at least, bytes.
const chunkBytes = 1 << 20

// Chunks gives the stream's bytes from its first sync point on, in pieces that
// begin at sync points, each with its offset. A piece is lent until the next.
func (st *Stream) Chunks(yield func(off int64, b []byte) bool) {
	for i := 0; i < len(st.Segs); {
		from, to := st.Segs[i].Off, st.Size
		for i++; i < len(st.Segs); i++ {
			if st.Segs[i].Off-from >= chunkBytes {
				to = st.Segs[i].Off
				break
			}
		}
		if !yield(from, st.Data.Bytes(from, to-from)) {
			return
		}
	}
}
