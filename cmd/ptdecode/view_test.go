package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// serveView runs view until the test ends, and returns what its API answers.
func serveView(t *testing.T, args ...string) (get func(path string) []byte) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	code := make(chan int, 1)
	a := &app{out: in, ui: newUI(in, io.Discard)}
	go func() {
		code <- a.execute(ctx, append([]string{"view", "--http", "127.0.0.1:0", "--no-open"}, args...))
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(strings.TrimSpace(line))
	if err != nil || u.Query().Get("token") == "" {
		t.Fatalf("the first line is %q, want a URL with a token (%v)", line, err)
	}
	t.Cleanup(func() {
		stop()
		select {
		case c := <-code:
			if c != exitWhole {
				t.Errorf("exit code %d", c)
			}
		case <-time.After(10 * time.Second):
			t.Error("view does not end when it is interrupted")
		}
	})
	return func(path string) []byte {
		r, err := http.Get(fmt.Sprintf("http://%s/api/%s&token=%s", u.Host, path, u.Query().Get("token")))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s (%v)", path, r.StatusCode, b, err)
		}
		return b
	}
}

// TestViewStory would catch a poke's story in the page that differs from what pokes
// prints of it, and a command line below it that prints something else.
func TestViewStory(t *testing.T) {
	data := testsize.Recordings(t)
	x86, arm := filepath.Join(data, "kernel-pokes-x86"), filepath.Join(data, "kernel-pokes-arm64")
	type recording struct {
		args, pokes []string
	}
	list := []recording{
		{[]string{filepath.Join(x86, "tracepoints-coarse/perf.data")}, []string{"3", "20", "40"}},
		{[]string{filepath.Join(x86, "kprobes/perf.data")}, []string{"3", "20", "40"}},
		{[]string{filepath.Join(x86, "tracepoints/perf.data")}, []string{"3", "385", "638"}},
		{[]string{
			filepath.Join(arm, "a57-jump/fine"), "--all-buffers", "--events", filepath.Join(arm, "a57-jump/journal.jsonl"),
			"--text", filepath.Join(arm, "text/a57.bin") + "@0xffff800080010000", "--kallsyms", filepath.Join(arm, "text/a57.kallsyms"),
		}, []string{"3", "20", "40"}},
	}
	for _, rec := range testsize.Some(t, list, 2) {
		get := serveView(t, rec.args...)
		for _, n := range testsize.Some(t, rec.pokes, 2) {
			var got struct {
				Poke    any
				Command string
			}
			if err := json.Unmarshal(get("poke?n="+n), &got); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			if c := run(strings.Fields(got.Command)[1:], nil, &out, &errs); c != exitWhole && c != exitGaps {
				t.Fatalf("%s: exit code %d: %s", got.Command, c, &errs)
			}
			var want any
			if err := json.Unmarshal(out.Bytes(), &want); err != nil {
				t.Fatalf("%s: %v", got.Command, err)
			}
			if d := cmp.Diff(want, got.Poke); d != "" {
				t.Errorf("%s prints otherwise than the page shows (-want +got):\n%s", got.Command, d)
			}
			t.Logf("%s: %d bytes", got.Command, out.Len())
		}
	}
}

// TestViewGuests would catch changes to the code of a virtual machine that the page does not
// know, or takes for others.
func TestViewGuests(t *testing.T) {
	t.Chdir(t.TempDir())
	docFiles(t, "docs/recipes.md")
	args := []string{"--pt", "host.pt", "--text", "host.bin@0x1000", "--guest", "7=guest.data"}
	var got struct {
		Pokes  []any
		Guests []struct {
			Guest, Total int
			Pokes        []struct {
				Index int
				Addr  string
			}
		}
	}
	if err := json.Unmarshal(serveView(t, args...)("pokes?"), &got); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if c := run(append([]string{"pokes", "--no-flow", "-q"}, args...), nil, &out, &errs); c != exitWhole {
		t.Fatalf("exit code %d: %s", c, &errs)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(got.Pokes) != 0 || len(got.Guests) != 1 || got.Guests[0].Guest != 7 || got.Guests[0].Total != len(lines) || len(got.Guests[0].Pokes) != len(lines) {
		t.Fatalf("the page knows %+v, and pokes prints\n%s", got, &out)
	}
	for i, p := range got.Guests[0].Pokes {
		if !strings.Contains(lines[i], p.Addr) || !strings.Contains(lines[i], fmt.Sprintf("poke %d", p.Index)) {
			t.Errorf("the page has %+v for %s", p, lines[i])
		}
	}
}

// shown is what a view says of itself: the command that prints the same, and what is counted.
type shown struct {
	Command      string
	Instructions uint64
	Calls        uint64
	Total        int
	Steps        []struct{ Kind, IP, Insn string }
	Root         *flameNode
	Lanes        []struct {
		Traps, Gaps [][]uint64
	}
}

// flameNode is a node of a flame graph.
type flameNode struct {
	Sym    string
	Self   uint64
	Total  uint64
	Inside []*flameNode
}

// folded lists the stacks of n that executed something, as folded has them.
func (n *flameNode) folded(outer string, to map[string]uint64) {
	for _, x := range n.Inside {
		name := strings.TrimPrefix(outer+";"+x.Sym, ";")
		if x.Self > 0 {
			to[name] += x.Self
		}
		x.folded(name, to)
	}
}

// TestViewCommands would catch a view of the page whose command line prints something else.
func TestViewCommands(t *testing.T) {
	rec := filepath.Join(testsize.Recordings(t), "kernel-pokes-x86/kprobes/perf.data")
	get := serveView(t, rec)
	show := func(path string) (x shown, lines [][]byte) {
		t.Helper()
		answer := bytes.Split(bytes.TrimSpace(get(path)), []byte("\n"))
		if err := json.Unmarshal(answer[len(answer)-1], &x); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		var out, errs bytes.Buffer
		if c := run(append(strings.Fields(x.Command)[1:], "-q"), nil, &out, &errs); c != exitWhole && c != exitGaps {
			t.Fatalf("%s: exit code %d: %s", x.Command, c, &errs)
		}
		return x, bytes.Split(bytes.TrimSpace(out.Bytes()), []byte("\n"))
	}
	var times struct{ From, Until uint64 }
	if err := json.Unmarshal(get("recording?"), &times); err != nil {
		t.Fatal(err)
	}
	middle := (times.From + times.Until) / 2
	for _, window := range []string{"", fmt.Sprintf("from=%d&until=%d", middle, middle+400_000)} {
		x, lines := show("density?" + window)
		traps, gaps := uint64(0), uint64(0)
		for _, l := range x.Lanes {
			for _, m := range l.Traps {
				traps += m[1]
			}
			for _, m := range l.Gaps {
				gaps += m[1]
			}
		}
		text := string(bytes.Join(lines, []byte("\n")))
		if want := fmt.Sprint(x.Instructions); !strings.Contains(strings.NewReplacer(",", "", " ", "").Replace(text), want) || x.Instructions == 0 {
			t.Errorf("%s: the page has %s instructions, %d traps, %d gaps, and it prints\n%s", x.Command, want, traps, gaps, text)
		}

		x, lines = show("flame?" + window)
		got, want := map[string]uint64{}, map[string]uint64{}
		for _, l := range lines {
			at := max(0, bytes.LastIndexByte(l, ' '))
			n, _ := strconv.ParseUint(string(l[at+1:]), 10, 64)
			want[string(l[:at])] += n
		}
		x.Root.folded("", got)
		sum := uint64(0)
		for k, n := range want {
			if sum += n; got[k] == 0 {
				delete(want, k) // too small to be seen
			}
		}
		if d := cmp.Diff(want, got); d != "" || x.Root.Total != sum || len(got) < 20 {
			t.Errorf("%s: prints %d instructions, the page has %d; stacks (-want +got):\n%s", x.Command, sum, x.Root.Total, d)
		}

		x, lines = show("pokes?" + window)
		if n := bytes.Count(bytes.Join(lines, []byte("\n")), []byte(" # ")); x.Total != n {
			t.Errorf("%s: prints %d changes, the page has %d", x.Command, n, x.Total)
		}
		x, lines = show("function?addr=ffffffffb312bc40&" + window)
		if x.Calls == 0 && bytes.Contains(bytes.Join(lines, nil), []byte("median")) {
			t.Errorf("%s: the page has no call: %s", x.Command, lines)
		}
	}

	x, lines := show(fmt.Sprintf("steps?stream=1&time=%d&before=20&after=30", middle))
	i := 0
	executed := regexp.MustCompile(`^\S+ \S+ [0-9a-f]{16} `) // not a note
	for _, l := range lines {
		if !executed.Match(l) {
			continue
		}
		for i < len(x.Steps) && x.Steps[i].Kind != "insn" {
			i++
		}
		if i < len(x.Steps) && bytes.Contains(l, []byte(" "+x.Steps[i].IP+" ")) {
			i++
		} else if i < len(x.Steps) {
			i = 0
		}
	}
	if i < len(x.Steps) {
		t.Errorf("%s: prints no such row of instructions as the page shows: %d of %d", x.Command, i, len(x.Steps))
	}
}

// TestReadmePicture would catch a picture in the README that is not what view draws today.
func TestReadmePicture(t *testing.T) {
	want, err := os.ReadFile("../../docs/poke.svg")
	must(t)(err)
	t.Chdir(t.TempDir())
	docFiles(t, "docs/from-perf.md") // which has the bundle of the demonstration
	docRun(t, "ptdecode view demo.tar.zst --svg poke.svg --poke 0")
	got, err := os.ReadFile("poke.svg")
	must(t)(err)
	if !bytes.Equal(got, want) {
		t.Errorf("docs/poke.svg is not what the README's commands draw:\n%s", got)
	}
}
