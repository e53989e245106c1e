package view

import (
	"fmt"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/chromium"
	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/marks"
	"github.com/ptdecode/ptdecode/decoder"
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
			return only.Change(k.Addr, 1, k.Time, (&marks.Mark{Symbol: k.Symbol}).Function())
		},
		fmt.Sprint("kind=none&tid=", maker): func(*decoder.PokeInfo) bool { return false },
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
