package view

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/flame"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestFunctionCalls would catch a function whose calls are counted otherwise than the verb
// calls does: by how often its first instruction ran. It would catch parts before and after a
// change that are not all of it, or that are those of another moment.
func TestFunctionCalls(t *testing.T) {
	v := serverOf(t, demoConfig())
	ran := map[string]uint64{}
	for stream := range v.s.Streams() {
		for _, s := range ask[stepsAnswer](t, v, fmt.Sprintf("/api/steps?stream=%d&before=0&after=2000", stream)).Steps {
			if s.Kind == "insn" {
				ran[s.IP]++
			}
		}
	}
	p := &v.pokes.list[0]
	var before uint64
	for _, l := range ask[struct{ Lanes []callLane }](t, v, "/api/calls").Lanes {
		for _, c := range l.Calls {
			if c.Took != nil && (*c.Took < c.Least || c.Most != nil && *c.Took > *c.Most) {
				t.Errorf("%s took %d ns, which is not in its bounds", c.Sym, *c.Took)
			}
			f := ask[function](t, v, "/api/function?addr="+c.Addr+"&split="+fmt.Sprint(p.Index))
			if f.Calls != ran[c.Addr] {
				t.Errorf("%s: %d calls, but its first instruction ran %d times", c.Sym, f.Calls, ran[c.Addr])
			}
			if len(f.Parts) != 3 || f.Parts[0].Calls+f.Parts[1].Calls+f.Parts[2].Calls != f.Calls {
				t.Errorf("%s: %d calls in the parts %+v", c.Sym, f.Calls, f.Parts)
				continue
			}
			before += f.Parts[0].Calls
		}
	}
	if before == 0 {
		t.Error("no call ended before the change")
	}
}

// TestChangesAgain would catch a split function of which it is not told that the code changes
// once more. It would catch that told where only what ran before that is asked for.
func TestChangesAgain(t *testing.T) {
	c := demoConfig()
	events, err := os.ReadFile(c.Events)
	if err != nil {
		t.Fatal(err)
	}
	events = append(events, `{"type":"text_poke","time":5000001400,"cpu":0,"pid":100,"tid":100,"addr":"ffffffff81000023","old":"e901000000","new":"0f1f440000","scheme":"bp"}`+"\n"...)
	c.Events = filepath.Join(t.TempDir(), "events.jsonl")
	if err := os.WriteFile(c.Events, events, 0o644); err != nil {
		t.Fatal(err)
	}
	v := serverOf(t, c)
	for until, want := range map[uint64]bool{v.rec.rel(5000001399): false, v.rec.rel(5000001400): false, v.rec.rel(5000001401): true} {
		f := ask[function](t, v, fmt.Sprintf("/api/function?addr=ffffffff81000020&split=0&from=0&until=%d", until))
		if got := f.Again != nil; got != want {
			t.Errorf("until %d ns: that the code changes again is told: %v, want %v", until, got, want)
		}
	}
}

// TestSameMoment would catch calls that the way from one to the next leaves out because several
// begin at one moment. It would catch slices that are not numbered as that way has them.
func TestSameMoment(t *testing.T) {
	v := serverOf(t, demoConfig())
	var addr string
	ran := map[string]int{}
	for stream := range v.s.Streams() {
		for _, s := range ask[stepsAnswer](t, v, fmt.Sprintf("/api/steps?stream=%d&before=0&after=2000", stream)).Steps {
			if s.Kind == "insn" {
				ran[s.IP]++
			}
		}
	}
	drawn := map[string]bool{}
	for _, l := range ask[struct{ Lanes []callLane }](t, v, "/api/calls?from=0&until=100000").Lanes {
		for _, c := range l.Calls {
			if c.Sym == "text_poke_sync" {
				addr = c.Addr
				drawn[fmt.Sprint(c.Stream, *c.Begin, c.Nth)] = true
			}
		}
	}
	var ways [2][]string
	shared := 0
	for i, way := range []string{"next", "previous"} {
		at := "&time=" + fmt.Sprint([]uint64{0, maxTime}[i])
		for range 100 {
			j := ask[jumped](t, v, "/api/execution?addr="+addr+"&way="+way+at)
			if j.Step == nil {
				break
			}
			ways[i] = append(ways[i], fmt.Sprint(j.Stream, j.Step.Time, j.Nth))
			at = fmt.Sprintf("&time=%d&of=%d&nth=%d", j.Step.Time, j.Stream, j.Nth)
			shared += j.Nth
		}
	}
	slices.Reverse(ways[1])
	if len(ways[0]) != ran[addr] || !slices.Equal(ways[0], ways[1]) || len(drawn) != ran[addr] || shared == 0 {
		t.Errorf("text_poke_sync ran %d times; forwards %q, backwards %q, slices %v", ran[addr], ways[0], ways[1], drawn)
	}
	for _, p := range ways[0] {
		if !drawn[p] {
			t.Errorf("no slice is numbered %s", p)
		}
	}
}

// TestLongest would catch calls that are named as the longest and are not, and names of calls
// by which the page would not find them.
func TestLongest(t *testing.T) {
	v := serverOf(t, demoConfig())
	named := 0
	for addr := range calledAt(t, v) {
		f := ask[function](t, v, "/api/function?addr="+addr)
		if len(f.Longest) == 0 {
			continue
		}
		if f.Longest[0].Took != f.Took.Max || len(f.Longest) > maxLongest {
			t.Errorf("%s: %d calls, the longest %+v, want %d ns", f.Sym, len(f.Longest), f.Longest[0], f.Took.Max)
		}
		for i, c := range f.Longest {
			if i > 0 && c.Took > f.Longest[i-1].Took {
				t.Errorf("%s: %d ns behind %d", f.Sym, c.Took, f.Longest[i-1].Took)
			}
			if c.Begin == 0 {
				continue // nothing lies before it
			}
			at := fmt.Sprintf("&time=%d&of=%d&nth=%d", c.Begin, c.Stream, c.Nth-1)
			if c.Nth == 0 {
				at = fmt.Sprintf("&time=%d&stream=%d", max(c.Begin, 1)-1, c.Stream)
			}
			j := ask[jumped](t, v, "/api/execution?addr="+addr+at)
			if j.Step == nil || j.Step.Time != c.Begin || j.Nth != c.Nth {
				t.Errorf("%s: the call %+v is not found: %+v", f.Sym, c, j)
			}
			named++
		}
	}
	if named == 0 {
		t.Error("no call has a time")
	}
}

// calledAt returns the addresses of the functions that were called.
func calledAt(t *testing.T, v *server) map[string]bool {
	t.Helper()
	addrs := map[string]bool{}
	for _, l := range ask[struct{ Lanes []callLane }](t, v, "/api/calls?from=0&until=100000").Lanes {
		for _, c := range l.Calls {
			addrs[c.Addr] = true
		}
	}
	return addrs
}

// TestGivenUp would catch a server that ends where a poke's story is given up before its
// decoding has begun.
func TestGivenUp(t *testing.T) {
	v := serverOf(t, demoConfig())
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for range 300 {
		v.get(ctx, "/api/poke?n="+fmt.Sprint(v.pokes.list[0].Index))
	}
	v.work.Wait()
}

// TestSearchFirst would catch a function's name that stands behind its many changes, and a number
// of a change behind names.
func TestSearchFirst(t *testing.T) {
	v := serverOf(t, demoConfig())
	for q, want := range map[string]string{"handle_event": "symbol", fmt.Sprint(v.pokes.list[0].Index): "poke"} {
		list := ask[struct{ Found []found }](t, v, "/api/search?q="+q).Found
		if len(list) == 0 || list[0].Kind != want {
			t.Errorf("%s: found %+v, want a %s first", q, list, want)
		}
	}
}

// TestSpread would catch instructions that are fewer than the buckets of their moment and are
// lost, or all put into one bucket.
func TestSpread(t *testing.T) {
	v := serverOf(t, demoConfig())
	for _, x := range []struct{ lo, hi, want uint64 }{{900, 1500, 184 * 201 / 601}, {1010, 1199, 184}, {1100, 1100, 184}} {
		h := newHistogram(v, 1000, 1200, 1, 201)
		l := &laneCounts{marks: map[int]*mark{}}
		h.spread(l, x.lo, x.hi, &running{sure: 184, unsure: 1})
		sum := uint64(0)
		for _, n := range l.sure {
			if sum += n; x.hi > x.lo && n > 1 {
				t.Errorf("%d to %d: %d instructions in one bucket", x.lo, x.hi, n)
			}
		}
		if sum+1 < x.want || sum > x.want+1 {
			t.Errorf("%d to %d: %d instructions, want %d", x.lo, x.hi, sum, x.want)
		}
	}
}

// TestUntimedGap would catch a gap that is drawn where the recording begins because no record
// tells when it began. It would catch one that ends at once though nothing ran behind it, and
// reasons of gaps that are not told.
func TestUntimedGap(t *testing.T) {
	v := serverOf(t, demoConfig())
	h := newHistogram(v, v.rec.From, 0, firstBucket, maxBuckets)
	h.now[1] = running{began: true, time: event.Time{Lo: v.rec.base + 1000, Hi: math.MaxUint64}}
	gap := event.Gap{Off: 7, Time: event.Time{Hi: math.MaxUint64}}
	if err := h.Flow(&decoder.Batch{Stream: 1, Notes: []decoder.Note{{Kind: decoder.NoteGap, Gap: gap}}}); err != nil {
		t.Fatal(err)
	}
	h.last = 9000 // another stream goes on
	h.end()
	for _, l := range h.density(0, 0).Lanes {
		if l.Stream == nil || *l.Stream != 1 {
			continue
		}
		if len(l.Gaps) != 1 || l.Gaps[0][2] != 1000 || l.Gaps[0][3] != 9000 {
			t.Errorf("gaps %v, want one from 1000 to 9000", l.Gaps)
		}
	}
	if all, part := h.density(0, 0).Reasons, h.density(5000, 0).Reasons; len(all) != 1 || all[0].N != 1 || len(part) != 0 {
		t.Errorf("reasons of gaps %v, and %v of a part; want one, and none", all, part)
	}
}

// TestSearchTimes would catch a form of --time that the search does not know, and one that
// it takes for another time than the other verbs do.
func TestSearchTimes(t *testing.T) {
	v := serverOf(t, demoConfig())
	p := &v.pokes.list[0]
	for q, want := range map[string]struct {
		kind        string
		from, until uint64
	}{
		"+1us":                              {"time", v.rec.From + 1000, 0},
		fmt.Sprintf("poke:%d", p.Index):     {"time", p.Time, 0},
		fmt.Sprintf("poke:%d±1us", p.Index): {"window", p.Time - min(1000, p.Time), p.Time + 1000},
		"+1us,+2us":                         {"window", v.rec.From + 1000, v.rec.From + 2000},
		"0%-50%":                            {"window", v.rec.From, v.rec.From + (v.s.Streams()[0].Time().Hi-v.rec.base)/2},
		"5.000001":                          {"time", 5_000_001_000 - v.rec.base, 0},
		"5000001000":                        {"time", 5_000_001_000 - v.rec.base, 0},
	} {
		var got []string
		ok := false
		for _, f := range ask[struct{ Found []found }](t, v, "/api/search?q="+url.QueryEscape(q)).Found {
			got = append(got, f.Kind+" "+f.Label)
			near := func(a *uint64, b uint64) bool { return a != nil && *a+20 > b && *a < b+2000 }
			ok = ok || f.Kind == want.kind && near(f.Time, want.from) && (want.until == 0 || near(f.Until, want.until))
		}
		if !ok {
			t.Errorf("%s finds %s; want %s from %d to %d", q, strings.Join(got, "; "), want.kind, want.from, want.until)
		}
	}
}

// TestPokeCounts would catch a count of changes that leaves some out.
func TestPokeCounts(t *testing.T) {
	v := serverOf(t, demoConfig())
	for _, q := range []string{"", "?from=0&until=1"} {
		a := ask[pokeCounts](t, v, "/api/counts"+q)
		n, by := 0, 0
		for _, k := range a.Kinds {
			n += k.N
		}
		for _, k := range a.Threads {
			by += k.N
		}
		if list := ask[pokesAnswer](t, v, "/api/pokes"+q); n != a.Total || by != a.Total || list.Total != a.Total {
			t.Errorf("%q: %d changes, by kind %d, by thread %d, listed %d", q, a.Total, n, by, list.Total)
		}
	}
}

// TestUntimedCalls would catch calls of a trace without times that have no place, or that do not
// lie in the calls that they were made in.
func TestUntimedCalls(t *testing.T) {
	v := serverOf(t, decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "coresight/snapshots/juno_r1_1")})
	if v.rec.Timed {
		t.Skip("the recording has times")
	}
	inside := 0
	for _, l := range ask[struct{ Lanes []callLane }](t, v, "/api/calls?from=0&until=3000").Lanes {
		for i, c := range l.Calls {
			if unseen := c.How == calls.Unseen.String(); unseen != (c.Begin == nil) || !unseen && (*c.Begin > 3000 || c.From < *c.Begin) {
				t.Fatalf("%+v does not begin within the window", c)
			}
			for k := i - 1; k >= 0 && c.Depth > 0; k-- {
				if up := l.Calls[k]; up.Depth == c.Depth-1 {
					if c.From < up.From || c.From > up.Until {
						t.Errorf("%s from %d on lies outside of %s, %d to %d", c.Sym, c.From, up.Sym, up.From, up.Until)
					}
					inside++
					break
				}
			}
		}
	}
	if inside < 10 {
		t.Errorf("%d calls lie in others", inside)
	}
}

// TestGivenUpDecode would catch a decode that nobody waits for any more, and whose error reaches
// who waits for the next: it may end after that one.
func TestGivenUpDecode(t *testing.T) {
	v := serverOf(t, demoConfig())
	x := v.pokes
	ask := func(ctx context.Context) *request {
		return &request{Request: httptest.NewRequest("GET", "/api/poke?n=0", nil).WithContext(ctx)}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	for range maxFlows {
		v.flows <- struct{}{} // no decode gets its turn
	}
	if _, err := x.crossed(ask(gone)); !errors.Is(err, context.Canceled) {
		t.Errorf("the first: %v, want that it left", err)
	}
	v.work.Wait()
	for range maxFlows {
		<-v.flows
	}
	ready := make(chan struct{})
	x.ready, x.stop = ready, func() { t.Error("a decode that one waits for was stopped") }
	done := make(chan error, 1)
	go func() {
		_, err := x.crossed(ask(t.Context()))
		done <- err
	}()
	for waits := 0; waits == 0; runtime.Gosched() {
		x.mu.Lock()
		waits = x.waiting
		x.mu.Unlock()
	}
	x.decode(ask(t.Context()), ready)
	for range maxFlows {
		v.flows <- struct{}{}
	}
	x.decode(ask(gone), make(chan struct{})) // that was given up before
	for range maxFlows {
		<-v.flows
	}
	if err := <-done; err != nil || x.err != nil || x.crossings == nil {
		t.Errorf("the second: %v; kept: %v, %d changes crossed", err, x.err, len(x.crossings))
	}
}

// TestFlameNames would catch a flame graph that has what ran under another name of a thread than that of the call. The
// recording has a thread that is called poker, sh, exe and cat, as it executes programs.
func TestFlameNames(t *testing.T) {
	v := serverOf(t, decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", "kprobes", "perf.data")})
	want := map[string]uint64{}
	tree := &calls.Tree{Session: v.s, OnEnd: func(c *calls.Call) { want[c.Comm] += c.Self }}
	if err := v.s.Flow(t.Context(), decoder.Query{Merged: true, Bounds: true}, tree); err != nil {
		t.Fatal(err)
	}
	tree.Close()
	x := ask[struct{ Root flame.Node }](t, v, "/api/flame")
	for _, of := range x.Root.Inside {
		if want[of.Sym] != of.Total {
			t.Errorf("%s: %d instructions, want %d", of.Sym, of.Total, want[of.Sym])
		}
		delete(want, of.Sym)
	}
	if want["sh"] != 0 || want["cat"] != 0 || len(x.Root.Inside) < 4 {
		t.Errorf("%d names, not there: %v", len(x.Root.Inside), want)
	}
}
