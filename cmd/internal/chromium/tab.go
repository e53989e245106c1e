// Package chromium drives a browser in tests: it opens tabs, presses keys, and asks what a page
// shows.
package chromium

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"
)

// browser is the one browser of all tests, without a window, driven through two pipes: objects
// of the Chrome DevTools Protocol with a zero byte behind each (--remote-debugging-pipe). A
// module for that exists, but takes longer to build than all of this project.
type browser struct {
	to   *os.File
	from *bufio.Reader
	id   int
	stop func()
	none string // why there is none
}

// shared starts the browser when the first test asks for it.
var shared = sync.OnceValue(func() *browser {
	b := &browser{stop: func() {}}
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		b.none = "there is no chromium to show the page in"
		return b
	}
	if err := b.start(path); err != nil {
		b.none = fmt.Sprintf("chromium does not start: %v", err)
	}
	return b
})

// started says that some test asked for the browser.
var started bool

// Stop ends the browser, if a test asked for one: for TestMain.
func Stop() {
	if started {
		shared().stop()
	}
}

// start starts the program at path.
func (b *browser) start(path string) error {
	profile, err := os.MkdirTemp("", "ptdecode-view-*")
	if err != nil {
		return err
	}
	in, to, err := os.Pipe()
	if err != nil {
		return err
	}
	from, out, err := os.Pipe()
	if err != nil {
		return err
	}
	c := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1300,850", "--remote-debugging-pipe", "--user-data-dir="+profile, "about:blank")
	c.ExtraFiles = []*os.File{in, out}
	err = c.Start()
	in.Close()
	out.Close()
	if err != nil {
		return err
	}
	from.SetReadDeadline(time.Now().Add(5 * time.Minute))
	b.to, b.from = to, bufio.NewReaderSize(from, 1<<20)
	b.stop = func() {
		c.Process.Kill()
		c.Wait()
		os.RemoveAll(profile) // what its other processes still write does not matter
		to.Close()
		from.Close()
	}
	return nil
}

// Tab is a tab of the browser, with a storage of its own.
type Tab struct {
	*browser
	t       *testing.T
	session string
}

// Open opens a tab; the test skips where there is no browser.
func Open(t *testing.T) *Tab {
	t.Helper()
	started = true
	b := &Tab{browser: shared(), t: t}
	if b.none != "" {
		t.Skip(b.none)
	}
	var context struct{ BrowserContextID string }
	b.Call("Target.createBrowserContext", nil, &context)
	var target struct{ TargetID string }
	b.Call("Target.createTarget", map[string]any{"url": "about:blank", "browserContextId": context.BrowserContextID, "width": 1300, "height": 850}, &target)
	var session struct{ SessionID string }
	b.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	b.Call("Page.enable", nil, nil)
	t.Cleanup(func() {
		b.session = ""
		b.Call("Target.disposeBrowserContext", map[string]any{"browserContextId": context.BrowserContextID}, nil)
	})
	return b
}

// fails ends the test: where the browser never answered, it does not run on this machine.
func (b *Tab) fails(method string, err error) {
	b.t.Helper()
	if b.session == "" {
		b.none = fmt.Sprintf("chromium does not run here: %s: %v", method, err)
		b.t.Skip(b.none)
	}
	b.t.Fatalf("%s: %v", method, err)
}

// Call asks the browser, and takes its answer.
func (b *Tab) Call(method string, params, result any) {
	b.t.Helper()
	b.id++
	m := map[string]any{"id": b.id, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	line, _ := json.Marshal(m)
	if _, err := b.to.Write(append(line, 0)); err != nil {
		b.fails(method, err)
	}
	for {
		line, err := b.from.ReadBytes(0)
		if err != nil {
			b.fails(method, err)
		}
		var a struct {
			ID     int
			Error  json.RawMessage
			Result json.RawMessage
		}
		if json.Unmarshal(bytes.TrimRight(line, "\x00"), &a) != nil || a.ID != b.id {
			continue // an event
		}
		if a.Error != nil {
			b.t.Fatalf("%s: %s", method, a.Error)
		}
		if result != nil {
			if err := json.Unmarshal(a.Result, result); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

// Eval returns what an expression comes to in the page, as text.
func (b *Tab) Eval(expr string) string {
	b.t.Helper()
	value, trouble := b.attempt(expr)
	if trouble != nil {
		b.t.Fatalf("%s: %s", expr, trouble)
	}
	return value
}

// attempt returns what an expression comes to in the page, or what the page threw. It may ask
// for an element that is not drawn yet.
func (b *Tab) attempt(expr string) (value string, trouble json.RawMessage) {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.Call("Runtime.evaluate", map[string]any{"expression": expr, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil || r.Result.Value == nil {
		return "", r.ExceptionDetails
	}
	return fmt.Sprint(r.Result.Value), nil
}

// Wait waits until an expression is true in the page, and returns how long that took.
func (b *Tab) Wait(what, expr string) time.Duration {
	b.t.Helper()
	began := time.Now()
	var trouble json.RawMessage
	for time.Since(began) < 3*time.Minute {
		value, thrown := b.attempt(expr)
		if value == "true" {
			return time.Since(began)
		}
		trouble = thrown
		time.Sleep(20 * time.Millisecond)
	}
	b.t.Fatalf("%s does not come: %s %s; at %s the panel says %.600q", what, expr, trouble, b.Eval("location.hash"), b.Eval("(document.getElementById('note')?.innerText || '') + document.getElementById('panel')?.innerText"))
	return 0
}

// Soon waits a second or two for an expression to be true.
func (b *Tab) Soon(expr string) {
	b.t.Helper()
	for began := time.Now(); time.Since(began) < 2*time.Second; time.Sleep(50 * time.Millisecond) {
		if value, _ := b.attempt(expr); value == "true" {
			return
		}
	}
}

// Show shows what a URL names.
func (b *Tab) Show(url string) {
	b.t.Helper()
	b.Call("Page.navigate", map[string]any{"url": url}, nil)
}

// Press presses a key.
func (b *Tab) Press(key string) {
	b.t.Helper()
	text := key
	codes := map[string]int{"Enter": 13, "Tab": 9, "Escape": 27, "Backspace": 8}
	if len(key) > 1 {
		text = ""
	}
	if key == "Enter" {
		text = "\r"
	}
	b.Call("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": key, "text": text, "windowsVirtualKeyCode": codes[key]}, nil)
	b.Call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "windowsVirtualKeyCode": codes[key]}, nil)
}

// Click clicks the middle of the element that an expression comes to, with the mouse. What a page
// still draws can move the element away: a click that meets another element does nothing there,
// and is made again.
func (b *Tab) Click(what, expr string) {
	b.t.Helper()
	for range 20 {
		b.Wait(what, fmt.Sprintf("(%s) ? true : false", expr))
		b.Eval(fmt.Sprintf(guard, expr))
		b.aim(what, expr)
		met := b.Eval("(globalThis.aim ?? {}).met ?? ''") // a page that comes by the click has no guard
		b.Eval("delete globalThis.aim")
		if met == "" {
			return
		}
		b.t.Logf("%s: the click met %s", what, met)
	}
	b.t.Fatalf("%s: no click meets it", what)
}

// guard keeps a click from an element that is not aimed at: all of its events, from the pointer's
// way down to the click.
const guard = `(() => {
	globalThis.aim = { met: '', at: () => %s };
	globalThis.guarded ??= ['pointerdown', 'mousedown', 'pointerup', 'mouseup', 'click'].map((kind) => addEventListener(kind, (e) => {
		if (!globalThis.aim) return;
		if (kind === 'pointerdown') {
			let meant = null;
			try { meant = aim.at() } catch { /* it is drawn anew */ }
			if (!meant?.contains(e.target)) aim.met = e.target.outerHTML.slice(0, 80);
		}
		if (!aim.met) return;
		e.stopImmediatePropagation();
		e.preventDefault();
	}, true));
})()`

// aim clicks where the element is that an expression comes to.
func (b *Tab) aim(what, expr string) {
	b.t.Helper()
	var at struct{ X, Y float64 }
	place := fmt.Sprintf(`(() => { const e = %s; e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return JSON.stringify({x: r.x + r.width / 2, y: r.y + r.height / 2}); })()`, expr)
	text := b.Eval(place)
	for range 100 { // what comes in above it moves it
		was := text
		time.Sleep(50 * time.Millisecond)
		if text = b.Eval(place); text == was {
			break
		}
	}
	if err := json.Unmarshal([]byte(text), &at); err != nil {
		b.t.Fatalf("%s: %q: %v", what, text, err)
	}
	for _, kind := range []string{"mouseMoved", "mousePressed", "mouseReleased"} {
		b.Call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
}

// ClickUntil clicks an element until an expression holds, as a person does: a page may not listen yet.
func (b *Tab) ClickUntil(what, expr, holds string) {
	b.t.Helper()
	is := func(expr string) bool {
		value, _ := b.attempt("Boolean(" + expr + ")")
		return value == "true"
	}
	for range 10 {
		if b.Click(what, expr); !is(holds) {
			b.Soon(holds)
		}
		if is(holds) || !is(expr) { // or it is under way
			break
		}
	}
	b.Wait(what, holds)
}
