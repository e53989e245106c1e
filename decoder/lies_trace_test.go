package decoder

import (
	"bytes"
	"fmt"
	"math/rand/v2"

	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// flippedBytes is how many bytes of trace a case changes.
const flippedBytes = 4

// flippedLie changes a few bytes of trace. Often they are packets still.
func flippedLie(o *original, r *rand.Rand) *lie {
	streams := make([][]byte, len(o.trace))
	total := 0
	for i, b := range o.trace {
		streams[i] = bytes.Clone(b)
		total += len(b)
	}
	what := "trace"
	for range flippedBytes {
		at, i := r.IntN(total), 0
		for ; at >= len(streams[i]); i++ {
			at -= len(streams[i])
		}
		by := byte(1 + r.IntN(255))
		what += fmt.Sprintf(", stream %d+%#x: %02x -> %02x", i, at, streams[i][at], streams[i][at]^by)
		streams[i][at] ^= by
	}
	return &lie{what: what, change: func(rec *recording.Recording) {
		for i, st := range rec.Streams {
			st.Data = stream.Memory(streams[i])
		}
	}}
}
