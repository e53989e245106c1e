package view

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// chromium is a browser without a window, driven through two pipes: objects of the Chrome
// DevTools Protocol with a zero byte behind each (--remote-debugging-pipe). A module for
// that exists, but takes longer to build than all of this project.
type chromium struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	session string
	id      int
}

// startChromium starts a browser; the test skips where there is none.
func startChromium(t *testing.T) *chromium {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		t.Skip("there is no chromium to show the page in")
	}
	profile, err := os.MkdirTemp("", "ptdecode-view-*")
	if err != nil {
		t.Fatal(err)
	}
	in, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	from, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1300,850", "--remote-debugging-pipe", "--user-data-dir="+profile, "about:blank")
	c.ExtraFiles = []*os.File{in, out}
	if err := c.Start(); err != nil {
		t.Skipf("chromium does not start: %v", err)
	}
	in.Close()
	out.Close()
	b := &chromium{t: t, to: to, from: bufio.NewReaderSize(from, 1<<20)}
	t.Cleanup(func() {
		c.Process.Kill()
		c.Wait()
		os.RemoveAll(profile) // what its other processes still write does not matter
		to.Close()
		from.Close()
	})
	from.SetReadDeadline(time.Now().Add(3 * time.Minute))
	var target struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var session struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &session)
	b.session = session.SessionID
	b.call("Page.enable", nil, nil)
	return b
}

// fails ends the test: where the browser never answered, it does not run on this machine.
func (b *chromium) fails(method string, err error) {
	b.t.Helper()
	if b.session == "" {
		b.t.Skipf("chromium does not run here: %s: %v", method, err)
	}
	b.t.Fatalf("%s: %v", method, err)
}

// call asks the browser, and takes its answer.
func (b *chromium) call(method string, params, result any) {
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

// eval returns what an expression comes to in the page, as text.
func (b *chromium) eval(expr string) string {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expr, "returnByValue": true, "awaitPromise": true}, &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %s", expr, r.ExceptionDetails)
	}
	if r.Result.Value == nil {
		return ""
	}
	return fmt.Sprint(r.Result.Value)
}

// wait waits until an expression is true in the page, and returns how long that took.
func (b *chromium) wait(what, expr string) time.Duration {
	b.t.Helper()
	began := time.Now()
	for time.Since(began) < 2*time.Minute {
		if b.eval(expr) == "true" {
			return time.Since(began)
		}
		time.Sleep(20 * time.Millisecond)
	}
	b.t.Fatalf("%s does not come: %s; the panel says %.300q", what, expr, b.eval("document.body.innerText"))
	return 0
}

// open opens a URL.
func (b *chromium) open(url string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": url}, nil)
}

// press presses a key.
func (b *chromium) press(key string) {
	b.t.Helper()
	text := key
	codes := map[string]int{"Enter": 13, "Tab": 9, "Escape": 27, "Backspace": 8}
	if len(key) > 1 {
		text = ""
	}
	if key == "Enter" {
		text = "\r"
	}
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyDown", "key": key, "text": text, "windowsVirtualKeyCode": codes[key]}, nil)
	b.call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "windowsVirtualKeyCode": codes[key]}, nil)
}

// panelSays is an expression: the panel has some text.
func panelSays(text string) string {
	return fmt.Sprintf("document.getElementById('panel')?.innerText.includes(%q)", text)
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

// TestPage would catch a page that does not draw, keys that do nothing, and a URL that
// leads elsewhere. So would it a lane or a mark without a name for screen readers, and
// text too pale to read.
func TestPage(t *testing.T) {
	b := startChromium(t)
	v := serveReal(t, demoConfig())
	b.open(v.url())
	b.wait("the first picture", "document.querySelectorAll('#lanes .lane .sure').length >= 2 && document.getElementById('lanes')?.getAttribute('aria-busy') === 'false'")

	b.press("n")
	b.wait("a poke's story", panelSays("How each CPU crossed it"))
	b.wait("the poke in the URL", "location.hash.includes('poke=')")

	b.press("l")
	b.press("l")
	b.press("Enter")
	b.wait("instructions", "document.querySelectorAll('.steps tbody tr').length > 3")
	b.press("}")
	b.wait("a trap or a cut", "['trap','cut'].includes(document.querySelector('.steps tr.here')?.classList[0])")
	trap := b.eval("location.hash")
	b.press("j")
	b.wait("the step behind it", fmt.Sprintf("location.hash !== %q", trap))
	b.press("k")
	b.wait("the step back over it", fmt.Sprintf("location.hash === %q", trap))
	now := b.eval("document.getElementById('now').textContent")
	b.call("Page.reload", nil, nil)
	b.wait("the place of the URL", fmt.Sprintf("document.getElementById('now')?.textContent === %q", now))

	b.press("/")
	b.call("Input.insertText", map[string]any{"text": "handle"}, nil)
	b.press("Enter")
	b.wait("what was found", "document.querySelectorAll('ul.found button').length > 0")
	b.press("Enter")
	b.wait("the first of it", "document.querySelector('ul.found') === null")
	b.press("Escape")
	b.press("f")
	b.wait("a flame graph", "document.querySelectorAll('#panel .slice').length > 1")
	b.press("?")
	b.wait("the keys", "document.getElementById('help').open")
	b.press("Escape")

	b.named()
	b.readable()
}

// named checks that the accessibility tree names each lane and each mark.
func (b *chromium) named() {
	b.t.Helper()
	var tree struct {
		Nodes []struct{ Role, Name struct{ Value any } }
	}
	b.call("Accessibility.enable", nil, nil)
	b.call("Accessibility.getFullAXTree", nil, &tree)
	names := map[string]int{}
	for _, n := range tree.Nodes {
		if n.Role.Value != "button" {
			continue
		}
		name := fmt.Sprint(n.Name.Value)
		if n.Name.Value == nil || name == "" {
			b.t.Error("a button has no name")
		}
		first, _, _ := strings.Cut(name, " ")
		names[first]++
	}
	if names["CPU"] < 2 || names["poke"]+names["1"]+names["2"]+names["3"] == 0 {
		b.t.Errorf("the accessibility tree names %v", names)
	}
}

// readable checks that the colours of text differ enough from what is behind, by WCAG 2.1,
// success criterion 1.4.3, in the dark and in the light.
func (b *chromium) readable() {
	b.t.Helper()
	const contrast = `(() => {
		const lum = (c) => { const [r, g, b] = c.match(/[0-9a-f]{2}/g).map((h) => parseInt(h, 16) / 255).map((x) => x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
		const s = getComputedStyle(document.documentElement);
		const of = (n) => lum(s.getPropertyValue('--' + n).trim());
		const bad = [];
		for (const [ink, ...backs] of [['ink', 'back', 'panel', 'mark', 'changed'], ['dim', 'back', 'panel', 'mark'], ['link', 'back', 'mark'], ['gap', 'back', 'mark'], ['trap', 'back', 'mark'], ['unsure', 'back', 'mark'], ['callink', 'call'], ['old', 'panel'], ['new', 'panel']]) {
			for (const back of backs) {
				const [a, b] = [of(ink), of(back)].sort((x, y) => y - x);
				const c = (a + 0.05) / (b + 0.05);
				if (c < 4.5) bad.push(ink + ' on ' + back + ': ' + c.toFixed(2));
			}
		}
		return bad.join('; ');
	})()`
	for _, theme := range []string{"light", "dark"} {
		if b.eval("document.documentElement.dataset.theme") != theme {
			b.press("t")
		}
		if bad := b.eval(contrast); bad != "" {
			b.t.Errorf("%s: %s", theme, bad)
		}
	}
}

// TestPageNames would catch a name of the recording that becomes markup or a script.
func TestPageNames(t *testing.T) {
	testsize.OnlyFull(t)
	b := startChromium(t)
	c := demoConfig()
	text, err := os.ReadFile(c.Kallsyms)
	if err != nil {
		t.Fatal(err)
	}
	evil := []byte("<img/src=x/onerror=document.title='hit'><script>document.title='hit'</script>")
	c.Kallsyms = filepath.Join(t.TempDir(), "kallsyms")
	if err := os.WriteFile(c.Kallsyms, bytes.ReplaceAll(text, []byte("handle_event"), evil), 0o666); err != nil {
		t.Fatal(err)
	}
	v := serveReal(t, c)
	b.open(v.url() + "#poke=" + fmt.Sprint(v.pokes.list[0].Index))
	b.wait("the story", panelSays("How each CPU crossed it"))
	b.press("l")
	b.press("l")
	b.press("Enter")
	b.wait("instructions", "document.querySelectorAll('.steps tbody tr').length > 3")
	if got := b.eval("document.querySelectorAll('img, #panel script').length + document.title"); !strings.HasPrefix(got, "0") || strings.Contains(got, "hit") {
		t.Errorf("a name became markup: %s", got)
	}

	page := filepath.Join(t.TempDir(), "page.html")
	if err := (exporter{v}).write(t.Context(), io.Discard, &flags{export: page, poke: v.pokes.list[0].Index}); err != nil {
		t.Fatal(err)
	}
	b.open("file://" + page)
	b.wait("the exported page", "document.querySelectorAll('#lanes .lane .sure').length >= 2")
	b.press("n")
	b.wait("its story", panelSays("How each CPU crossed it"))
	if got := b.eval("document.querySelectorAll('img').length + document.title + performance.getEntriesByType('resource').length"); !strings.HasPrefix(got, "0") || strings.Contains(got, "hit") || !strings.HasSuffix(got, "0") {
		t.Errorf("the exported page: %s", got)
	}
}

// TestPageLarge would catch a picture of 26.5 million instructions that does not come, and
// more than six steps from there to one instruction. It logs how long the picture took.
func TestPageLarge(t *testing.T) {
	testsize.OnlyFull(t)
	c := decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86/tracepoints/perf.data")}
	b := startChromium(t)
	v := serveReal(t, c)
	b.open(v.url())
	took := b.wait("the first picture", "document.querySelectorAll('#lanes .lane .sure').length >= 2")
	t.Logf("first picture after %v", took)
	b.press("l")
	b.press("Enter")
	b.wait("instructions", "document.querySelectorAll('.steps tbody tr').length > 50")
}
