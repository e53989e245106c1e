package calls_test

import (
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// told is what is told of a call of which both ends are known.
type told struct {
	stream             int
	sym                string
	addr, from         uint64
	tid                int32
	comm               string
	begin, end         event.Time
	took, self, number uint64
	ended              calls.Way
}

// toldOf returns the calls of s from one time to another, ns, that have both ends; 0 and 0 are
// all. Those are left out of which a time has no lower bound: the flow begins with them.
func toldOf(t *testing.T, s *decoder.Session, from, until uint64) map[told]int {
	t.Helper()
	list := map[told]int{}
	tree := &calls.Tree{Session: s, OnEnd: func(c *calls.Call) {
		if took, self, ok := c.Took(); ok && c.Begin.Lo != 0 && c.End.Lo != 0 {
			list[told{c.Stream.Index, c.Sym, c.Addr, c.From, c.TID, c.Comm, c.Begin, c.End, took, self, c.Insns, c.Ended}]++
		}
	}}
	if err := s.Flow(t.Context(), decoder.Query{From: from, Until: until, Merged: true, Bounds: true}, tree); err != nil {
		t.Fatal(err)
	}
	tree.Close()
	return list
}

// TestCallsOfWindows would catch calls of a time that are not those of the whole recording:
// under another thread or name, or with other times. All that have both ends are the same there, and
// all that lie in the time are told.
func TestCallsOfWindows(t *testing.T) {
	for _, of := range []struct {
		name             string
		small, full, all int // windows
	}{{"kprobes", 2, 12, 40}, {"tracepoints", 0, 1, 4}, {"ftrace", 0, 4, 10}, {"nomitig-late", 0, 4, 10}, {"tracepoints-coarse", 2, 12, 40}} {
		t.Run(of.name, func(t *testing.T) {
			n := uint64(testsize.Of(t, of.small, of.full, of.all))
			if n == 0 {
				t.Skip("full form only")
			}
			s, err := decoder.Open(decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", of.name, "perf.data")})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			whole := toldOf(t, s, 0, 0)
			judged := byRecords(t, s, whole)
			both := s.Streams()[0].Time()
			for _, st := range s.Streams() {
				both = event.Time{Lo: min(both.Lo, st.Time().Lo), Hi: max(both.Hi, st.Time().Hi)}
			}
			long := both.Hi - both.Lo
			compared, early := 0, 0
			for i := range n {
				from := both.Lo + long*(2*i+1)/(2*n)
				for _, until := range []uint64{0, from + long/20} {
					part := toldOf(t, s, from, until)
					compared += len(part)
					for c, k := range part {
						switch tid, _, _, _ := s.Running(c.stream, c.begin.Lo); {
						case whole[c] >= k:
						case c.tid == tid && c.begin.Lo <= from: // the thread that comes next is named a moment before it takes its stack
							early++
						default:
							t.Errorf("from %d to %d: %+v is none of the whole recording", from, until, c)
						}
					}
					for c, k := range whole {
						if c.begin.Lo > from && (until == 0 || c.end.Hi <= until) && part[c] != k {
							t.Errorf("from %d to %d: %+v is missing", from, until, c)
						}
					}
				}
			}
			if early > compared/1000 || compared == 0 || judged == 0 {
				t.Errorf("%d calls of %d are of the thread that comes next; %d threads judged", early, compared, judged)
			}
			t.Logf("%d calls compared, %d early; the records tell of the threads of %d", compared, early, judged)
		})
	}
}

// byRecords judges the threads of calls by the records. Where all of the moment in which a call
// began lies in one thread's run, with time to spare, that thread is the call's. So is the name that
// it had then. It returns how many it judged.
func byRecords(t *testing.T, s *decoder.Session, all map[told]int) (judged int) {
	t.Helper()
	const spare = 10_000 // ns
	for c := range all {
		lo, hi := c.begin.Lo-spare, c.begin.Hi+spare
		tid, _, _, ok := s.Running(c.stream, lo)
		if next, _, more := s.NextRunning(c.stream, lo, tid); !ok || more && next <= hi {
			continue
		}
		if judged++; c.tid != tid {
			t.Errorf("%+v: the records say that %d ran", c, tid)
		}
		_, early, _, _ := s.Running(c.stream, c.begin.Lo)
		if _, late, _, _ := s.Running(c.stream, c.begin.Hi); c.comm != early && c.comm != late {
			t.Errorf("%+v: the thread was called %s, %s", c, early, late)
		}
	}
	return judged
}
