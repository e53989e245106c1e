package flow

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// filled is a Source that gives events in one go.
type filled struct{ events }

func (f *filled) Fill(q []event.Event) int {
	n := copy(q, f.events)
	f.events = f.events[n:]
	return n
}

// strict is a Source that must not be asked for more behind its end.
type strict struct {
	events
	t     *testing.T
	ended bool
}

func (s *strict) Next(e *event.Event) bool {
	if s.ended {
		s.t.Error("the source is asked for more behind its end")
	}
	s.ended = !s.events.Next(e)
	return !s.ended
}

// TestQueue would catch an event that is lost, given twice or moved when others
// are pulled or dropped, and one dropped that is still needed. It would also catch
// a queue that grows with the trace, and an end that is not one.
func TestQueue(t *testing.T) {
	const n = 20000
	all := make(events, n)
	for i := range all {
		all[i].Off = int64(i)
	}
	var q queue
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		if q.start(&strict{events: all, t: t}, false); seed%2 == 1 {
			q.start(&filled{all}, false)
		}
		most := 0
		for next := 0; next < n; next += rnd.IntN(30) {
			for range 3 {
				i := max(0, next-1+rnd.IntN(600))
				if e := q.at(i); i < n && (e == nil || e.Off != int64(i)) || i >= n && e != nil {
					t.Fatalf("seed %d: event %d: %+v", seed, i, e)
				}
			}
			if rnd.IntN(4) == 0 {
				q.trim(next, queueEvents)
			}
			most = max(most, len(q.buf))
		}
		if most > 8*queueEvents {
			t.Errorf("seed %d: %d events are held", seed, most)
		}
	}
}

// TestQueueWaitedBehind would catch outcomes that are not seen behind other targets
// and payloads, or that are seen behind what forces targets out.
func TestQueueWaitedBehind(t *testing.T) {
	payload := event.Event{Kind: event.Payload}
	src := events{syncAt(0x1000), to(0x1000), bits("t"), to(0x1000), payload, to(0x1000), syncAt(0x1000), to(0x1000)}
	var q queue
	q.start(&src, false)
	q.at(7)
	for i, want := range map[int]int{1: -1, 3: 2, 5: 2, 7: -1} {
		at, e, ok := q.waitedBehind(i)
		if !ok || (e != nil) != (want >= 0) || e != nil && at != want {
			t.Errorf("event %d: %d %v %v, want %d", i, at, e, ok, want)
		}
	}
	q.base, q.buf = 3, q.buf[3:]
	if _, _, ok := q.waitedBehind(5); ok {
		t.Error("where the events before are gone, some of them may be outcomes")
	}
}

// TestQueueBehindNotTaken would catch an outcome that is not seen behind what leads
// no flow on, or that is looked for among events that are gone.
func TestQueueBehindNotTaken(t *testing.T) {
	payload := event.Event{Kind: event.Payload}
	src := events{syncAt(0x1000), bits("tn"), payload, {Kind: event.Context}, {Kind: event.Status}, bits("nt"), payload, to(0x1000), payload}
	var q queue
	q.start(&src, false)
	q.at(8)
	for i, want := range []bool{false, false, true, true, true, true, false, false, false} {
		if got := q.behindNotTaken(i); got != want {
			t.Errorf("event %d: %v, want %v", i, got, want)
		}
	}
}

// TestQueueStatedBehind would catch an address that is not seen behind what leads no flow on, or
// that is seen behind outcomes.
func TestQueueStatedBehind(t *testing.T) {
	payload := event.Event{Kind: event.Payload}
	src := events{syncAt(0x1000), payload, {Kind: event.Context}, to(0x1001), payload, bits("t"), payload, {Kind: event.Status}, payload}
	var q queue
	q.start(&src, false)
	q.at(8)
	for i, want := range []uint64{0, 0x1000, 0x1000, 0x1000, 0x1001, 0x1001, 0, 0, 0} {
		if ip, ok := q.statedBehind(i); ok != (want != 0) || ok && ip != want {
			t.Errorf("event %d: %#x %v, want %#x", i, ip, ok, want)
		}
	}
}

// TestQueueRemembers would catch a queue that tells what a target waited behind, what led the
// flow on last, or where that was, by how many events it happens to hold. Then a flow would
// depend on what was dropped, or passed over, before. The whole list of events is the slow twin.
func TestQueueRemembers(t *testing.T) {
	const n = 4000
	kinds := []event.Kind{event.Target, event.Target, event.Target, event.Target, event.Payload, event.Payload, event.Outcomes, event.Context, event.Status}
	for seed := range uint64(50) {
		rnd := rand.New(rand.NewPCG(seed, 2))
		all := make(events, n)
		for i := range all {
			all[i] = event.Event{Kind: kinds[rnd.IntN(len(kinds))], Off: int64(i), Flags: event.FlagIP, IP: uint64(i), N: 1, Value: rnd.Uint64()}
		}
		var q, twin queue
		src := all
		q.start(&src, false)
		other := all
		twin.start(&other, false)
		twin.at(n - 1)
		for next := 0; next < n; next += 1 + rnd.IntN(9) {
			q.at(next)
			switch rnd.IntN(3) {
			case 0:
				q.trim(next, 1)
			case 1: // targets are passed over
				end := next
				for end < n && all[end].Kind == event.Target {
					end++
				}
				if end == next || q.drained {
					break
				}
				q.passed(end, past{first: next})
				q.told = append(q.told, all[next:end]...) // as tellPast has it
				src, next = all[end:], end
			}
			at, e, ok := q.waitedBehind(next)
			wantAt, want, wantOK := twin.waitedBehind(next)
			if ok != wantOK || at != wantAt || (e != nil) != (want != nil) || e != nil && *e != *want {
				t.Fatalf("seed %d, event %d: %d %v %v, want %d %v %v", seed, next, at, e, ok, wantAt, want, wantOK)
			}
			if got, want := q.behindNotTaken(next), twin.behindNotTaken(next); got != want {
				t.Fatalf("seed %d, event %d: behind a branch that was not taken: %v, want %v", seed, next, got, want)
			}
			ip, states := q.statedBehind(next)
			if want, wantOK := twin.statedBehind(next); ip != want || states != wantOK {
				t.Fatalf("seed %d, event %d: behind %#x %v, want %#x %v", seed, next, ip, states, want, wantOK)
			}
		}
	}
}
