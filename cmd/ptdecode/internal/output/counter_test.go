package output

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// TestTellMore would catch thousands of gaps told one by one, a reason that
// others drown, and gaps kept back where they are wanted in place.
func TestTellMore(t *testing.T) {
	var said []string
	c := &Counter{streams: []rows.Stream{{Name: "cpu0"}}, say: func(s string) { said = append(said, s) }}
	feed := func() (printed int) {
		var out lines
		for i := range 1000 {
			g := event.Gap{Reason: event.NoText, IP: uint64(i)}
			if i == 500 {
				g.Reason = event.Mismatch
			}
			c.note(0, &decoder.Note{Kind: decoder.NoteGap, Gap: g}, &out)
		}
		return strings.Count(string(out.buf), "# gap cpu0")
	}
	feed()
	c.TellMore()
	if n := len(said); n != maxTold+2 || c.Gaps != 1000 || !strings.Contains(said[n-2], "mismatch at ") {
		t.Errorf("%d lines of %d gaps: %q", n, c.Gaps, said)
	}
	if want := "gap: no-text: 979 more like these; --gaps prints all, in place"; !slices.Contains(said, want) {
		t.Errorf("%q is not said: %q", want, said[len(said)-1])
	}
	c.inPlace = true
	if n := feed(); n != 1000 {
		t.Errorf("%d gaps in place of 1000", n)
	}
}
