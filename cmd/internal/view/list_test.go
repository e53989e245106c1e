package view

import (
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/chromium"
	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/marks"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// manyPokes is a recording with hundreds of changes, and little trace.
func manyPokes(t *testing.T) decoder.Config {
	t.Helper()
	return decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86/kprobes/perf.data")}
}

// listed is what /api/list answers.
type listed struct {
	Total, Skip int
	Pokes       []marks.Row
	Command     string
}

// TestPokeList would catch a list of changes that has others than pokes prints for the same
// thread, kind or function. It would catch one that loses some from page to page, too.
func TestPokeList(t *testing.T) {
	v := serverOf(t, manyPokes(t))
	counts := ask[pokeCounts](t, v, "/api/counts")
	maker := *counts.Threads[0].TID
	byTID, byKind, bySym := &filter.Makers{TIDs: []string{fmt.Sprint(maker)}}, counts.Kinds[0].Name, "*sched*"
	only, err := (&filter.Flags{Syms: []string{bySym}}).Resolve(v.s)
	if err == nil {
		err = byTID.Read()
	}
	if err != nil {
		t.Fatal(err)
	}
	for q, wants := range map[string]func(k *decoder.PokeInfo) bool{
		"":                        func(*decoder.PokeInfo) bool { return true },
		fmt.Sprint("tid=", maker): byTID.Made,
		"kind=" + byKind:          func(k *decoder.PokeInfo) bool { return k.Kind.String() == byKind },
		"sym=" + url.QueryEscape(bySym): func(k *decoder.PokeInfo) bool {
			return only.Change(v.s, k.Addr, 1, event.Time{Lo: k.Time, Hi: k.Time}, (&marks.Mark{Symbol: k.Symbol}).Function())
		},
		fmt.Sprint("kind=unknown&tid=", maker): func(*decoder.PokeInfo) bool { return false },
	} {
		var want, got []int
		for k := range v.s.Pokes() {
			if wants(&k) {
				want = append(want, k.Index)
			}
		}
		for skip := 0; ; skip += 37 {
			a := ask[listed](t, v, fmt.Sprintf("/api/list?%s&n=37&skip=%d", q, skip))
			for _, p := range a.Pokes {
				got = append(got, p.Index)
				if p.Old == "" && p.New == "" {
					t.Errorf("poke %d changes nothing", p.Index)
				}
			}
			if a.Total != len(want) || !strings.HasPrefix(a.Command, "ptdecode pokes --no-flow") {
				t.Fatalf("%s: %d changes, want %d; command %s", q, a.Total, len(want), a.Command)
			}
			if len(a.Pokes) == 0 {
				break
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s: page by page %v, want %v", q, got, want)
		}
	}
}

// TestCountsLead would catch counts of a window that differ from the lists to which they lead.
func TestCountsLead(t *testing.T) {
	v := serverOf(t, manyPokes(t))
	for i := range v.pokes.list { // each takes 1 µs
		m := &v.pokes.list[i]
		m.Begin, m.End = m.Time-min(m.Time, 500), m.Time+500
	}
	partly := 0
	for i := 0; i < len(v.pokes.list); i += 1 + len(v.pokes.list)/50 {
		m := v.pokes.list[i]
		for _, w := range [][2]uint64{{m.Begin, m.Time}, {m.Time, m.Time}, {m.Time + 1, m.Time + 100_000}, {m.Begin, max(m.Begin+1, m.Time) - 1}} {
			if w[1] == 0 {
				continue // all
			}
			q := fmt.Sprintf("?from=%d&until=%d", w[0], w[1])
			counts := ask[pokeCounts](t, v, "/api/counts"+q)
			want := 0
			for _, m := range v.pokes.list {
				if m.Time >= w[0] && m.Time <= w[1] {
					want++
				}
			}
			if n := ask[listed](t, v, "/api/list"+q).Total; n != want || counts.Total != want {
				t.Errorf("%s: %d changes counted, %d listed; want %d", q, counts.Total, n, want)
			}
			for _, k := range counts.Kinds {
				if n := ask[listed](t, v, "/api/list"+q+"&kind="+k.Name).Total; n != k.N {
					t.Errorf("%s: %d of the kind %s counted, %d listed", q, k.N, k.Name, n)
				}
			}
			if ask[pokesAnswer](t, v, "/api/pokes"+q).Total > counts.Total {
				partly++
			}
		}
	}
	if partly == 0 {
		t.Error("no window begins or ends within a change")
	}
}

// TestKeptList would catch an exported page that lists or counts other pokes than the server:
// outside of the time on screen, or by another reading of a glob. It checks clicks on threads there, too.
func TestKeptList(t *testing.T) {
	b := chromium.Open(t)
	v := serverOf(t, manyPokes(t))
	page := filepath.Join(t.TempDir(), "page.html")
	if err := (exporter{v, 1 << 40}).write(t.Context(), io.Discard, &flags{export: page, time: "0,", poke: -1}); err != nil {
		t.Fatal(err)
	}
	list := v.pokes.list
	name := list[0].Function()
	b.Show("file://" + page)
	b.Wait("all of it", complete)
	clicksThreads(t, b)
	for _, l := range ask[density](t, v, "/api/density?n=100").Lanes {
		if l.TID != nil {
			b.Eval("location.hash = " + quote(fmt.Sprintf("#q=thread%%20%d", *l.TID)))
			b.Wait("a thread", "document.querySelector('ul.found')?.innerText.includes("+quote(fmt.Sprintf(", thread %d", *l.TID))+")")
			break
		}
	}
	for _, w := range testsize.Some(t, [][2]uint64{{list[len(list)/4].Time + 1, list[len(list)*3/4].Time}, {0, v.rec.Until}}, 1) {
		q := fmt.Sprintf("from=%d&until=%d", w[0], w[1])
		place := "#scope=window&t=" + v.rec.span(w[0], w[1])
		globs := []string{"*sched*", "?" + name[1:], "[" + name[:1] + "]*", "[^" + name[:1] + "]*", "[a-m]*", "[m-a]*", "*.*", "[", "__*_[a-z]?*", "\\" + name, "no"}
		for _, glob := range testsize.Some(t, globs, 4) {
			n := ask[listed](t, v, "/api/list?"+q+"&sym="+url.QueryEscape(glob)).Total
			b.Eval("location.hash = " + quote(place+"&list="+url.QueryEscape("sym:"+glob)))
			b.Wait(fmt.Sprintf("%d pokes in %s from %v", n, glob, w), panelSays(fmt.Sprintf("%d poke", n))+" && "+panelSays("in functions like "+glob+" on screen"))
			if got := b.Eval("document.querySelector('#panel h2').textContent.split(' ')[0]"); got != fmt.Sprint(n) {
				t.Errorf("%s from %v: %s pokes, want %d", glob, w, got, n)
			}
		}
		n := ask[pokeCounts](t, v, "/api/counts?"+q)
		b.Eval("location.hash = " + quote("#t="+v.rec.span(w[0], w[1])))
		b.Wait(fmt.Sprintf("%d of the kind %s from %v", n.Kinds[0].N, n.Kinds[0].Name, w), panelSays(fmt.Sprintf("%s\t%d\n", n.Kinds[0].Name, n.Kinds[0].N)))
	}
}

// TestPageList would catch a thread on the first screen that does not lead to all of its changes
// and to the command that prints them. It would catch pages that no key turns, too.
func TestPageList(t *testing.T) {
	b := chromium.Open(t)
	v := serveReal(t, manyPokes(t))
	b.Show(v.url())
	b.Wait("what to do", complete+" && "+panelSays("Made by"))
	m := ask[pokeCounts](t, v, "/api/counts?token="+v.token).Threads[0]
	name := fmt.Sprintf("%s %d", m.Name, *m.TID)
	b.ClickUntil(name, fmt.Sprintf("[...document.querySelectorAll('#panel button')].find((e) => e.textContent === %q)", name), panelSays(fmt.Sprintf("1 to 50 of %d", m.N)))
	b.Wait("the command", panelSays(fmt.Sprintf("pokes --no-flow --tid %d", *m.TID)))
	const first = "document.querySelector('.list tbody td').textContent"
	before := b.Eval(first)
	b.Press("]")
	b.Wait("the next page", panelSays(fmt.Sprintf("51 to 100 of %d", m.N)))
	there := b.Eval("document.querySelector('.list').innerText")
	if !strings.Contains(there, name) || !strings.Contains(there, "→") {
		t.Errorf("the list has not who made a poke, and what: %s", there)
	}
	b.Call("Page.reload", nil, nil)
	b.Wait("the page of the URL", panelSays(fmt.Sprintf("51 to 100 of %d", m.N)))
	b.Press("[")
	b.Wait("the page before", first+" === "+quote(before))
	b.Press("/")
	b.Call("Input.insertText", map[string]any{"text": name}, nil)
	b.Press("Enter")
	b.Wait("what was found", panelSays(fmt.Sprintf("all %d pokes that", m.N)))
}

// TestTrapMark would catch a mark of a trap that leads to another step of the same moment.
func TestTrapMark(t *testing.T) {
	v := serverOf(t, manyPokes(t))
	traps := 0
	for _, l := range ask[density](t, v, "/api/density?n=1000").Lanes {
		for _, m := range l.Traps {
			if l.Stream == nil {
				continue
			}
			traps++
			a := ask[stepsAnswer](t, v, fmt.Sprintf("/api/steps?stream=%d&time=%d&kind=trap", *l.Stream, m[2]))
			if s := a.Steps[a.Anchor]; s.Kind != "trap" || s.Time != m[2] || !strings.Contains(a.Command, "--notes") {
				t.Errorf("the trap at %d leads to %+v; command %s", m[2], s, a.Command)
			}
		}
	}
	if traps < 5 {
		t.Errorf("%d traps", traps)
	}
}
