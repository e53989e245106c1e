package view

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/ptdecode/ptdecode/cmd/internal/loopback"
	"github.com/ptdecode/ptdecode/cmd/internal/onepage"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/report"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

const demo = "../../ptdecode/demo/"

// demoConfig is the recording that ptdecode demo explains.
func demoConfig() decoder.Config {
	return decoder.Config{
		Raw:   []decoder.RawTrace{{Protocol: decoder.IntelPT, CPU: 0, Path: demo + "cpu0.pt"}, {Protocol: decoder.IntelPT, CPU: 1, Path: demo + "cpu1.pt"}},
		Kcore: demo + "kcore", Kallsyms: demo + "kallsyms", Events: demo + "events.jsonl",
	}
}

// serverOf returns a server of what c names, at an address where nobody listens.
func serverOf(t testing.TB, c decoder.Config) *server {
	t.Helper()
	s, err := decoder.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	h := &Host{
		Times: func(*decoder.Session, string) (uint64, uint64, error) { return 0, 0, nil },
		Poke: func(_ context.Context, w io.Writer, _ *decoder.Session, k *decoder.PokeInfo) error {
			return json.NewEncoder(w).Encode(map[string]int{"index": k.Index})
		},
	}
	call := func(verb string, more ...string) string { return "ptdecode " + verb + " " + strings.Join(more, " ") }
	v := newServer(h, s, call, 2, "secret")
	v.addr = "127.0.0.1:1234"
	t.Cleanup(func() { v.work.Wait(); s.Close() })
	return v
}

// get asks v for a path, as the page does.
func (v *server) get(ctx context.Context, path string, set ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", path, nil).WithContext(ctx)
	r.Host = v.addr
	r.Header.Set("X-Ptdecode-Token", v.token)
	for i := 0; i+1 < len(set); i += 2 {
		if set[i] == "Host" {
			r.Host = set[i+1]
			continue
		}
		r.Header.Set(set[i], set[i+1])
	}
	w := httptest.NewRecorder()
	v.ServeHTTP(w, r)
	return w
}

// ask asks v for JSON.
func ask[T any](t testing.TB, v *server, path string) (out T) {
	t.Helper()
	w := v.get(t.Context(), path)
	lines := bytes.Split(bytes.TrimSpace(w.Body.Bytes()), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], &out); err != nil || w.Code != http.StatusOK {
		t.Fatalf("%s: %d %s: %v", path, w.Code, w.Body, err)
	}
	return out
}

// TestGuards would catch an answer to whoever does not know the token, to a page of
// another origin, and to a name that another's DNS leads to this machine.
func TestGuards(t *testing.T) {
	v := serverOf(t, demoConfig())
	for _, x := range []struct {
		path string
		set  []string
		code int
	}{
		{"/api/recording", nil, 200},
		{"/", nil, 200},
		{"/?token=secret", []string{"X-Ptdecode-Token", ""}, 200},
		{"/", []string{"X-Ptdecode-Token", ""}, 403},
		{"/?token=secreT", []string{"X-Ptdecode-Token", ""}, 403},
		{"/api/recording", []string{"X-Ptdecode-Token", "wrong"}, 403},
		{"/api/recording?token=wrong", []string{"X-Ptdecode-Token", ""}, 403},
		{"/api/density", []string{"X-Ptdecode-Token", ""}, 403},
		{"/api/recording", []string{"Host", "evil.example:1234"}, 403},
		{"/api/recording", []string{"Host", "127.0.0.1:1235"}, 403},
		{"/api/recording", []string{"Host", "127.0.0.1"}, 403},
		{"/api/recording", []string{"Host", "localhost:1234"}, 200},
		{"/main.js", []string{"Host", "evil.example:1234"}, 403},
		{"/api/recording", []string{"Origin", "http://evil.example"}, 403},
		{"/api/recording", []string{"Origin", "null"}, 403},
		{"/api/recording", []string{"Origin", "https://127.0.0.1:1234"}, 403},
		{"/api/recording", []string{"Origin", "http://127.0.0.1:1234"}, 200},
		{"/api/nothing", nil, 404},
	} {
		w := v.get(t.Context(), x.path, x.set...)
		if w.Code != x.code {
			t.Errorf("%s %q: %d, want %d", x.path, x.set, w.Code, x.code)
		}
		if w.Code == http.StatusForbidden && strings.Contains(w.Body.String(), "cpu0") {
			t.Errorf("%s %q: refused, and answered: %s", x.path, x.set, w.Body)
		}
		if p := w.Header().Get("Content-Security-Policy"); p != loopback.Policy {
			t.Errorf("%s: policy %q", x.path, p)
		}
	}
	for _, addr := range []string{"0.0.0.0:0", ":0", "192.168.0.1:80", "example.com:80", "127.0.0.1"} {
		if loopback.Check(addr) == nil {
			t.Errorf("--http %s is taken, though others can connect, or it is no address", addr)
		}
	}
}

// TestRandomRequests would catch a request that panics, and one that reads a file which
// is none of the page's.
func TestRandomRequests(t *testing.T) {
	v := serverOf(t, demoConfig())
	r := rand.New(rand.NewPCG(18, 1))
	paths := []string{"recording", "density", "pokes", "poke", "steps", "search", "jump", "execution", "calls", "flame", "function", "list", "stack", "nothing", "../main.js"}
	params := []string{"from", "until", "n", "stream", "time", "at", "before", "after", "q", "what", "way", "addr", "kind", "tid", "sym", "skip", "nth", "token"}
	values := []string{
		"", "0", "1", "2", "-1", "1.5", "18446744073709551615", "9223372036854775807", "99999999999999999999", "i0.0", "n0.0", "i999.9", "x", "i-1.2",
		"call", "poke", "next", "previous", "sched", "trap", "gap", "unsure", "*sched*", "[", "ffffffff81000000", "0x", "\x00", "\xff", "../../etc/passwd", "%", "<script>", strings.Repeat("a", 5000),
	}
	files := map[string]bool{}
	fs.WalkDir(pageFiles, "page", func(path string, d fs.DirEntry, _ error) error {
		if b, err := fs.ReadFile(pageFiles, path); err == nil {
			files[string(b)] = true
		}
		return nil
	})
	outside := []string{"/../view.go", "/..%2fview.go", "/page/../../view.go", "//etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/C:\\x", "/view.go", "/server.go", "/%00"}
	for i := range testsize.Of(t, 300, 1000) {
		path := outside[r.IntN(len(outside))]
		if i%10 != 0 {
			q := url.Values{}
			for range r.IntN(5) {
				q.Set(params[r.IntN(len(params))], values[r.IntN(len(values))])
			}
			path = "/api/" + paths[r.IntN(len(paths))] + "?" + q.Encode()
		}
		u, err := url.ParseRequestURI(path)
		if err != nil {
			continue
		}
		req := &http.Request{Method: "GET", URL: u, Host: v.addr, Header: http.Header{"X-Ptdecode-Token": {"secret"}}, Proto: "HTTP/1.1"}
		w := httptest.NewRecorder()
		v.ServeHTTP(w, req.WithContext(t.Context()))
		switch {
		case w.Code >= 500:
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		case w.Code == 200 && !strings.HasPrefix(u.Path, "/api/") && !files[w.Body.String()]:
			t.Errorf("%s: answered with no file of the page: %.80q", path, w.Body)
		case w.Code == 200 && strings.HasPrefix(u.Path, "/api/"):
			for line := range bytes.Lines(w.Body.Bytes()) {
				if !json.Valid(line) {
					t.Errorf("%s: no JSON: %.80q", path, line)
				}
			}
		}
	}
}

// TestDensity would catch an overview that loses instructions, or counts some twice,
// and a window that counts what lies outside.
func TestDensity(t *testing.T) {
	v := serverOf(t, demoConfig())
	sum, err := report.Summarise(t.Context(), v.s, decoder.Query{})
	if err != nil {
		t.Fatal(err)
	}
	d := ask[density](t, v, "/api/density?n=100")
	if d.Total != sum.Instructions || !d.Done || len(d.Lanes) < 2 {
		t.Errorf("%d instructions in %d lanes, done %v; want %d", d.Total, len(d.Lanes), d.Done, sum.Instructions)
	}
	traps := uint64(0)
	for _, l := range d.Lanes {
		n := uint64(0)
		for _, k := range l.Sure {
			n += k
		}
		for _, k := range l.Unsure {
			n += k[1]
		}
		if n != l.Total {
			t.Errorf("lane %v %v: buckets hold %d, of %d", l.Stream, l.TID, n, l.Total)
		}
		for _, m := range l.Traps {
			traps += m[1]
		}
	}
	if traps != sum.Traps {
		t.Errorf("%d traps, want %d", traps, sum.Traps)
	}
	for _, x := range []struct{ from, until, most uint64 }{{v.rec.From, v.rec.From + v.rec.length()/3, d.Total}, {d.Last + 1000, d.Last + 2000, 0}} {
		if w := ask[density](t, v, fmt.Sprintf("/api/density?from=%d&until=%d", x.from, x.until)); w.Total > x.most || !w.Done {
			t.Errorf("from %d until %d: %d instructions, want %d at most", x.from, x.until, w.Total, x.most)
		}
	}
}

// TestSteps would catch a step that is left out, doubled or out of order where pages of
// steps meet, forwards and backwards.
func TestSteps(t *testing.T) {
	v := serverOf(t, demoConfig())
	for stream := range v.s.Streams() {
		all := ask[stepsAnswer](t, v, fmt.Sprintf("/api/steps?stream=%d&before=0&after=2000", stream))
		insns := uint64(0)
		for _, s := range all.Steps {
			if s.Kind == "insn" {
				insns++
			}
		}
		sum, err := report.Summarise(t.Context(), v.s, decoder.Query{Streams: []int{stream}})
		if err != nil || insns != sum.Instructions {
			t.Fatalf("stream %d: %d steps, want %d (%v)", stream, insns, sum.Instructions, err)
		}
		for i, s := range all.Steps {
			a := ask[stepsAnswer](t, v, fmt.Sprintf("/api/steps?stream=%d&at=%s&time=%d&before=3&after=2", stream, s.At, s.Time))
			if !a.Found || a.Anchor != min(i, 3) || a.Steps[a.Anchor].At != s.At || a.Anchor > 0 && a.Steps[a.Anchor-1].At != all.Steps[i-1].At || i+1 < len(all.Steps) && a.Steps[a.Anchor+1].At != all.Steps[i+1].At {
				t.Fatalf("stream %d, step %d, %s: %+v", stream, i, s.At, a)
			}
		}
	}
}

// TestJump would catch a jump that misses the trap or the first run of the new code, or does
// not come back over it.
func TestJump(t *testing.T) {
	v := serverOf(t, demoConfig())
	first := ask[stepsAnswer](t, v, "/api/steps?stream=1&before=0&after=1").Steps[0]
	q := func(s *step, way, what string) string {
		return fmt.Sprintf("/api/jump?stream=1&at=%s&time=%d&way=%s&what=%s", s.At, s.Time, way, what)
	}
	crossings, _, err := (&report.Crossings{Session: v.s}).Decode(t.Context(), decoder.Query{})
	if err != nil {
		t.Fatal(err)
	}
	began := 0
	for _, p := range v.pokes.list {
		for _, c := range crossings[p.Index] {
			if c.Stream == 1 && c.New.N > 0 {
				began++
			}
		}
	}
	var seen []string
	kinds := map[string]int{}
	for at := &first; at != nil; {
		if at = ask[jumped](t, v, q(at, "next", "poke")).Step; at != nil {
			seen = append(seen, at.At)
			kinds[at.Kind]++
			first = *at
		}
	}
	if kinds["insn"] != began || kinds["trap"] == 0 || kinds["insn"]+kinds["trap"]+kinds["cut"] != len(seen) {
		t.Fatalf("%v, want %d where new code ran first, and traps", kinds, began)
	}
	for i := len(seen) - 2; i >= 0; i-- {
		back := ask[jumped](t, v, q(&first, "previous", "poke")).Step
		if back == nil || back.At != seen[i] {
			t.Fatalf("back from %s: %+v, want %s", first.At, back, seen[i])
		}
		first = *back
	}
}

// TestStory would catch a poke whose story has other crossings than report has, and
// neighbours that are not its neighbours.
func TestStory(t *testing.T) {
	v := serverOf(t, demoConfig())
	crossings, _, err := (&report.Crossings{Session: v.s}).Decode(t.Context(), decoder.Query{})
	if err != nil {
		t.Fatal(err)
	}
	for i, p := range v.pokes.list {
		s := ask[story](t, v, fmt.Sprintf("/api/poke?n=%d", p.Index))
		var raw struct{ Index int }
		json.Unmarshal(s.Poke, &raw)
		if raw.Index != p.Index || len(s.Crossed) != len(crossings[p.Index]) {
			t.Errorf("poke %d: %s, %d crossings, want %d", p.Index, s.Poke, len(s.Crossed), len(crossings[p.Index]))
		}
		if (s.Previous != nil) != (i > 0) || (s.Next != nil) != (i+1 < len(v.pokes.list)) || len(s.Old) == 0 || len(s.New) == 0 {
			t.Errorf("poke %d: %+v", p.Index, s)
		}
	}
	if len(v.pokes.list) == 0 {
		t.Error("no pokes")
	}
}

// TestHostileNames would catch a symbol's name that breaks an answer: markup, control
// characters, bytes that are no UTF-8, 60,000 letters.
func TestHostileNames(t *testing.T) {
	b, err := os.ReadFile(demo + "kallsyms")
	if err != nil {
		t.Fatal(err)
	}
	long := strings.Repeat("x", 60_000) // more is refused by those who read symbols
	for _, name := range []string{"<script>alert(1)</script>", "a\x01\x1b[31m\x7f", "\xff\xfe\xfd", "</td>\"'&<img/src=x/onerror=alert(1)>", long} {
		text := regexp.MustCompile(`(?m)^(\S+ \S )\S+`).ReplaceAllStringFunc(string(b), func(s string) string { return s[:strings.LastIndex(s, " ")+1] + name })
		c := demoConfig()
		c.Kallsyms = filepath.Join(t.TempDir(), "kallsyms")
		if err := os.WriteFile(c.Kallsyms, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		v := serverOf(t, c)
		for _, path := range []string{"/api/steps?stream=1&after=40", "/api/pokes", "/api/poke?n=" + fmt.Sprint(v.pokes.list[0].Index), "/api/search?q=" + url.QueryEscape(name[:min(10, len(name))])} {
			w := v.get(t.Context(), path)
			if w.Code != 200 || !json.Valid(w.Body.Bytes()) || w.Header().Get("Content-Type") != "application/json" || bytes.Contains(w.Body.Bytes(), []byte("<")) || w.Body.Len() > 4<<20 {
				t.Errorf("%.20q: %s: %d, %d bytes: %.200q", name, path, w.Code, w.Body.Len(), w.Body)
			}
		}
	}
}

// TestPageMakesText would catch a page that makes markup of what it is given, or that
// asks others than this server.
func TestPageMakesText(t *testing.T) {
	bad := regexp.MustCompile(`innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc|setAttribute\('style|https?://`)
	fs.WalkDir(pageFiles, "page", func(path string, d fs.DirEntry, err error) error {
		if d.IsDir() {
			return err
		}
		b, err := fs.ReadFile(pageFiles, path)
		text := strings.ReplaceAll(string(b), "http://www.w3.org/2000/svg", "")
		if m := bad.FindString(text); m != "" || err != nil {
			t.Errorf("%s has %q (%v)", path, m, err)
		}
		return nil
	})
}

// TestClosedTab would catch work that goes on when nobody waits for it.
func TestClosedTab(t *testing.T) {
	c := decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86/tracepoints/perf.data")}
	v := serverOf(t, c)
	for _, path := range []string{"/api/density", "/api/poke?n=100", "/api/execution?addr=1"} {
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(30*time.Millisecond, stop)
		v.get(ctx, path)
		began := time.Now()
		v.work.Wait()
		if d := time.Since(began); d > time.Minute || len(v.flows) != 0 || v.whole.done {
			t.Errorf("%s: work went on for %v, %d flows are left", path, d, len(v.flows))
		}
	}
}

// TestExport would catch a page for a bug report that lacks a module or an answer, asks
// others, or lets a name end the element that holds the answers.
func TestExport(t *testing.T) {
	c := demoConfig()
	b, err := os.ReadFile(c.Kallsyms)
	if err != nil {
		t.Fatal(err)
	}
	c.Kallsyms = filepath.Join(t.TempDir(), "kallsyms")
	if err := os.WriteFile(c.Kallsyms, bytes.ReplaceAll(b, []byte("handle_event"), []byte("</script><b>")), 0o666); err != nil {
		t.Fatal(err)
	}
	v := serverOf(t, c)
	dir := t.TempDir()
	o := flags{export: filepath.Join(dir, "page.html"), svg: filepath.Join(dir, "p.svg"), poke: v.pokes.list[0].Index}
	if err := (exporter{v, exportSteps}).write(t.Context(), io.Discard, &o); err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(o.export)
	if err != nil {
		t.Fatal(err)
	}
	parts := regexp.MustCompile(`(?s)<script type="application/json" id="answers">(.*?)</script>\n<script type="module">(.*?)</script>\n</body>`).FindSubmatch(page)
	if parts == nil {
		t.Fatalf("no answers, or no script: %.300s", page)
	}
	var a answers
	if err := json.Unmarshal(parts[1], &a); err != nil || len(a.Steps) != 2 || len(a.Poke) == 0 || a.Density.Total == 0 {
		t.Errorf("answers: %v: %d streams, %d pokes", err, len(a.Steps), len(a.Poke))
	}
	if !bytes.Contains(page, []byte(onepage.Hash(string(parts[2])))) || regexp.MustCompile(`(?m)^(import|export) `).Match(parts[2]) {
		t.Error("the policy does not allow the script, or it imports what is not there")
	}
	files, _ := fs.Glob(pageFiles, "page/*.js")
	for _, f := range files {
		if !bytes.Contains(parts[2], []byte("const "+strings.TrimSuffix(filepath.Base(f), ".js")+"Module = ")) {
			t.Errorf("%s is not in the page", f)
		}
	}
	from, until := v.rec.From, v.rec.From+v.rec.length()/4
	part, err := exporter{v, exportSteps}.gatherAnswers(t.Context(), from, until)
	if d := ask[density](t, v, fmt.Sprintf("/api/density?from=%d&until=%d", from, until)); err != nil || part.Density.Total != d.Total || d.Total >= a.Density.Total {
		t.Errorf("a quarter of the time: %d instructions, the server counts %d (%v)", part.Density.Total, d.Total, err)
	}
	picture, err := os.ReadFile(o.svg)
	d := xml.NewDecoder(bytes.NewReader(picture))
	for err == nil {
		_, err = d.Token()
	}
	if err != io.EOF || !bytes.Contains(picture, []byte("poke")) {
		t.Errorf("picture: %v: %s", err, picture)
	}
}

// TestExportDense would catch a change around which so much ran that no page of it is made.
func TestExportDense(t *testing.T) {
	v := serverOf(t, demoConfig())
	var all, few bytes.Buffer
	o := flags{export: "-", poke: v.pokes.list[0].Index}
	if err := (exporter{v, exportSteps}).write(t.Context(), &all, &o); err != nil {
		t.Fatal(err)
	}
	if err := (exporter{v, 15}).write(t.Context(), &few, &o); err != nil || few.Len() >= all.Len() {
		t.Errorf("%d bytes where less fits, else %d: %v", few.Len(), all.Len(), err)
	}
	if o.time = "0,"; (exporter{v, 15}).write(t.Context(), &few, &o) == nil {
		t.Error("more than fits of the time that was asked for")
	}
}

// TestSearchThreads would catch a search of which the same threads are not found each time, and a thread that is not found
// as it is called.
func TestSearchThreads(t *testing.T) {
	v := serverOf(t, demoConfig())
	v.whole.h = &histogram{lanes: map[laneKey]*laneCounts{}}
	for tid := range int32(3 * maxFound) {
		v.whole.h.lanes[laneKey{-1, 1000 - tid}] = &laneCounts{comm: "worker"}
	}
	list := finder{v}.findThreads("worker")
	for i, f := range list {
		if want := 1000 - 3*maxFound + 1 + i; int(*f.TID) != want {
			t.Fatalf("number %d is thread %d, want %d", i, *f.TID, want)
		}
	}
	if len(list) != maxFound+1 {
		t.Errorf("%d threads", len(list))
	}
	for _, q := range []string{"900", "thread 900", "tid 900", "worker 900"} {
		if list := (finder{v}).findThreads(q); len(list) != 1 || *list[0].TID != 900 {
			t.Errorf("%s finds %+v", q, list)
		}
	}
}

// TestStepsKind would catch a kind of step that there is not, and that is looked for to the end.
func TestStepsKind(t *testing.T) {
	v := serverOf(t, demoConfig())
	for kind, code := range map[string]int{"": 200, "trap": 200, "gap": 200, "unsure": 200, "call": 400, "insn": 400} {
		if w := v.get(t.Context(), "/api/steps?stream=0&time=0&kind="+kind); w.Code != code {
			t.Errorf("kind %q: %d %s", kind, w.Code, w.Body)
		}
	}
}

// TestWrongRequest would catch a window that ends before it begins and is taken for another, and a kind of
// change that there is not, with a command that fails.
func TestWrongRequest(t *testing.T) {
	v := serverOf(t, demoConfig())
	for query, want := range map[string]string{
		"calls?from=0&until=0": "", "calls?from=1000": "", "calls?from=10000&until=0": "until=0 is before from=10000", "pokes?from=2&until=1": "until=1 is before from=2",
		"list?kind=jump-label": "", "list?kind=": "", "list?kind=nosuch": `kind=\"nosuch\": need one of unknown, `,
	} {
		code := map[bool]int{true: 200, false: 400}[want == ""]
		if w := v.get(t.Context(), "/api/"+query); w.Code != code || !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: %d %s, want %d and %q", query, w.Code, w.Body, code, want)
		}
	}
}

// TestSearchMore would catch a search that leaves out what it finds and does not say so.
func TestSearchMore(t *testing.T) {
	path := filepath.Join(testsize.Recordings(t), "kernel-pokes-x86/kprobes/perf.data")
	v := serverOf(t, decoder.Config{Recording: path})
	type answer struct {
		Found []found
		More  bool
	}
	for _, c := range []struct {
		q    string
		most int
		more bool
	}{{"jump-label", maxFound, true}, {"__SCT__tp_func_sched_wakeup", maxFound, false}} {
		a := ask[answer](t, v, "/api/search?q="+c.q)
		pokes := 0
		for _, f := range a.Found {
			if f.Kind == "poke" {
				pokes++
			}
		}
		if pokes == 0 || pokes > c.most || a.More != c.more {
			t.Errorf("%s: %d changes, more: %v", c.q, pokes, a.More)
		}
	}
}

// TestPlace would catch --poke and --time that the page passes over.
func TestPlace(t *testing.T) {
	v := serverOf(t, demoConfig())
	v.h.Times = func(*decoder.Session, string) (uint64, uint64, error) { return 5_000_001_000, 5_000_001_900, nil }
	for _, c := range []struct {
		o    flags
		want string
	}{
		{flags{poke: -1}, ""},
		{flags{poke: 0}, "#t=4.999999999,5.000001917&poke=0"},
		{flags{poke: -1, time: "5.000001,5.0000019"}, "#t=5.000001000,5.000001900"},
	} {
		if got, err := (exporter{v, exportSteps}).place(t.Context(), &c.o); err != nil || got != c.want {
			t.Errorf("%+v: %q, want %q (%v)", c.o, got, c.want, err)
		}
	}
	if _, err := (exporter{v, exportSteps}).place(t.Context(), &flags{poke: 99}); err == nil {
		t.Error("there is no change 99")
	}
}
