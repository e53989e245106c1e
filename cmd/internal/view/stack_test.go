package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/chromium"
	"github.com/ptdecode/ptdecode/cmd/internal/items"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// TestStack would catch callers of a call, or of its first instruction, that are not those by which
// all of the trace has it. What was decoded for a stack begins shortly before. It would catch an outermost
// call that was jumped to, and of which nobody says how what jumped there was entered.
func TestStack(t *testing.T) {
	v := serverOf(t, manyPokes(t))
	type call struct {
		addr, begin uint64
		nth         int
		stack       []string
	}
	var all []call
	began := items.Numbering{}
	tree := &calls.Tree{Session: v.s, OnRestart: func() bool { all = nil; clear(began); return true }}
	tree.OnBegin = func(c *calls.Call) {
		began.Tag(c)
		x := call{c.Addr, v.rec.rel(c.Begin.Lo), int(c.Tag), nil}
		for up := c; up != nil; up = up.Caller {
			x.stack = append(x.stack, callName(up))
		}
		if c.How == calls.Called && len(x.stack) > 3 {
			all = append(all, x)
		}
	}
	if err := v.s.Flow(t.Context(), decoder.Query{Streams: []int{0}, Bounds: true}, tree); err != nil {
		t.Fatal(err)
	}
	names := func(a *stackAnswer) (list []string) {
		for _, f := range a.Frames {
			list = append(list, f.Sym)
		}
		return list
	}
	jumps := 0
	for i := 0; i < len(all); i += 1 + len(all)/12 {
		x := &all[i]
		a := ask[stackAnswer](t, v, fmt.Sprintf("/api/stack?stream=0&time=%d&addr=%x&nth=%d", x.begin, x.addr, x.nth))
		if got := names(&a); !a.Found || !slices.Equal(got, x.stack) {
			t.Errorf("%x at %d, number %d: %v, want %v", x.addr, x.begin, x.nth, got, x.stack)
		}
		if last := a.Frames[len(a.Frames)-1]; last.How == "jump" && last.From == "" {
			if jumps++; a.Entered != "user" || !a.Whole {
				t.Errorf("%x at %d: %s was entered by %q", x.addr, x.begin, last.Sym, a.Entered)
			}
		}
		if x.nth > 0 {
			continue
		}
		first := ask[jumped](t, v, fmt.Sprintf("/api/execution?stream=0&addr=%x&time=%d", x.addr, max(1, x.begin)-1)).Step
		a = ask[stackAnswer](t, v, fmt.Sprintf("/api/stack?stream=0&time=%d&at=%s", first.Time, first.At))
		if got := names(&a); first.Time == x.begin && !slices.Equal(got, x.stack) {
			t.Errorf("the first instruction of %x at %d: %v, want %v", x.addr, x.begin, got, x.stack)
		}
	}
	if len(all) < 100 || jumps == 0 {
		t.Errorf("%d calls, %d of those that were asked for lie in one that was jumped to", len(all), jumps)
	}
}

// TestPageCallers would catch a function that ran only before the window and is called never
// executed. It would catch a call that does not lead to its caller, and data that has calls.
func TestPageCallers(t *testing.T) {
	b := chromium.Open(t)
	v := serveReal(t, manyPokes(t))
	late := func(part uint64) string {
		return v.rec.span(v.rec.From+v.rec.length()*part/1000, v.rec.From+v.rec.length()*(part+1)/1000)
	}
	last := map[string]uint64{} // when each function began last
	tree := &calls.Tree{Session: v.s, OnBegin: func(c *calls.Call) {
		if c.How == calls.Called && c.Caller != nil {
			last[callName(c)] = max(last[callName(c)], c.Begin.Hi)
		}
	}}
	if err := v.s.Flow(t.Context(), decoder.Query{Bounds: true}, tree); err != nil {
		t.Fatal(err)
	}
	early := ""
	for name, at := range last {
		if v.rec.rel(at) < v.rec.From+v.rec.length()/2 && len(name) > len(early) {
			early = name
		}
	}
	b.Show(v.url() + "#t=" + late(998) + "&q=" + early)
	b.Wait("what was found", "document.querySelectorAll('ul.found button').length > 0")
	const calls = "[...document.querySelectorAll('ul.found .copy')].find((e) => e.textContent.startsWith('its calls'))"
	b.ClickUntil("its calls", calls, looked+" && "+panelSays("In the whole recording"))
	b.Wait("its callers", "document.getElementById('stack')?.textContent.includes('called by') && document.querySelector('#stack button') !== null")
	if stack := b.Eval("document.getElementById('stack').textContent"); strings.Contains(stack, "undefined") || !strings.HasSuffix(stack, "; entered from user space") {
		t.Errorf("the callers of %s: %s", early, stack)
	}
	caller := b.Eval("document.querySelector('#stack button').textContent")
	b.ClickUntil("the caller", "document.querySelector('#stack button')", "document.querySelector('#panel h2')?.textContent === "+quote(caller))
	data := ""
	for _, y := range v.s.Symbols().Named(func(string) bool { return true }) {
		if !y.Code && len(y.Name) > len(data) && y.Module == "" {
			data = y.Name
		}
	}
	if data == "" {
		t.Skip("the recording names no data")
	}
	b.Press("/")
	b.Call("Input.insertText", map[string]any{"text": data}, nil)
	b.Press("Enter")
	b.Wait("data", "document.querySelector('ul.found')?.innerText.includes("+quote(data)+")")
	if b.Eval(calls+" === undefined") != "true" {
		t.Error("data has calls")
	}
}
