package report

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/internal/simrec"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// simSession is a session over what the simulated machine gives a decoder, with the
// image of its start.
func simSession(t *testing.T, r *sim.Run) *decoder.Session {
	t.Helper()
	s, err := decoder.OpenRecording(simrec.Recording(r, r.Start), decoder.Config{ClockError: r.Config.ClockError})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// trueCrossing returns what a CPU of a simulated machine executed of the old and
// the new code of record k, since the poke before it and until the one after. ok is
// false where that cannot be told.
func trueCrossing(r *sim.Run, number []int, k, cpu int) (old, new []sim.Retired, ok bool) {
	p := &r.Pokes[number[k]]
	overlaps := func(q *sim.Poke) bool {
		return q.Addr < p.Addr+uint64(max(len(p.Old), len(p.New))) && p.Addr < q.Addr+uint64(max(len(q.Old), len(q.New)))
	}
	if len(p.Seen) == 0 {
		return nil, nil, false
	}
	insns := r.CPUs[cpu].Insns
	from, to := 0, len(insns)
	for j, n := range number {
		q := &r.Pokes[n]
		switch {
		case !overlaps(q):
		case len(q.Seen) == 0, string(q.Old) == string(q.New), q.Addr != p.Addr, len(q.New) != len(p.New):
			// Code that comes and goes: it is not known when it was seen. A poke
			// that changes nothing: it has no sides. Others of which only a part
			// lies here: the rest has other sides.
			return nil, nil, false
		case j == k:
		case j < k:
			from = max(from, q.Seen[cpu].New)
		default:
			to = min(to, q.Seen[cpu].New)
		}
	}
	for i := from; i < to; i++ {
		in := &insns[i]
		if in.IP < p.Addr+uint64(len(p.New)) && p.Addr < in.IP+uint64(r.Codes[in.Code].Len) {
			if i < p.Seen[cpu].New {
				old = append(old, *in)
			} else {
				new = append(new, *in)
			}
		}
	}
	return old, new, true
}

// unsure reports whether some execution where poke k lies may have been of
// another text.
func unsure(s *decoder.Session, list map[int][]Crossing, k, cpu int) bool {
	r := s.Text().Journal().Poke(k).Range()
	for _, i := range s.Text().Between(r.Addr, int(r.Len), 0, event.MaxEpoch, nil) {
		for _, c := range list[i] {
			if c.Stream == cpu && c.Old.Unsure+c.Traps.Unsure+c.New.Unsure > 0 {
				return true
			}
		}
	}
	return false
}

// sureAll is a sink that finds streams on which all is claimed.
type sureAll map[int]bool

// Flow takes the flow in b.
func (s sureAll) Flow(b *decoder.Batch) error {
	for i := range b.Ranges {
		if b.Ranges[i].Verdict == decoder.Ambiguous {
			s[b.Stream] = false
		}
	}
	for i := range b.Notes {
		if n := &b.Notes[i]; n.Kind == decoder.NoteGap || n.Kind == decoder.NoteTrap && n.Verdict == decoder.Ambiguous {
			s[b.Stream] = false
		}
	}
	return nil
}

// TestCrossingsTruth would catch an execution of the old or the new code that is
// missed, counted on the other side, or given to another poke of the site. It would
// catch one at another time than it was, and a trap that is not counted. The traces
// are a simulated machine's.
func TestCrossingsTruth(t *testing.T) {
	n := uint64(testsize.Of(t, 40, 200))
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan bool, runtime.GOMAXPROCS(0))
	checked, executed, trapped := 0, 0, 0
	one := func(seed uint64) {
		cfg := sim.Draw(seed)
		cfg.OVF = 0
		r := sim.Simulate(cfg)
		s := simSession(t, r)
		sure := sureAll{}
		for i := range r.CPUs {
			sure[i] = true
		}
		err := s.Flow(context.Background(), decoder.Query{Jobs: 1}, sure)
		list, _, err2 := (&Crossings{Session: s}).Decode(context.Background(), decoder.Query{Jobs: 1})
		if err != nil || err2 != nil {
			t.Errorf("seed %d: %v, %v", seed, err, err2)
			return
		}
		_, number := r.Records()
		for k := range list {
			for cpu := range r.CPUs {
				old, new, ok := trueCrossing(r, number, k, cpu)
				if !ok || !sure[cpu] || unsure(s, list, k, cpu) {
					continue
				}
				traps := 0
				for _, x := range r.Traps {
					if x.CPU == cpu && x.Poke == number[k] {
						traps++
					}
				}
				var c Crossing
				for _, x := range list[k] {
					if x.Stream == cpu {
						c = x
					}
				}
				mu.Lock()
				checked++
				executed += len(old) + len(new)
				trapped += traps
				mu.Unlock()
				msg := ""
				if c.Old.N != len(old) || c.New.N != len(new) || c.Traps.N != traps {
					msg = fmt.Sprintf("%d old, %d traps, %d new; %d, %d, %d were", c.Old.N, c.Traps.N, c.New.N, len(old), traps, len(new))
				} else if len(old) > 0 && !covers(c.Old.Last.Time, old[len(old)-1].Time) {
					msg = fmt.Sprintf("last old in %v, it was at %d", c.Old.Last.Time, old[len(old)-1].Time)
				} else if len(new) > 0 && !covers(c.New.First.Time, new[0].Time) {
					msg = fmt.Sprintf("first new in %v, it was at %d", c.New.First.Time, new[0].Time)
				}
				if msg != "" {
					t.Errorf("seed %d cpu %d: poke %d at %#x: %s", seed, cpu, k, s.Text().Journal().Poke(k).Addr, msg)
				}
			}
		}
	}
	for seed := range n {
		slots <- true
		wg.Go(func() {
			one(seed)
			<-slots
		})
	}
	wg.Wait()
	t.Logf("%d crossings, %d executions, %d traps", checked, executed, trapped)
	if checked < int(n) || executed < 10*int(n) || trapped < int(n)/2 {
		t.Errorf("%d crossings, %d executions, %d traps: too few to tell", checked, executed, trapped)
	}
}

// covers reports whether what was stamped t can have been executed at a time.
// The stamp is that of an event near it: one packet has the outcomes of up to
// 47 branches.
func covers(t event.Time, at uint64) bool { return t.Lo <= at+1000 }

// kernelSession opens a real recording of a kernel.
func kernelSession(t *testing.T, name string) *decoder.Session {
	t.Helper()
	s, err := decoder.Open(decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", name, "perf.data")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestCrossingsWithin would catch executions and traps outside of the time asked for that count:
// what parts of a recording tell would then depend on where it was cut.
func TestCrossingsWithin(t *testing.T) {
	cut, less := 0, 0
	for seed := range uint64(testsize.Of(t, 20, 100)) {
		s := simSession(t, sim.Simulate(sim.Draw(seed)))
		whole, _, err := (&Crossings{Session: s}).Decode(context.Background(), decoder.Query{Jobs: 1})
		if err != nil || s.Text().Journal().Len() == 0 {
			t.Fatalf("seed %d: %v", seed, err)
		}
		mid := s.Text().Poke(s.Text().Journal().Len() / 2).Time
		for _, c := range []Crossings{{Session: s, From: mid}, {Session: s, Until: mid}} {
			list, _, err := c.Decode(context.Background(), decoder.Query{Jobs: 1})
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			in := func(t event.Time) bool { return t.Hi >= c.From && (c.Until == 0 || t.Lo <= c.Until) }
			for k, all := range whole {
				for _, w := range all {
					var got Crossing
					for _, x := range list[k] {
						if x.Stream == w.Stream {
							got = x
						}
					}
					for i, side := range []Sightings{w.Old, w.Traps, w.New} {
						few := []Sightings{got.Old, got.Traps, got.New}[i]
						if few.N > 0 && (!in(few.First.Time) || !in(few.Last.Time)) {
							t.Errorf("seed %d, poke %d, side %d: from %v to %v, asked for %d to %d", seed, k, i, few.First.Time, few.Last.Time, c.From, c.Until)
						}
						if in(side.First.Time) && in(side.Last.Time) && few != side {
							t.Errorf("seed %d, poke %d, side %d: %v, want %v", seed, k, i, few, side)
						}
						cut++
						if few.N < side.N {
							less++
						}
					}
				}
			}
		}
	}
	if less == 0 || less == cut {
		t.Errorf("%d of %d sides have less in part of the time", less, cut)
	}
}

// TestCrossings would catch traps of a real recording that are not counted with
// their pokes, and sides that were executed out of their order.
func TestCrossings(t *testing.T) {
	s := kernelSession(t, "tracepoints-coarse")
	list, gaps, err := (&Crossings{Session: s}).Decode(context.Background(), decoder.Query{})
	if err != nil || gaps > 0 {
		t.Fatalf("%d gaps, %v", gaps, err)
	}
	traps, both := 0, 0
	for i := range list {
		for _, c := range list[i] {
			traps += c.Traps.N
			if c.Old.N > 0 && c.New.N > 0 {
				both++
			}
			p := s.Text().Poke(i)
			if c.New.N > 0 && c.New.Last.Time.Hi < p.Time || c.Old.N > 0 && c.Old.Last.Time.Lo > p.Time {
				t.Errorf("poke %d at %d on cpu%d: old until %v, new until %v", i, p.Time, c.Stream, c.Old.Last.Time, c.New.Last.Time)
			}
		}
	}
	if traps != 67 || both == 0 {
		t.Errorf("%d traps, want 67; %d crossings with both sides executed", traps, both)
	}
}
