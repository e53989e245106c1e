package view

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/chromium"
	"github.com/ptdecode/ptdecode/cmd/internal/items"
	"github.com/ptdecode/ptdecode/decoder"
)

// TestThread would catch a nearest instruction of a thread that is another thread's, or is not the
// nearest: all that ran is looked through for it.
func TestThread(t *testing.T) {
	v := serverOf(t, manyPokes(t))
	tids := map[int32]bool{}
	for _, l := range ask[density](t, v, "/api/density?n=100").Lanes {
		if l.TID != nil && len(tids) < 3 {
			tids[*l.TID] = true
		}
	}
	type question struct {
		at     uint64
		before uint64 // how far from what ran by then, ns
		behind uint64 // and from what ran next
	}
	asked := map[int32][]question{}
	for tid := range tids {
		for i := range uint64(5) {
			asked[tid] = append(asked[tid], question{v.rec.From + i*v.rec.length()/4 + i, math.MaxUint64, math.MaxUint64})
		}
	}
	for _, st := range v.s.Streams() {
		type progress struct {
			next int    // of the thread's questions
			end  uint64 // of what ran last, at the latest
			ran  bool
		}
		come := map[int32]*progress{}
		passes := func(tid int32, p *progress, at uint64) { // what ran so far ran by all moments before at
			for list := asked[tid]; p.next < len(list) && list[p.next].at < at; p.next++ {
				q := &list[p.next]
				if at != math.MaxUint64 {
					q.behind = min(q.behind, at-q.at)
				}
				if p.ran {
					q.before = min(q.before, q.at-min(q.at, p.end))
				}
			}
		}
		for tid := range tids {
			come[tid] = &progress{}
		}
		w := &items.Walk{Each: func(it *items.Item) bool {
			if it.Note != nil {
				return true
			}
			tid, _, _, _ := v.s.Running(st.Index, it.Time.Stated())
			if p := come[tid]; p != nil {
				lo := v.rec.axis(it)
				passes(tid, p, lo)
				if p.end, p.ran = lo, true; it.Time.Hi != math.MaxUint64 {
					p.end = v.rec.rel(it.Time.Hi)
				}
			}
			return true
		}}
		w.Restart()
		if err := v.s.Flow(t.Context(), decoder.Query{Streams: []int{st.Index}, Bounds: true}, w); err != nil {
			t.Fatal(err)
		}
		for tid, p := range come {
			passes(tid, p, math.MaxUint64)
		}
	}
	away := 0
	for tid, list := range asked {
		for _, q := range list {
			for way, want := range map[string]uint64{"": min(q.before, q.behind), "previous": q.before, "next": q.behind} {
				got := ask[nearest](t, v, fmt.Sprintf("/api/thread?tid=%d&time=%d&way=%s", tid, q.at, way))
				if want == math.MaxUint64 {
					if got.Step != nil {
						t.Errorf("thread %d at %d, %q: %+v, want nothing", tid, q.at, way, got.Step)
					}
					continue
				}
				if got.Step == nil || got.Step.TID != tid || got.Step.Kind != "insn" || uint64(max(got.Far, -got.Far)) != want {
					t.Errorf("thread %d at %d, %q: %+v, %d ns away, want %d", tid, q.at, way, got.Step, got.Far, want)
				}
				if want > 0 {
					away++
				}
			}
		}
	}
	if away == 0 || len(tids) < 3 {
		t.Errorf("%d answers lie away from the moment, %d threads", away, len(tids))
	}
}

// clicksThreads would catch a click on a thread's lane that shows another thread, or one that is far
// from what it shows and does not say so.
func clicksThreads(t *testing.T, b *chromium.Tab) {
	t.Helper()
	const lanes = "[...document.querySelectorAll('#lanes .lane[data-key^=t]')]"
	told := 0
	n, _ := strconv.Atoi(b.Eval(lanes + ".length"))
	for i := range min(3, n) {
		lane := fmt.Sprintf("%s[%d]", lanes, i)
		name := b.Eval(lane + ".getAttribute('aria-label').split(':')[0]")
		tid := name[strings.LastIndexByte(name, ' '):] // its name may change
		for part := 1; part < 10; part += 2 {
			b.Eval(fmt.Sprintf(`(() => { const r = %s.querySelector('.body').getBoundingClientRect(); const at = {clientX: r.x + r.width * 0.%d, clientY: r.y + r.height / 2, button: 0, bubbles: true}; for (const kind of ['pointerdown', 'pointerup']) document.querySelector('#lanes svg').dispatchEvent(new PointerEvent(kind, at)); return ''; })()`, lane, part))
			b.Wait(fmt.Sprintf("an instruction of %s at 0.%d", name, part), looked+" && "+stepping+" && document.getElementById('now').textContent.endsWith("+quote(tid)+")")
			if b.Eval("document.getElementById('note').textContent.startsWith("+quote("nothing of "+name+" ran at")+")") == "true" {
				told++
			}
		}
	}
	if told == 0 {
		t.Error("no click was far from what it shows, or none said so")
	}
}
