package report

import (
	"fmt"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// own has q ask for what the machine of s itself executed, and not for its guests: their
// code and their changes are those of other sessions (decoder.Guests).
func own(s *decoder.Session, q decoder.Query) decoder.Query {
	if len(decoder.Guests(s)) == 0 {
		return q
	}
	asked := q.Streams
	q.Streams = []int{}
	for _, st := range s.Streams() {
		if st.Guest == s.Meta().Guest && (asked == nil || slices.Contains(asked, st.Index)) {
			q.Streams = append(q.Streams, st.Index)
		}
	}
	return q
}

// guestHint is GapHint for a stay in a virtual machine of which nothing is given.
func guestHint(s *decoder.Session, g *event.Gap) string {
	pid, ran := "PID", "the process that runs it"
	if tid, comm, _, ok := s.Running(g.Stream, g.Time.Lo); ok && tid > 0 {
		ran = fmt.Sprintf("the process of thread %d", tid)
		if comm != "" {
			ran += fmt.Sprintf(" (%s)", comm)
		}
	}
	return fmt.Sprintf("record inside the virtual machine meanwhile, by perf record --kcore -a -e dummy, and give what it wrote with --guest %s=FILE, where %s is %s", pid, pid, ran)
}
