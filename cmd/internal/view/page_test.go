package view

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ptdecode/ptdecode/cmd/internal/chromium"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// Expressions: the panel has some text; the lanes are drawn, and complete.
func panelSays(text string) string {
	return fmt.Sprintf("document.getElementById('panel')?.innerText.includes(%q)", text)
}

const (
	drawn    = "[...document.querySelectorAll('#lanes .lane .sure, #lanes .lane .rough')].filter((p) => p.getAttribute('d')).length >= 1"
	complete = drawn + " && document.getElementById('lanes').getAttribute('aria-busy') === 'false'"
	looked   = "document.getElementById('note').getAttribute('aria-busy') !== 'true' && document.querySelector('#panel .busy') === null"
	stepping = "document.querySelectorAll('.steps tr.here').length === 1"
)

// quote renders text as the page's language has it.
func quote(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// TestMain ends the browser behind the tests.
func TestMain(m *testing.M) {
	code := m.Run()
	chromium.Stop()
	os.Exit(code)
}

// serveReal serves v on a port of this machine.
func serveReal(t *testing.T, c decoder.Config) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	v := serverOf(t, c)
	v.addr, v.token = l.Addr().String(), newToken()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- v.serve(ctx, l) }()
	t.Cleanup(func() { stop(); <-ended })
	return v
}

// withGap is the recording of demo, with an overflow at the end of a CPU's trace.
func withGap(t *testing.T) decoder.Config {
	t.Helper()
	c := demoConfig()
	b, err := os.ReadFile(c.Raw[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	c.Raw[0].Path = filepath.Join(t.TempDir(), "cpu0.pt")
	if err := os.WriteFile(c.Raw[0].Path, append(b, 0x02, 0xf3), 0o666); err != nil {
		t.Fatal(err)
	}
	return c
}

// keyboard presses keys, and keeps in mind which.
type keyboard struct {
	*chromium.Tab
	t       *testing.T
	pressed map[string]bool
}

// does presses a key and waits until an expression is true.
func (k *keyboard) does(key, what, expr string) {
	k.t.Helper()
	k.pressed[key] = true
	k.Press(key)
	k.Wait("key "+key+": "+what, expr)
}

// changes presses a key and waits until an expression has another value.
func (k *keyboard) changes(key, expr string) {
	k.t.Helper()
	k.Wait("what key "+key+" changes", "String("+expr+") === String("+expr+")")
	before := quote(k.Eval("String(" + expr + ")"))
	k.does(key, "another "+expr, fmt.Sprintf("String(%s) !== %s", expr, before))
}

// TestPage would catch a page that does not draw, a key that does nothing, an action
// without one, and a URL that leads elsewhere. So would it a lane or a mark without a name
// for screen readers.
func TestPage(t *testing.T) {
	b := chromium.Open(t)
	v := serveReal(t, withGap(t))
	b.Show(v.url())
	b.Wait("the first picture", complete)
	k := &keyboard{b, t, map[string]bool{}}
	const hash, now, focus = "location.hash", "document.getElementById('now')?.textContent", "document.activeElement.getAttribute('aria-label')"

	for _, key := range []string{"w", "a", "d", "ArrowLeft", "ArrowRight", "s", "+", "-"} {
		k.changes(key, hash)
	}
	k.does("0", "the whole recording", "location.hash === '' || location.hash === '#'")
	b.Wait("all of it", complete)
	named(t, b)

	// A poke, as a story and step by step.
	k.does("n", "a poke's story", panelSays("How each CPU crossed it"))
	b.Wait("who made it", panelSays("Step by step"))
	k.changes("j", hash)
	k.changes("j", now)
	k.changes("k", hash)
	k.changes(" ", now) // plays
	k.does(" ", "the end of it", "document.querySelector('#panel .bar button[title=space]').textContent === 'play'")
	place := b.Eval(now)
	b.Call("Page.reload", nil, nil)
	b.Wait("the step of the URL", fmt.Sprintf("document.getElementById('now')?.textContent === %q", place))
	k.changes("z", hash)
	b.Wait("calls", "document.querySelectorAll('#lanes .slice').length > 2")
	named(t, b)

	// A call.
	k.changes("c", focus)
	k.changes("c", focus)
	k.changes("C", focus)
	k.does("Enter", "a call", panelSays("In the whole recording"))
	k.does("i", "its instructions", stepping)
	k.does("Backspace", "the call again", panelSays("In the whole recording"))
	// There may be no next call: the page says so, and keeps the one that it shows.
	place = b.Eval(now)
	k.does("]", "the next call, or that there is none", looked+" && (document.getElementById('note').textContent !== '' || "+now+" !== "+quote(place)+")")
	there := b.Eval(now + " + document.getElementById('note').textContent")
	k.does("[", "the call before it", looked+" && document.querySelector('#panel h2') !== null && "+now+" + document.getElementById('note').textContent !== "+quote(there))
	k.changes("Escape", "document.querySelector('#panel h2').textContent")
	k.does("0", "the whole recording", "location.hash === '' || location.hash === '#'")
	b.Wait("all of it", complete)
	k.does("f", "a flame graph of all", "document.querySelectorAll('#panel .slice').length > 1")
	k.does("Escape", "what to do", panelSays("What ran while the code changed"))

	// Marks and lanes.
	k.changes("m", focus)
	k.changes("m", focus)
	k.changes("M", focus)
	k.does("g", "a gap", "document.activeElement.matches('.gaps')")
	k.does("G", "a gap", "document.activeElement.matches('.gaps')")
	k.does("Enter", "what lies around it", stepping+" && "+panelSays("overflow"))
	k.does("Escape", "no moment chosen", panelSays("What ran while the code changed"))
	k.does("l", "a lane", "document.activeElement.matches('.lane')")
	k.changes("l", focus)
	k.changes("L", focus)
	k.changes("l", focus)
	k.does("Enter", "its instructions", stepping+" && "+panelSays("Instructions of CPU 1"))

	// Instructions, over the trap and back.
	k.does("}", "a trap or a cut", "['trap','cut'].includes(document.querySelector('.steps tr.here')?.classList[0])")
	trap := b.Eval(hash)
	k.changes("j", hash)
	k.does("k", "back over it", fmt.Sprintf("location.hash === %q", trap))
	k.changes("ArrowDown", hash)
	k.does("{", "back to it", fmt.Sprintf("location.hash === %q", trap))
	k.changes("ArrowUp", hash)
	place = b.Eval(now)
	b.Call("Page.reload", nil, nil)
	b.Wait("the place of the URL", fmt.Sprintf("document.getElementById('now')?.textContent === %q", place))
	k.does("n", "the next poke", panelSays("How each CPU crossed it"))
	k.does("p", "that there is none before it", "document.getElementById('note').textContent.includes('no poke before')")

	k.does("/", "the search", "document.activeElement.id === 'query'")
	b.Call("Input.insertText", map[string]any{"text": "not there"}, nil)
	k.does("Enter", "that nothing was found", panelSays("nothing"))
	k.changes("Backspace", "document.activeElement.value") // what was not found is typed over
	b.Call("Input.insertText", map[string]any{"text": "handle"}, nil)
	k.does("Enter", "what was found", "document.querySelectorAll('ul.found button').length > 0")
	k.does("Enter", "the first of it", "document.querySelector('ul.found') === null")
	k.does("f", "a flame graph", "document.querySelectorAll('#panel .slice').length > 1")
	k.changes("Tab", "document.activeElement.outerHTML")
	k.changes("t", "document.documentElement.dataset.theme")
	const inner = "document.querySelector('#panel .slice text')?.textContent"
	b.Click("a function of it", "[...document.querySelectorAll('#panel .slice')].at(-1)")
	b.Wait("the function of the URL", "location.hash.includes('&in=')")
	place = b.Eval(inner)
	b.Call("Page.reload", nil, nil)
	b.Wait("the same function", complete+" && "+inner+" === "+quote(place))
	k.does("Backspace", "all of it again", "!location.hash.includes('&in=') && "+inner+" === 'all'")
	k.does("?", "the keys", "document.getElementById('help').open")
	k.pressed["Esc"], k.pressed["Space"] = k.pressed["Escape"], k.pressed[" "]
	for key := range strings.FieldsSeq(b.Eval("[...document.querySelectorAll('#help kbd')].map((e) => e.textContent).join(' ')")) {
		if !k.pressed[key] {
			t.Errorf("the page has a key %q that this test does not press", key)
		}
	}
	k.changes("Escape", "document.getElementById('help').open")
}

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
		if time.Sleep(5 * time.Millisecond); time.Since(began) > time.Minute {
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
		"kernel-pokes-arm64/a57-jump": {
			Recording: filepath.Join(arm, "a57-jump/fine"), Events: filepath.Join(arm, "a57-jump/journal.jsonl"), AllBuffers: true,
			Code: []decoder.CodeFile{{Path: filepath.Join(arm, "text/a57.bin"), Addr: 0xffff800080010000}},
		},
	}
	if os.Getenv("PTDECODE_FULL") == "all" {
		for _, name := range []string{"tracepoints", "tracepoints-coarse"} {
			list[name] = decoder.Config{Recording: filepath.Join(data, "kernel-pokes-x86", name, "perf.data")}
		}
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
		b.Wait(name+": instructions", stepping)
		const last = "[...document.querySelectorAll('.steps tr.insn')].at(-1)"
		addr := b.Eval(last + ".querySelector('.ip').textContent")
		click("an instruction", last)
		// More rows may come behind it at once.
		b.Wait(name+": that instruction", "document.querySelector('.steps tr.here .ip')?.textContent === "+quote(addr))
		if clicks > 6 {
			t.Errorf("%s: %d clicks to one instruction", name, clicks)
		}
		now := b.Eval("document.getElementById('now').textContent")
		b.Call("Page.reload", nil, nil)
		b.Wait(name+": the place of the URL", fmt.Sprintf("document.getElementById('now')?.textContent === %q", now))
	}
}
