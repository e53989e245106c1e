package calls

import (
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// TestAbout would catch a line that does not say how a call was entered, where it ran or how it ended. It would also catch
// one that hides a doubt or a gap, or says what goes without saying.
func TestAbout(t *testing.T) {
	on := &decoder.Stream{Name: "cpu1"}
	for want, c := range map[string]calls.Call{
		"user, cpu1":                         {How: calls.FromUser, TID: -1, Ended: calls.Returned},
		"unwound, unseen, cpu1, tid 7 sh":    {How: calls.Unseen, TID: 7, Comm: "sh", Ended: calls.Unwound},
		"ended in a gap, call, cpu1":         {How: calls.Called, TID: -1, Ended: calls.InGap, Gap: true},
		"gap in it, tail call, call, cpu1":   {How: calls.Called, TID: -1, Ended: calls.Replaced, Gap: true},
		"ambiguous, jump, cpu1":              {How: calls.Jumped, TID: -1, Ended: calls.Returned, Verdict: decoder.Ambiguous},
		"interrupt, cpu1, tid 7, 1 cycle":    {How: calls.Interrupted, TID: 7, Ended: calls.Returned, Counted: true, Cycles: 1, Times: 1},
		"trace, end of trace, resumed, cpu1": {How: calls.Resumed, TID: -1, Ended: calls.AtEnd, Verdict: decoder.Trace},
	} {
		c.Stream = on
		if got := strings.Join(append(doubts(&c), about(&c)...), ", "); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
