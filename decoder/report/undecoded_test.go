package report

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// TestUndecoded would catch bytes that count twice, as lost and as trace before a sync point, and such that
// count in no gap, in a stream without a sync point.
func TestUndecoded(t *testing.T) {
	const size = 88
	for _, losses := range [][]stream.Loss{nil, {{Off: 0}}, {{Off: 40}}, {{Off: 0}, {Off: 40}}, {{Off: size}}} {
		st := &decoder.Stream{Protocol: stream.IntelPT, Size: size, Data: stream.Memory(make([]byte, size)), Losses: losses}
		st.Begin(0, 0)
		next := int64(0)
		for _, g := range Undecoded(st) {
			if g.Off != next {
				t.Errorf("losses %v: a gap begins at %d, the one before ended at %d", losses, g.Off, next)
			}
			next = g.End
		}
		if next != size {
			t.Errorf("losses %v: the gaps end at %d, the stream at %d", losses, next, size)
		}
	}
}
