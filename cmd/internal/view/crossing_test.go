package view

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/chromium"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestPageCrossing would catch a story whose rows are not what pokes tells of the change, and a
// trap of a real recording that cannot be stepped over, forwards and back. It would catch a
// function that the search does not find, or whose place the URL does not keep.
func TestPageCrossing(t *testing.T) {
	testsize.OnlyFull(t)
	data := testsize.Recordings(t)
	b := chromium.Open(t)
	for _, name := range []string{"tracepoints", "tracepoints-coarse"} {
		v := serveReal(t, decoder.Config{Recording: filepath.Join(data, "kernel-pokes-x86", name, "perf.data")})
		n, x := trapped(t, v)
		b.Show("about:blank")
		b.Show(v.url() + fmt.Sprintf("#poke=%d", n))
		b.Wait(name+": the story", panelSays("Step by step"))
		const row = "[...document.querySelectorAll('#panel table tr')].find((r) => r.querySelector('th[scope=row]')?.textContent === %q && r.children.length === 9)"
		cells := fmt.Sprintf(row, v.rec.Streams[x.Stream].Label)
		for i, want := range map[int]string{
			1: times(x.Old.N), 3: fmt.Sprint(x.Traps.N), 4: strings.TrimSuffix(event.Seconds(x.Traps.First.Time.Lo), " s"), 6: times(x.New.N), 8: x.Verdict().String(),
		} {
			if got := b.Eval(cells + fmt.Sprintf(".children[%d].textContent.split(' …')[0]", i)); got != want {
				t.Errorf("%s: poke %d: column %d is %q, pokes has %q", name, n, i, got, want)
			}
		}
		const here = "document.querySelector('.steps tr.here')"
		b.ClickUntil(name+": the first trap", cells+".children[4].querySelector('button')", here+"?.classList[0] === 'trap'")
		at := b.Eval("location.hash")
		k := &keyboard{b, t, map[string]bool{}}
		k.changes("j", "location.hash")
		k.does("k", "back over the trap", fmt.Sprintf("location.hash === %q && %s.classList[0] === 'trap'", at, here))
		k.changes("k", "location.hash")
		k.does("j", "the trap again", here+"?.classList[0] === 'trap'")

		k.does("/", "the search", "document.activeElement.id === 'query'")
		b.Call("Input.insertText", map[string]any{"text": "vfs_read"}, nil)
		k.does("Enter", "what was found", "[...document.querySelectorAll('ul.found button')].some((e) => e.textContent.includes('vfs_read'))")
		b.ClickUntil("the function", "[...document.querySelectorAll('ul.found button')].find((e) => e.textContent.includes('vfs_read'))", looked+" && document.getElementById('now') !== null")
		now := b.Eval("document.getElementById('now').textContent")
		b.Call("Page.reload", nil, nil)
		b.Wait(name+": the place of the URL", fmt.Sprintf("document.getElementById('now')?.textContent === %q", now))
	}
}

// trapped returns a change at which a CPU took a trap, and what pokes tells of that CPU.
func trapped(t *testing.T, v *server) (poke int, x report.Crossing) {
	t.Helper()
	all, err := v.pokes.crossed(&request{Request: httptest.NewRequest("GET", "/api/poke?n=0", nil).WithContext(t.Context())})
	if err != nil {
		t.Fatal(err)
	}
	for i := range v.pokes.list {
		for _, x := range all[v.pokes.list[i].Index] {
			if x.Traps.N > 0 && x.Old.N > 0 && x.New.N > 0 {
				return v.pokes.list[i].Index, x
			}
		}
	}
	t.Fatal("no CPU took a trap at a change")
	return 0, x
}

// times is a number of times as the page has it.
func times(n int) string {
	if n == 1 {
		return "1 time"
	}
	return fmt.Sprintf("%d times", n)
}
