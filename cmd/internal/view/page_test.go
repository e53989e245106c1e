package view

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptdecode/ptdecode/cmd/internal/chromium"
	"github.com/ptdecode/ptdecode/cmd/internal/loopback"
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
	v.addr, v.token = l.Addr().String(), loopback.NewToken()
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- loopback.Serve(ctx, l, v) }()
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
	k.does("f", "a flame graph of all", panelSays("ptdecode hot counts them apart")+" && document.querySelectorAll('#panel .slice').length > 1")
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
	k.does("x", "who called it", "document.getElementById('stack').textContent.includes('called by') && document.querySelector('#stack .busy') === null")
	for _, key := range []string{"u", "U"} { // all of it is sure
		k.does(key, "that there is none", looked+" && document.getElementById('note').textContent.includes('no other ambiguous')")
	}
	k.does("End", "the last instruction", "document.querySelector('.steps tr.here') === document.querySelector('.steps tbody').lastChild")
	k.does("Home", "the first one", "document.querySelector('.steps tr.here') === document.querySelector('.steps tbody').firstChild")
	k.changes("j", hash)
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
	b.ClickUntil("a function of it", "[...document.querySelectorAll('#panel .slice')].at(-1)", "location.hash.includes('&in=')")
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

// named checks that the accessibility tree names each lane and each mark. It comes to know
// of what is drawn some time later.
func named(t *testing.T, b *chromium.Tab) {
	t.Helper()
	b.Call("Accessibility.enable", nil, nil)
	var wrong []string
	for began := time.Now(); time.Since(began) < time.Minute; time.Sleep(100 * time.Millisecond) {
		if wrong = unnamed(t, b); len(wrong) == 0 {
			return
		}
	}
	t.Errorf("the accessibility tree: %s", strings.Join(wrong, "; "))
}

// unnamed says what the accessibility tree lacks.
func unnamed(t *testing.T, b *chromium.Tab) (wrong []string) {
	t.Helper()
	var want []string
	if err := json.Unmarshal([]byte(b.Eval("JSON.stringify([...document.querySelectorAll('.lane, .mark, .slice')].filter((e) => e.tagName === 'g').map((e) => e.getAttribute('aria-label')))")), &want); err != nil {
		t.Fatal(err)
	}
	var tree struct {
		Nodes []struct {
			Ignored    bool
			Role, Name struct{ Value any }
		}
	}
	b.Call("Accessibility.getFullAXTree", nil, &tree)
	names := map[string]bool{}
	for _, n := range tree.Nodes {
		name, _ := n.Name.Value.(string)
		if n.Role.Value == "button" && !n.Ignored {
			if names[name] = true; strings.TrimSpace(name) == "" {
				wrong = append(wrong, "a button has no name")
			}
		}
	}
	for _, name := range want {
		if name == "" || !names[name] {
			wrong = append(wrong, fmt.Sprintf("there is no button %q", name))
		}
	}
	for _, l := range []string{"CPU 0: ", "CPU 1: ", "poke 0: "} {
		if !slices.ContainsFunc(want, func(name string) bool { return strings.HasPrefix(name, l) }) {
			wrong = append(wrong, fmt.Sprintf("no lane or mark begins with %q", l))
		}
	}
	return wrong
}

// evil is names that would be markup, a script, or other text than they are. The last one is
// 1 MB long.
var evil = []string{
	"\x01\x1b[31m\u202e\u2066", "'\"></text></svg><b>", "javascript:document.title='hit'", "<img/src=x/onerror=document.title='hit'><script>document.title='hit'</script>",
	"<script>document.title='hit'</script>" + strings.Repeat("x", 1<<20),
}

// hostile is the recording of demo with one of the evil names for a symbol, where those who
// read symbols take it, and for a thread.
func hostile(t *testing.T, name string) decoder.Config {
	t.Helper()
	c := demoConfig()
	dir := t.TempDir()
	for file, was := range map[*string]string{&c.Kallsyms: "handle_event", &c.Events: "worker"} {
		text, err := os.ReadFile(*file)
		if err != nil {
			t.Fatal(err)
		}
		now := name
		if file == &c.Events {
			b, _ := json.Marshal(name)
			now = string(b[1 : len(b)-1])
		} else if len(name) > 60_000 {
			now = name[:60_000]
		}
		*file = filepath.Join(dir, filepath.Base(*file))
		if err := os.WriteFile(*file, bytes.ReplaceAll(text, []byte(was), []byte(now)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// TestPageNames would catch a name of the recording that becomes markup or a script, or that
// breaks the page or the exported one. It would catch an exported page that needs the network, too.
func TestPageNames(t *testing.T) {
	testsize.OnlyFull(t)
	b := chromium.Open(t)
	b.Call("Network.enable", nil, nil)
	list := evil[len(evil)-testsize.Of(t, 1, 2, len(evil)):]
	intact := func(what string) {
		t.Helper()
		if got := b.Eval("document.querySelectorAll('img, b:not(ul b), #panel script, #lanes script').length + document.title"); !strings.HasPrefix(got, "0") || strings.Contains(got, "hit") {
			t.Errorf("%s: a name became markup: %.200s", what, got)
		}
	}
	for i, name := range list {
		v := serveReal(t, hostile(t, name))
		b.Show("about:blank")
		b.Show(v.url() + "#poke=" + fmt.Sprint(v.pokes.list[0].Index))
		b.Wait("the story", panelSays("Step by step"))
		intact("story")
		b.Press("l")
		b.Press("l")
		b.Press("Enter")
		b.Wait("instructions", stepping)
		intact("instructions")
		b.Press("f")
		b.Wait("a flame graph", "document.querySelectorAll('#panel .slice').length > 1")
		intact("flame graph")
		if i < len(list)-2 {
			continue
		}
		page := filepath.Join(t.TempDir(), "page.html")
		if err := (exporter{v, exportSteps}).write(t.Context(), io.Discard, &flags{export: page, poke: v.pokes.list[0].Index}); err != nil {
			t.Fatal(err)
		}
		b.Call("Network.emulateNetworkConditions", map[string]any{"offline": true, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}, nil)
		b.Show("file://" + page)
		b.Wait("the exported page", "location.protocol === 'file:' && "+drawn)
		b.Press("n")
		b.Wait("its story", panelSays("Step by step"))
		b.Press("j")
		b.Wait("a step of it", "location.hash.includes('step=0')")
		b.Press("l")
		b.Press("l")
		b.Press("Enter")
		b.Wait("its instructions", stepping)
		b.Press("f")
		b.Wait("its flame graph", "document.querySelectorAll('#panel .slice').length > 1")
		intact("exported page")
		if n := b.Eval("performance.getEntriesByType('resource').length"); n != "0" {
			t.Errorf("the exported page asked for %s files", n)
		}
		b.Call("Network.emulateNetworkConditions", map[string]any{"offline": false, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}, nil)
	}
}
