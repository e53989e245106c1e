package view

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/ptdecode/ptdecode/cmd/internal/chromium"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestTwoTabs would catch two that look at one recording and see different things, and
// decoding that goes on for a tab that was closed.
func TestTwoTabs(t *testing.T) {
	testsize.OnlyFull(t)
	data := testsize.Recordings(t)
	v := serveReal(t, demoConfig())
	one, two := chromium.Open(t), chromium.Open(t)
	for _, b := range []*chromium.Tab{one, two} {
		b.Show(v.url() + "#poke=0")
	}
	for _, b := range []*chromium.Tab{one, two} {
		b.Wait("the whole recording", complete+" && document.querySelectorAll('#lanes .slice').length > 2")
		b.Wait("the story", panelSays("Step by step"))
	}
	const text = "document.body.innerText"
	if a, b := one.Eval(text), two.Eval(text); a != b {
		t.Errorf("one tab says %s\nthe other %s", a, b)
	}
	v = serveReal(t, decoder.Config{Recording: filepath.Join(data, "kernel-pokes-x86/tracepoints-coarse/perf.data")})
	one.Show(v.url())
	one.Wait("the page", "document.getElementById('lanes') !== null")
	for v.whole.waits() == 0 && !v.whole.complete() {
		time.Sleep(time.Millisecond)
	}
	one.Show("about:blank")
	began := time.Now()
	for v.whole.waits() > 0 || len(v.flows) > 0 {
		if time.Sleep(5 * time.Millisecond); time.Since(began) > 3*time.Minute {
			t.Fatalf("the tab is closed, and %d flows go on", len(v.flows))
		}
	}
}

// waits returns how many requests wait for o.
func (o *overview) waits() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.waiting
}

// TestPageClicks would catch a recording in which the mouse needs more than six clicks from
// the whole to one instruction. It logs how long the first picture took.
func TestPageClicks(t *testing.T) {
	testsize.OnlyFull(t)
	data := testsize.Recordings(t)
	b := chromium.Open(t)
	arm := filepath.Join(data, "kernel-pokes-arm64")
	list := map[string]decoder.Config{
		"snapshot juno_r1_1": {Recording: filepath.Join(data, "coresight/snapshots/juno_r1_1")},
		"tracepoints":        {Recording: filepath.Join(data, "kernel-pokes-x86/tracepoints/perf.data")},
		"kernel-pokes-arm64/a57-jump": {
			Recording: filepath.Join(arm, "a57-jump/fine"), Events: filepath.Join(arm, "a57-jump/journal.jsonl"), AllBuffers: true,
			Code: []decoder.CodeFile{{Path: filepath.Join(arm, "text/a57.bin"), Addr: 0xffff800080010000}},
		},
	}
	if os.Getenv("PTDECODE_FULL") == "all" {
		list["tracepoints-coarse"] = decoder.Config{Recording: filepath.Join(data, "kernel-pokes-x86/tracepoints-coarse/perf.data")}
	}
	for name, c := range list {
		v := serveReal(t, c)
		b.Show("about:blank")
		b.Show(v.url())
		t.Logf("%s: first picture after %v", name, b.Wait(name+": the first picture", drawn).Round(time.Millisecond))
		b.Wait(name+": all of it", complete)
		clicks := 0
		click := func(what, expr string) {
			clicks++
			b.Click(name+": "+what, expr)
		}
		if len(v.pokes.list) > 0 {
			const one, told = "document.querySelector('#lanes .poke.here') || [...document.querySelectorAll('#lanes .poke')].at(-1)", "document.getElementById('panel').innerText.includes('Poke ')"
			for b.Eval(told) != "true" && clicks < 6 {
				click("a poke", one)
				b.Soon(told)
			}
			b.Wait(name+": the story", panelSays("Step by step"))
			if b.Eval("document.querySelectorAll('#panel table button').length > 0") == "true" {
				click("an execution", "[...document.querySelectorAll('#panel table button')].at(-1)")
			} else {
				click("a lane", "document.querySelector('#lanes .lane .body')")
			}
		} else {
			click("a lane", "document.querySelector('#lanes .lane .body')")
		}
		b.Wait(name+": instructions, and calls in the lanes above", stepping+" && "+complete)
		const last = "[...document.querySelectorAll('.steps tr.insn')].at(-1)"
		addr := b.Eval(last + ".querySelector('.ip').textContent")
		click("an instruction", last)
		// More rows may come behind it at once.
		b.Wait(name+": that instruction", "document.querySelector('.steps tr.here .ip')?.textContent === "+quote(addr))
		if clicks > 6 {
			t.Errorf("%s: %d clicks to one instruction", name, clicks)
		}
		// Its row, since what the panel says of doubt hangs on the rows behind it, too.
		const row = "document.querySelector('.steps tr.here')?.innerText"
		now := b.Eval(row)
		b.Call("Page.reload", nil, nil)
		b.Wait(name+": the place of the URL", fmt.Sprintf("%s === %s", row, quote(now)))
	}
}
