package flow

import (
	"math"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// apartText has a site with two versions of its code, each with a loop of its
// own behind it. Each loop explains any outcomes that are taken. If lost, one
// of the versions leads to unknown code instead.
func apartText(lost bool) *testText {
	nop, jmp := "\x0f\x1f\x44\x00\x00", "\xe9\x0c\x00\x00\x00"
	x := code(map[int]string{
		0x00: nop + "\x74\xfe\xff\xe0", // nop or jmp 0x11; je 5; jmp *rax
		0x11: "\x75\xfe\xff\xe0",       // jne 0x11; jmp *rax
	})
	if lost {
		jmp = "\xe9\xfb\xff\x00\x00"
	}
	x.pokes = []testPoke{{addr: 0x1000, old: nop, new: jmp, time: 100}}
	return x
}

// TestWindowHolds would catch a window that holds more the longer it is open,
// and one that gives up what certainly ran. Its cuts may stay apart, one of
// them may not be followed, or the window may open again and again.
func TestWindowHolds(t *testing.T) {
	const bound = 4000
	overlapping := func(i int) (lo, hi uint64) { return 100*uint64(i+1) - 50, 100*uint64(i+1) + 50 }
	type kept struct {
		name string
		bits int // outcomes an event
		// events is MaxEvents: small, or so large that MaxRanges alone bounds.
		events int
		full   int // FullWork
		text   func(n int) Text
		time   func(i int) (lo, hi uint64)
		want   func(v verdicts) bool
	}
	for _, c := range testsize.Some(t, []kept{
		{"two cuts that stay apart", 16, 256, 0, func(int) Text { return apartText(false) }, func(int) (uint64, uint64) { return 10, 200 },
			func(v verdicts) bool { return v[Certain] == 0 && v[Trace] == 0 }},
		{"two cuts that hold much", 16, 1 << 20, 0, func(int) Text { return apartText(false) }, func(int) (uint64, uint64) { return 10, 200 },
			func(v verdicts) bool { return v[Certain] == 0 && v[Trace] == 0 }},
		{"one that is lost", 16, 256, 0, func(int) Text { return apartText(true) }, func(int) (uint64, uint64) { return 10, 200 },
			func(v verdicts) bool { return v[Certain] == 0 }},
		{"one change after the other", 2, 256, 0, func(n int) Text { return toggles(n) },
			overlapping,
			func(v verdicts) bool { return v[Certain] == 0 && v[Trace] == 0 }},
		{"the same, compared once", 2, 256, -1, func(n int) Text { return toggles(n) },
			overlapping,
			func(v verdicts) bool { return v[Certain] == 0 && v[Trace] == 0 }},
	}, 3) {
		var held, queued [2]int
		for k, n := range []int{9000, 18000} { // more than a window may span
			w := testWalker(c.text(n))
			w.exec.cfg.MaxRanges, w.exec.cfg.MaxEvents = bound, c.events
			w.exec.cfg.FullWork = c.full
			m := &meter{w: w, n: n, next: func(i int) event.Event {
				if i == 0 {
					return at(10, 10, syncAt(0x1000))
				}
				lo, hi := c.time(i)
				return at(lo, hi, bits(strings.Repeat("t", c.bits)))
			}}
			var v verdicts
			if err := w.Run(m, &v); err != nil {
				t.Fatal(err)
			}
			if held[k], queued[k] = m.held, m.queued; m.held > bound*3/2 || m.queued > w.exec.cfg.MaxEvents+2*maxLook+2*queueEvents {
				t.Errorf("%s, %d events: %d held, %d events held", c.name, n, m.held, m.queued)
			}
			if c.events > 256 && w.exec.window.seams == 0 {
				t.Errorf("%s, %d events: no seam was laid", c.name, n)
			}
			if w.exec.window.spare.held != 0 {
				t.Errorf("%s, %d events: %d held in the end", c.name, n, w.exec.window.spare.held)
			}
			if !c.want(v) || c.name != "one that is lost" && v[Ambiguous] < n {
				t.Errorf("%s, %d events: verdicts %v", c.name, n, v)
			}
		}
		if c.name != "one that is lost" && (held[1] > held[0]*11/10 || queued[1] > queued[0]*11/10) {
			t.Errorf("%s: %d held, %d of twice the events; %d and %d events", c.name, held[0], held[1], queued[0], queued[1])
		}
	}
}

// TestSeam would catch a bound that settles what it hands out, or that takes
// more from a window than what lies before its seam. It would catch a seam that
// is counted as lying elsewhere than it does. A contradiction that comes later
// still settles what lies behind the seam.
func TestSeam(t *testing.T) {
	evs := events{at(10, 10, syncAt(0x1000))}
	const n = 300
	for range n {
		evs = append(evs, at(10, 200, bits("t")))
	}
	evs = append(evs, at(10, 200, syncAt(0x1011)), at(10, 200, syncAt(0x1011)), end())
	w := testWalker(apartText(false))
	w.exec.cfg.MaxEvents = 200
	var p prints
	if err := w.Run(&evs, &p); err != nil {
		t.Fatal(err)
	}
	got := strings.Fields(p.String())
	first := 0 // that is settled
	for first < len(got) && strings.HasSuffix(got[first], "?") {
		first++
	}
	for _, s := range got[first:] {
		if s != "11t" {
			t.Errorf("behind the seam: %s", s)
		}
	}
	// Two cuts in step take a step each an event, and a seam lies two events ahead.
	if first < 100 || first > 100+boundEvery/2+3 || len(got) != n+1 {
		t.Errorf("%d of %d ranges lie before the seam", first, len(got))
	}
	if from := w.exec.window.from; from != first {
		t.Errorf("what is held is counted from event %d; ranges up to event %d were handed out", from, first)
	}
}

// TestMergeWork would catch merges that cost more the longer a window has been
// open.
func TestMergeWork(t *testing.T) {
	var work [3]int
	for k := range work {
		n := 750 << k
		evs := events{at(10, 10, syncAt(0x1000))}
		for i := range n {
			evs = append(evs, at(100*uint64(i+1)-50, 100*uint64(i+1)+50, bits("tt")))
		}
		evs = append(evs, end())
		w := testWalker(toggles(n))
		w.exec.cfg.MaxWork = 1 << 20
		var v verdicts
		if err := w.Run(&evs, &v); err != nil {
			t.Fatal(err)
		}
		if work[k] = w.exec.window.align.work; v[Ambiguous] < n {
			t.Errorf("%d changes: verdicts %v", n, v)
		}
	}
	for k := 1; k < len(work); k++ {
		if grows := float64(work[k]) / float64(work[k-1]); grows > 2.3 {
			t.Errorf("twice the changes take %.2f times the work: %v", grows, work)
		}
	}
}

// TestVersions would catch a look-up of a block's version that walks through the
// others, in whatever order they were put in, and one that finds another version.
func TestVersions(t *testing.T) {
	for name, order := range map[string]func(i, n int) int{
		"ascending":  func(i, n int) int { return i },
		"descending": func(i, n int) int { return n - 1 - i },
		"in strides": func(i, n int) int { return i * 7919 % n },
	} {
		const n = 1 << 15
		var root *Block
		for i := range n {
			k := event.Epoch(order(i, n))
			b := &Block{Span: event.Span{From: 2 * k, Until: 2*k + 2}}
			var have *Block
			if root, have = root.insert(b); have != b {
				t.Fatalf("%s: version %d is there before it was put in", name, k)
			}
			if _, again := root.insert(&Block{Span: b.Span}); again != b {
				t.Fatalf("%s: version %d is put in twice", name, k)
			}
		}
		looks, most := 0, 0
		for at := range event.Epoch(2 * n) {
			b, l := root.version(at)
			if b == nil || !b.Span.Has(at) {
				t.Fatalf("%s: at %d: %v", name, at, b)
			}
			looks, most = looks+l, max(most, l)
		}
		if mean, log := float64(looks)/(2*n), math.Log2(n); mean > 2*log || float64(most) > 4*log {
			t.Errorf("%s: %.1f versions are looked at, at most %d", name, mean, most)
		}
		if b, _ := root.version(2 * n); b != nil {
			t.Errorf("%s: a version beyond the last", name)
		}
	}
}

// TestLag would catch a window that is given up, or a thread that may skip no more, because of how
// many events were pulled or are held. That hangs on what the walker did before. It would also catch
// one that lets a thread lag without end.
func TestLag(t *testing.T) {
	for _, c := range []struct {
		lag  int
		full bool
	}{{0, false}, {8 + maxLook, false}, {9 + maxLook, true}} {
		for _, from := range []int{0, 20000} {
			for _, ahead := range []int{0, 3 * maxLook} {
				w := testWalker(nil)
				x := &w.exec.window
				x.cfg.MaxEvents = 16
				src := make(events, from+c.lag+ahead+queueEvents)
				x.events.start(&src, false)
				x.out.start(nil)
				lags, goes := &thread{cursor: cursor{q: from}}, &thread{cursor: cursor{q: from + c.lag}}
				x.threads = []*thread{lags, goes}
				for _, t := range x.threads {
					x.grow(t)
				}
				x.events.at(goes.q + ahead)
				if x.full() != c.full || x.roomFor(goes) == c.full {
					t.Errorf("%d events apart from event %d on, %d more pulled: full is %v, room for more %v", c.lag, from, ahead, x.full(), x.roomFor(goes))
				}
				if x.events.base > from || x.events.base < from-4*queueEvents {
					t.Errorf("events from %d on are held, one thread is at %d", x.events.base, from)
				}
			}
		}
	}
}

// TestQueueVain would catch a queue that asks no more for bytes that are known, because it did so in vain
// in the segment before.
func TestQueueVain(t *testing.T) {
	q := queue{vain: vainMost}
	if q.start(&events{}, true); q.vain != 0 {
		t.Errorf("a segment begins with %d times in vain", q.vain)
	}
}
