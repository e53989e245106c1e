package view

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/ptdecode/ptdecode/cmd/internal/chromium"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// named checks that the accessibility tree names each lane and each mark. It comes to know
// of what is drawn some time later.
func named(t *testing.T, b *chromium.Tab) {
	t.Helper()
	b.Call("Accessibility.enable", nil, nil)
	var wrong []string
	for began := time.Now(); time.Since(began) < 20*time.Second; time.Sleep(100 * time.Millisecond) {
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
		if err := (exporter{v}).write(t.Context(), io.Discard, &flags{export: page, poke: v.pokes.list[0].Index}); err != nil {
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
