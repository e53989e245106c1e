package decoder

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/internal/simrec"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// simSession is a session over what the simulated machine gives a decoder;
// taken is when the image was taken, if the decoder is to be told.
func simSession(t testing.TB, r *sim.Run, image []sim.Piece, taken ...event.Time) *Session {
	t.Helper()
	return simBoth(t, r, image, nil, taken...)
}

// simBoth is simSession with an image of the end beside the other one.
func simBoth(t testing.TB, r *sim.Run, image, late []sim.Piece, taken ...event.Time) *Session {
	t.Helper()
	f := simrec.Recording(r, image)
	lateOf(t, f, late, taken)
	s := &Session{rec: f, cfg: Config{ClockError: r.Config.ClockError}}
	if err := s.assemble(); err != nil {
		t.Fatal(err)
	}
	return s
}

// lateOf adds to f an image of the end and when the other one was taken, if these are told.
func lateOf(t testing.TB, f *recording.Recording, late []sim.Piece, taken []event.Time) {
	t.Helper()
	if len(taken) > 0 {
		f.Taken = &taken[0]
	}
	if late != nil {
		var err error
		if f.Late, err = sim.NewImage(late); err != nil {
			t.Fatal(err)
		}
	}
}

// tally counts claims against the truth.
type tally struct {
	pokes, windows          int // windows: stretches of a CPU's flow in which a poke was under way
	insns, lost, inWindows  int // executed; kept out of the trace by overflows; in windows
	settled, settledWindows int // of those, claimed
	claims, wrong           int // decoded and not ambiguous; of those, not executed
	gaps                    int
	verdicts                [flow.Ambiguous + 1]int
}

func (c *tally) add(o *tally) {
	c.pokes, c.windows = c.pokes+o.pokes, c.windows+o.windows
	c.insns, c.lost, c.inWindows = c.insns+o.insns, c.lost+o.lost, c.inWindows+o.inWindows
	c.settled, c.settledWindows = c.settled+o.settled, c.settledWindows+o.settledWindows
	c.claims, c.wrong, c.gaps = c.claims+o.claims, c.wrong+o.wrong, c.gaps+o.gaps
	for i, n := range o.verdicts {
		c.verdicts[i] += n
	}
}

// maxWrong is how many wrong claims of one CPU are counted: a place for each is
// looked for in all that the CPU executed.
const maxWrong = 200

// judge compares what was decoded of one CPU with what it executed. Claims
// that stand next to each other must have executed next to each other. known
// says of each instruction executed whether it was claimed. lost says where
// the flow may go on behind an overflow: in a loop, many places look alike.
func (c *tally) judge(got []step, want []sim.Retired, lost []sim.Lost, same sameInsn) (known []bool, trouble string) {
	known = make([]bool, len(want))
	k := 0       // of want: everything before is accounted for
	free := true // the next claim may lie anywhere further on
	wrong := c.wrong
	for i := range got {
		x := &got[i]
		if x.gap != nil {
			c.gaps++
			free = true
			continue
		}
		c.verdicts[x.v]++
		if x.v == flow.Ambiguous {
			free = true
			continue
		}
		c.claims++
		if free {
			at := -1
			if i > 0 && got[i-1].gap != nil && got[i-1].gap.Reason == event.OverflowGap {
				at = behind(got[i:], want, k, lost, same)
			}
			if at < 0 {
				at = find(got[i:], want, k, same)
			}
			if at >= 0 {
				k, free = at, false
			}
		}
		if free || k >= len(want) || want[k].IP != x.ip || !same(x, &want[k]) {
			c.wrong++
			if trouble == "" {
				trouble = fmt.Sprintf("claim %d: %#x %v+%#x in %v; truth %d of %d", i, x.ip, x.v, x.off, x.time, k, len(want))
				for j := max(0, k-3); j < min(len(want), k+5); j++ {
					trouble += fmt.Sprintf(" %#x@%d", want[j].IP, want[j].Time)
				}
			}
			if free = true; c.wrong-wrong == maxWrong {
				return known, trouble + " (the rest is not judged)"
			}
			continue
		}
		known[k] = true
		k++
	}
	return known, trouble
}

// sameInsn says whether a claim is the very instruction that was fetched, in the bounds of its time.
type sameInsn func(*step, *sim.Retired) bool

// find returns the first place from k on in want where the run of claims that
// begins got executed, or -1.
func find(got []step, want []sim.Retired, k int, same sameInsn) int {
	for j := k; j < len(want); j++ {
		if ranAt(got, want, j, same) {
			return j
		}
	}
	return -1
}

// behind is find among the places where the flow goes on behind an overflow.
func behind(got []step, want []sim.Retired, k int, lost []sim.Lost, same sameInsn) int {
	for _, l := range lost {
		if l.To >= k && ranAt(got, want, l.To, same) {
			return l.To
		}
	}
	return -1
}

// ranAt reports whether the run of claims that begins got executed from j on.
func ranAt(got []step, want []sim.Retired, j int, same sameInsn) bool {
	for i := range got {
		if got[i].gap != nil || got[i].v == flow.Ambiguous {
			return true
		}
		if j+i >= len(want) || got[i].ip != want[j+i].IP || !same(&got[i], &want[j+i]) {
			return false
		}
	}
	return true
}

// seeds returns how many seeds to run, and the first. Both forms of a test begin with
// seed 0, unless SEEDS and FIRST in the environment say otherwise.
func seeds(t testing.TB, small, full int, all ...int) (first, n uint64) {
	n = uint64(testsize.Of(t, small, full, all...))
	if v, err := strconv.ParseUint(os.Getenv("SEEDS"), 10, 64); err == nil {
		n = v
	}
	if v, err := strconv.ParseUint(os.Getenv("FIRST"), 10, 64); err == nil {
		first = v
	}
	return first, n
}

// keptRuns returns the runs of a list of those that once went wrong: all, or a third of them in
// the small form. Where SEEDS is set, as make mutate does, it returns all.
func keptRuns[T any](t testing.TB, list []T) []T {
	if os.Getenv("SEEDS") != "" {
		return list
	}
	return testsize.Some(t, list, (len(list)+2)/3)
}

// scores is the tallies of many runs.
type scores struct {
	fullWork int // Config.FullWork
	timings  [sim.AllTimings]tally
	schemes  [sim.AllTimings][sim.NumSchemes]tally // only what lies in windows
	brute    [sim.AllTimings]bruteTally
	trouble  []string
	noBrute  bool // brute force is not asked: only claims are judged
}

func (s *scores) add(o *scores) {
	for t := range s.timings {
		s.timings[t].add(&o.timings[t])
		s.brute[t].add(&o.brute[t])
		for i := range s.schemes[t] {
			s.schemes[t][i].add(&o.schemes[t][i])
		}
	}
	s.trouble = append(s.trouble, o.trouble...)
}

// score decodes r and compares it with what happened.
func (s *scores) score(t *testing.T, r *sim.Run) {
	session := simSession(t, r, r.Start)
	session.walk.FullWork = s.fullWork
	got := decodeWith(t, r, session, Query{Jobs: 1})
	s.compare(r, got, session.code.Load().text)
	if s.noBrute {
		return
	}
	for i := range r.CPUs {
		s.brute[r.Config.Timing].check(r, ptStream(r, session, i), i, got[i], bruteRules{})
	}
}

// compare compares what was decoded of r with what happened.
func (s *scores) compare(r *sim.Run, got steps, text flow.Text) {
	same := func(x *step, w *sim.Retired) bool {
		if w.Time < x.time.Lo || x.time.Hi < w.Time {
			return false
		}
		if !x.poked {
			return true
		}
		var b [16]byte
		code := r.Codes[w.Code].Fetched()
		n, _ := text.Fetch(b[:len(code)], 0, x.ip, x.at)
		return bytes.Equal(b[:n], code)
	}
	cfg := &r.Config
	all := &s.timings[cfg.Timing]
	all.pokes += len(r.Pokes)
	for i := range r.CPUs {
		want := r.CPUs[i].Insns
		known, msg := all.judge(got[i], want, r.CPUs[i].Lost, same)
		if msg != "" {
			s.trouble = append(s.trouble, fmt.Sprintf("seed %d cpu %d (%v, work %b): %s", cfg.Seed, i, cfg.Timing, cfg.Work, msg))
		}
		all.insns += len(want)
		lost := make([]bool, len(want))
		for _, l := range r.CPUs[i].Lost {
			for j := l.From; j < l.To; j++ {
				lost[j] = true
			}
		}
		for j := range want {
			switch {
			case known[j]:
				all.settled++
			case lost[j]:
				all.lost++
			}
		}
		s.windows(r, want, known, lost)
	}
	for i := range r.Pokes {
		s.schemes[cfg.Timing][r.Pokes[i].Scheme].pokes++
	}
}

// windows counts what of a CPU's flow was executed while a poke was under way.
func (s *scores) windows(r *sim.Run, want []sim.Retired, known, lost []bool) {
	in := make([]uint8, len(want)) // schemes, one bit each
	for i := range r.Pokes {
		p := &r.Pokes[i]
		from := sort.Search(len(want), func(j int) bool { return want[j].Time >= p.Begin })
		to := sort.Search(len(want), func(j int) bool { return want[j].Time > p.End })
		if from < to {
			s.timings[r.Config.Timing].windows++
			s.schemes[r.Config.Timing][p.Scheme].windows++
		}
		for j := from; j < to; j++ {
			in[j] |= 1 << p.Scheme
		}
	}
	count := func(c *tally, j int) {
		c.inWindows++
		if known[j] {
			c.settledWindows++
		}
	}
	for j, m := range in {
		if m == 0 || (lost[j] && !known[j]) {
			continue
		}
		count(&s.timings[r.Config.Timing], j)
		for k := range sim.NumSchemes {
			if m>>k&1 != 0 {
				count(&s.schemes[r.Config.Timing][k], j)
			}
		}
	}
}

// share is part of whole, per cent.
func share(part, whole int) string {
	if whole == 0 {
		return "-"
	}
	return fmt.Sprintf("%.3f", 100*float64(part)/float64(whole))
}

// table prints the scores. Its last line is the verdict.
func (s *scores) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-10s %-12s %8s %8s %10s %10s %10s %10s %9s %7s %7s %6s %9s\n", "time", "scheme", "pokes", "windows",
		"insns", "certain", "trace", "exception", "ambiguous", "gaps", "lost", "wrong", "settled %")
	var sum tally
	for t := range s.timings {
		c := &s.timings[t]
		fmt.Fprintf(&b, "%-10v %-12s %8d %8d %10d %10d %10d %10d %9d %7d %7d %6d %9s\n", sim.Timing(t), "all", c.pokes, c.windows,
			c.insns, c.verdicts[flow.Certain], c.verdicts[flow.Trace], c.verdicts[flow.Exception], c.verdicts[flow.Ambiguous],
			c.gaps, c.lost, c.wrong, share(c.settled, c.insns-c.lost))
		sum.add(c)
		fmt.Fprintf(&b, "%-10v %-12s %8s %8s %10d %62s %9s\n", sim.Timing(t), "in windows", "", "", c.inWindows, "", share(c.settledWindows, c.inWindows))
		if d := &s.brute[t]; d.windows > 0 {
			fmt.Fprintf(&b, "%-10v %-12s %v\n", sim.Timing(t), "brute force", d)
		}
		for k := range s.schemes[t] {
			c := &s.schemes[t][k]
			if c.pokes == 0 {
				continue
			}
			fmt.Fprintf(&b, "%-10v %-12v %8d %8d %10d %62s %9s\n", sim.Timing(t), sim.Scheme(k), c.pokes, c.windows, c.inWindows, "", share(c.settledWindows, c.inWindows))
		}
	}
	fmt.Fprintf(&b, "%d wrong of %d claims, %s %% settled\n", sum.wrong, sum.claims, share(sum.settled, sum.insns-sum.lost))
	return b.String()
}

// decodeSim decodes r with one of its images.
func decodeSim(t *testing.T, r *sim.Run, image []sim.Piece, q Query) steps {
	return decodeWith(t, r, simSession(t, r, image), q)
}

// decodeWith decodes r, which s holds.
func decodeWith(t *testing.T, r *sim.Run, s *Session, q Query) steps {
	got := steps{}
	if err := s.Flow(context.Background(), q, got); err != nil {
		t.Errorf("seed %d: %v", r.Config.Seed, err)
	}
	return got
}

// eachSeed calls do for each seed, from several goroutines.
func eachSeed(first, n uint64, do func(worker int, seed uint64)) {
	var next atomic.Uint64
	var wg sync.WaitGroup
	for i := range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for k := next.Add(1) - 1; k < n; k = next.Add(1) - 1 {
				do(i, first+k)
			}
		})
	}
	wg.Wait()
}

// drawn is the machine of a seed: one in four is patched without a pause, the
// others as seldom as a kernel is.
func drawn(seed uint64) sim.Config {
	if seed%4 == 0 {
		return sim.Draw(seed)
	}
	return sim.Sparse(seed)
}

// TestTruth would catch any instruction claimed that no CPU executed: the
// decoder's flow over traces, pokes and images of a simulated machine against
// what that machine did. SEEDS and FIRST in the environment say which runs;
// the table goes to the log, or to the file named by TRUTH_TABLE.
func TestTruth(t *testing.T) {
	first, n := seeds(t, 8, 140, 200)
	parts := make([]scores, runtime.GOMAXPROCS(0))
	eachSeed(first, n, func(i int, seed uint64) {
		parts[i].score(t, sim.Simulate(drawn(seed)))
		parts[i].scoreA64(t, sim.SimulateA64(drawnA64(seed)))
		parts[i].scoreETM(t, sim.SimulateA64(drawnA64(seed).WithETM()))
		parts[i].scoreETM(t, sim.SimulateA32(drawnA32(seed)))
	})
	var all scores
	for i := range parts {
		all.add(&parts[i])
	}
	for i := range all.brute {
		all.trouble = append(all.trouble, all.brute[i].trouble...)
	}
	slices.Sort(all.trouble)
	for _, m := range all.trouble[:min(len(all.trouble), 20)] {
		t.Error(m)
	}
	if name := os.Getenv("TRUTH_TABLE"); name != "" {
		if err := os.WriteFile(name, []byte(all.table()), 0o666); err != nil {
			t.Error(err)
		}
		return
	}
	t.Log("\n" + all.table())
}

// TestTruthHistory keeps runs that were once decoded wrong, or without end: each with what of
// the machine has to be otherwise than drawn.
func TestTruthHistory(t *testing.T) {
	type run struct {
		seed   uint64
		plain  bool // no overflows, and time stated at each period
		seldom bool // patched as seldom as a kernel is
	}
	for _, x := range keptRuns(t, []run{
		{seed: 5347}, {seed: 17912}, {seed: 19260}, {seed: 101412}, {seed: 8428}, {seed: 9688}, {seed: 9889}, {seed: 12504}, {seed: 24167}, {seed: 24806},
		{seed: 41648}, {seed: 199, plain: true}, {seed: 372, plain: true}, {seed: 643, plain: true}, {seed: 662, plain: true}, {seed: 3895, seldom: true},
	}) {
		cfg := sim.Draw(x.seed)
		if x.seldom {
			cfg = sim.Sparse(x.seed)
		}
		if x.plain {
			cfg.OVF = 0
			cfg.Timing = max(cfg.Timing, sim.MTC)
		}
		r := sim.Simulate(cfg)
		for _, full := range []int{0, -1} { // -1: no flow is compared again up to where it met another
			s := scores{noBrute: true, fullWork: full}
			s.score(t, r)
			for _, m := range s.trouble {
				t.Errorf("full work %d: %s", full, m)
			}
		}
	}
}

// TestSimSame would catch a decode that depends on when the image was taken,
// on how many workers there are, or on how the trace is cut for them.
func TestSimSame(t *testing.T) {
	first, n := seeds(t, 8, 140, 200)
	eachSeed(first, n, func(_ int, seed uint64) {
		r := sim.Simulate(sim.Draw(seed))
		decode := func(image []sim.Piece, q Query) steps { return decodeSim(t, r, image, q) }
		sameDecoded(t, r, seed, decode(r.Start, Query{Jobs: 1}), decode, []decodedAs{
			{"an image from the middle", r.Middle, Query{Jobs: 1}},
			{"an image taken while pokes went on", r.During, Query{Jobs: 1}},
			{"an image from the end", r.End, Query{Jobs: 1}},
			{"2 workers", r.Start, Query{Jobs: 2}},
			{"16 workers", r.Start, Query{Jobs: 16}},
			{"segments of their own", r.Start, Query{Jobs: 8, SegmentBytes: 1}},
			{"segments of 2 KiB", r.Start, Query{Jobs: 2, SegmentBytes: 2048}},
			{"one segment", r.Start, Query{Jobs: 1, SegmentBytes: 1 << 30}},
		})
	})
}

// decodedAs is one way to decode a run: with an image and a query.
type decodedAs struct {
	what  string
	image []sim.Piece
	q     Query
}

// sameDecoded reports each way to decode r in which its steps are not as want.
func sameDecoded(t *testing.T, r *sim.Run, seed uint64, want steps, decode func(image []sim.Piece, q Query) steps, ways []decodedAs) {
	t.Helper()
	for _, x := range ways {
		got := decode(x.image, x.q)
		for i := range r.CPUs {
			if at := differ(got[i], want[i]); at >= 0 {
				t.Errorf("seed %d cpu %d: %s: differs at step %d of %d and %d", seed, i, x.what, at, len(got[i]), len(want[i]))
			}
		}
	}
}

// differ returns where a and b differ, -1 if nowhere.
func differ(a, b []step) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i].ip != b[i].ip || a[i].v != b[i].v || a[i].off != b[i].off || (a[i].gap == nil) != (b[i].gap == nil) {
			return i
		}
		if a[i].gap != nil && *a[i].gap != *b[i].gap {
			return i
		}
	}
	return -1
}
