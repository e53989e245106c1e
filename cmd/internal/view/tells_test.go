package view

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/chromium"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestPageTells would catch keys and searches that do nothing and say nothing. It would catch a lane
// that shows another instruction for a moment than the search for it, and a crowded mark that zooms. It
// checks clicks on threads, too.
func TestPageTells(t *testing.T) {
	b := chromium.Open(t)
	v := serveReal(t, manyPokes(t))
	noted := func(text string) string {
		return "document.getElementById('note').textContent.includes(" + quote(text) + ")"
	}
	b.Show(v.url())
	b.Wait("the first picture", complete)
	clicksThreads(t, b)
	b.Press("Escape")
	b.Press("g")
	b.Wait("that there is no gap", noted("there is no gap on screen"))
	b.Press("}")
	b.Wait("what the key needs", noted("click one"))
	const crowded = "[...document.querySelectorAll('#lanes .poke')].find((e) => / pokes, /.test(e.getAttribute('aria-label')))"
	if b.Eval(crowded+" !== undefined") == "true" {
		b.ClickUntil("a crowded mark", crowded, panelSays("How each CPU crossed it"))
		if hash := b.Eval("location.hash"); strings.Contains(hash, "t=") {
			t.Errorf("a crowded mark zooms: %s", hash)
		}
	}
	search := func(word, says string) {
		b.Eval("String(document.activeElement.blur())")
		b.Press("/")
		b.Call("Input.insertText", map[string]any{"text": word}, nil)
		b.Press("Enter")
		b.Wait(word, panelSays(says))
	}
	b.Press("f")
	const pressed = "document.getElementById('flame').getAttribute('aria-pressed')"
	b.Wait("a flame graph", "document.querySelectorAll('#panel .slice').length > 1 && "+pressed+" === 'true'")
	search("poke:99999", "the last one is")
	if b.Eval(pressed) != "false" {
		t.Error("the button of the flame graph stays pressed")
	}
	search("poke 99998", "the last one is")
	search("9.5", "the trace runs from")
	at := strings.Split(v.rec.span(v.rec.From+v.rec.length()*9/10, 0), ",")[0]
	search(at, "What ran at "+at)
	b.Show("about:blank")
	b.Show(v.url() + "#time=" + at)
	const place = "document.querySelector('#panel tbody tr td:nth-of-type(2)')?.textContent"
	b.Wait("what ran", place+" !== undefined && document.querySelector('#panel .busy') === null")
	ran := b.Eval(place)
	b.Show("about:blank")
	b.Show(v.url() + "#stream=0&time=" + at)
	b.Wait("the same instruction", stepping+" && document.getElementById('now').textContent.includes("+quote(" · "+ran+" · ")+")")
	b.Eval("String(window.fetch = () => Promise.reject(new TypeError('Failed to fetch')))")
	search("vfs", "does not answer")
}

// TestPageUnsure would catch what is ambiguous and has no way to it, or does not say why. It would
// catch a legend that leads to one mark again and again, too.
func TestPageUnsure(t *testing.T) {
	testsize.OnlyFull(t)
	b := chromium.Open(t)
	arm := filepath.Join(testsize.Recordings(t), "kernel-pokes-arm64")
	v := serveReal(t, decoder.Config{Recording: filepath.Join(arm, "a57-jump/coarse-rs"), Events: filepath.Join(arm, "a57-jump/journal.jsonl"), AllBuffers: true,
		Code: []decoder.CodeFile{{Path: filepath.Join(arm, "text/a57.bin"), Addr: 0xffff800080010000}}})
	const legend = "[...document.querySelectorAll('#legend button')].find((e) => e.textContent.includes('ambiguous'))"
	for _, way := range []string{"key", "legend"} {
		b.Show("about:blank")
		b.Show(v.url())
		b.Wait("all of it", complete)
		if way == "key" {
			b.Press("u")
		} else {
			b.Click("the legend", legend)
		}
		b.Wait(fmt.Sprintf("by the %s: an ambiguous instruction, and why", way), stepping+" && document.querySelector('.steps tr.here.unsure') !== null && document.getElementById('now').textContent.includes('it is open where poke')")
	}
	seen := map[string]bool{}
	marks, _ := strconv.Atoi(b.Eval("document.querySelectorAll('#lanes .mark.unsure').length"))
	for i := range min(marks-1, 5) { // the first one was opened
		// A click takes the focus. What it asks for stands there at once. The instruction comes later.
		place := b.Eval("(" + legend + ".focus(), " + legend + ".click(), location.hash)")
		if seen[place] {
			t.Fatalf("click %d of the legend leads to %s again", i+1, place)
		}
		seen[place] = true
		b.Wait(fmt.Sprintf("mark %d of %d", i+2, marks), stepping+" && location.hash.includes('at=')")
		if at := b.Eval("location.hash"); seen[at] {
			t.Errorf("mark %d of %d leads to %s, as another one", i+2, marks, at)
		} else {
			seen[at] = true
		}
	}
	if len(seen) < 2 {
		t.Errorf("%d marks", marks)
	}
}
