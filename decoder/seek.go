package decoder

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// seekBytes is how large a stream is in which a query's times are found by bisection,
// bytes. In a smaller one all segments are looked at: that costs little, and needs no clock
// that only runs forwards.
const seekBytes = 64 << 20

// segments returns what gives the segments of st that q asks for, those that sh takes, and maybe
// more.
func (q *Query) segments(st *stream.Stream, sh *shardShare) stream.Segments {
	from, until := q.extent(st, seekBytes)
	if sh != nil {
		from = max(from, sh.from)
	}
	return st.Between(from, until, q.Reverse)
}

// extent returns between which offsets the segments of st lie that q asks for, bytes. Some
// of those between may not be asked for. In a stream of least bytes or more it looks for
// times.
func (q *Query) extent(st *stream.Stream, least int64) (from, until int64) {
	from, until = q.FromOff, math.MaxInt64
	if q.UntilOff > 0 {
		until = q.UntilOff
	}
	if st.Size < least {
		return from, until
	}
	if q.Until != 0 && q.Until != math.MaxUint64 {
		off := stream.SeekTime(st, 0, st.Size, q.Until+1, stream.HappenedAt)
		if g, ok := st.After(off); ok && q.Beyond {
			off = g.Off + 1
		}
		until = min(until, off)
	}
	if q.From != 0 {
		off := stream.SeekTime(st, 0, st.Size, q.From, stream.HappenedAt)
		for off > from {
			g, ok := st.Before(off)
			if !ok || stream.HappenedAt(st, g).Hi < q.From {
				break
			}
			off = g.Off
		}
		from = max(from, off)
	}
	return from, until
}
