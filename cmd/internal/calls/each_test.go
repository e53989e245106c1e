package calls

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// TestAbout would catch a line that does not say how a call was entered, where it ran or how it ended. It would also catch
// one that hides a doubt or a gap, or says what goes without saying.
func TestAbout(t *testing.T) {
	on := &decoder.Stream{Name: "cpu1"}
	l := &list{}
	for want, c := range map[string]calls.Call{
		"user, cpu1":                         {How: calls.FromUser, TID: -1, Ended: calls.Returned},
		"unseen, cpu1, tid 7 sh, unwound":    {How: calls.Unseen, TID: 7, Comm: "sh", Ended: calls.Unwound},
		"call, cpu1, ended in a gap":         {How: calls.Called, TID: -1, Ended: calls.InGap, Gap: true},
		"call, cpu1, tail call, gap in it":   {How: calls.Called, TID: -1, Ended: calls.Replaced, Gap: true},
		"jump, cpu1, ambiguous":              {How: calls.Jumped, TID: -1, Ended: calls.Returned, Verdict: decoder.Ambiguous},
		"interrupt, cpu1, tid 7, 1 cycle":    {How: calls.Interrupted, TID: 7, Ended: calls.Returned, Counted: true, Cycles: 1, Times: 1},
		"resumed, cpu1, end of trace, trace": {How: calls.Resumed, TID: -1, Ended: calls.AtEnd, Verdict: decoder.Trace},
	} {
		c.Stream = on
		if got := l.about(&c); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
