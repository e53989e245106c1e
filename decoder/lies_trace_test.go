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
	return &lie{what: what, flips: true, change: func(rec *recording.Recording) {
		for i, st := range rec.Streams {
			st.Data = stream.Memory(streams[i])
		}
	}}
}

// statedSo says of each of list, which was printed of stream i of s, whether the packets as they are
// state it. Then they agree with it up to an address behind it that one states. Before it they
// agree from the last gap on, or from some event behind the last doubt.
func statedSo(s *Session, i int, p *printed, list []untruth) []bool {
	same := make([]bool, len(list))
	if len(list) == 0 {
		return same
	}
	packets := packetsOf(s.Streams()[i])
	begin, agree := -1, 0 // of the stretch looked at last
	for k, u := range list {
		first, sure, end := 0, 0, len(p.ips) // first, sure: parts
		for n := range p.parts {
			switch q := &p.parts[n]; {
			case n <= u.part && q.gap != nil:
				first, sure = n+1, n+1
			case n < u.part && q.ambiguous:
				sure = n + 1
			case n > u.part && q.gap != nil:
				end = min(end, q.from)
			}
		}
		packets.left = maxSteps
		to := max(u.to, u.from+1)
		from := p.parts[first].from
		if begin != from {
			packets.calls = nil
			begin, agree = from, packets.agrees(s, i, p, from, end)
		}
		same[k] = agree >= to
		twin := twinOf(s, i)
		for n := sure; n <= u.part && !same[k] && packets.left > 0 && p.parts[n].from < end; n++ {
			twin.passes(p.steps(from, p.parts[n].from+1))
			from, packets.calls = p.parts[n].from, twin.calls
			same[k] = packets.agrees(s, i, p, from, end) >= to
		}
	}
	return same
}
