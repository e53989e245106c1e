package view

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// What an exported page holds at most.
const (
	exportSteps = 60_000 // of all streams
	exportPokes = 400
)

// exporter writes files instead of answers.
type exporter struct{ *server }

// answers is what an exported page knows: what the server would answer.
type answers struct {
	Recording *recording           `json:"recording"`
	Density   *density             `json:"density"`
	Pokes     any                  `json:"pokes"`
	Poke      map[int]any          `json:"poke"`
	Steps     map[int]any          `json:"steps"` // by stream
	Calls     any                  `json:"calls"`
	Flame     any                  `json:"flame"`
	Function  map[string]*function `json:"function"` // by address
}

// asked is a request that no browser made.
func asked(ctx context.Context, params ...any) *request {
	q := url.Values{}
	for i := 0; i+1 < len(params); i += 2 {
		q.Set(fmt.Sprint(params[i]), fmt.Sprint(params[i+1]))
	}
	return &request{Request: (&http.Request{URL: &url.URL{}}).WithContext(ctx), query: q}
}

// gatherAnswers answers all that a page of a window may ask.
func (v exporter) gatherAnswers(ctx context.Context, from, until uint64) (*answers, error) {
	rec := *v.rec
	rec.From, rec.Until, rec.Command = from, until, v.call("view", "--export", "page.html", "--time", v.rec.span(from, until))
	a := &answers{Recording: &rec, Poke: map[int]any{}, Steps: map[int]any{}, Function: map[string]*function{}}
	h := newHistogram(v.server, from, until, (until-from)/2000+1, 2001)
	q := decoder.Query{Bounds: true, From: v.rec.base + from, Until: v.rec.base + until}
	if err := v.flow(asked(ctx), q, h); err != nil {
		return nil, err
	}
	h.end()
	a.Density = h.density(from, until)
	a.Density.Done, a.Density.Part, a.Density.Command = true, 1, v.summaryCall(from, until)
	if a.Density.Total > exportSteps {
		return nil, &decoder.CallError{What: fmt.Sprintf("--export: %d instructions ran in the window, at most %d fit in a page; make --time shorter", a.Density.Total, exportSteps)}
	}
	return a, v.gatherWindow(ctx, a, from, until)
}

// gatherWindow answers what can be asked of a window.
func (v exporter) gatherWindow(ctx context.Context, a *answers, from, until uint64) (err error) {
	window := asked(ctx, "from", from, "until", until)
	if a.Pokes, err = v.answerPokes(window); err != nil {
		return err
	}
	marks := a.Pokes.(*pokesAnswer).Pokes
	a.Recording.Pokes = len(marks)
	for _, p := range marks[:min(len(marks), exportPokes)] {
		if a.Poke[p.Index], err = v.answerPoke(asked(ctx, "n", p.Index)); err != nil {
			return err
		}
	}
	for _, st := range v.s.Streams() {
		w := &walk{before: 0, after: 2 * exportSteps, anchor: func(it *item) bool { return v.rec.axis(it) >= from }}
		w.each = func(it *item) bool {
			if t := v.rec.axis(it); t >= from && t <= until {
				w.list = append(w.list, *it)
			}
			return len(w.list) < w.after
		}
		if err := v.flow(asked(ctx), decoder.Query{Streams: []int{st.Index}, Bounds: true, From: v.rec.base + from, Until: v.rec.base + until}, w); err != nil {
			return err
		}
		a.Steps[st.Index] = &stepsAnswer{Stream: st.Index, Found: true, Steps: v.named(st, w.list), Command: v.stepsCall(st, w.list)}
	}
	if a.Calls, err = v.answerCalls(window); err != nil {
		return err
	}
	if a.Flame, err = v.answerFlame(window); err != nil {
		return err
	}
	return v.gatherFunctions(ctx, a, from, until)
}

// gatherFunctions counts the calls of all functions in a window.
func (v exporter) gatherFunctions(ctx context.Context, a *answers, from, until uint64) error {
	by := map[uint64]*functionStats{}
	tree := &calls.Tree{Session: v.s, OnRestart: func() bool { clear(by); return true }}
	tree.OnEnd = func(c *calls.Call) {
		f := by[c.Addr]
		if f == nil {
			f = &functionStats{callers: map[string]uint64{}}
			by[c.Addr] = f
		}
		f.add(c)
	}
	if err := v.flow(asked(ctx), decoder.Query{Merged: true, From: v.rec.base + from, Until: v.rec.base + until}, tree); err != nil {
		return err
	}
	tree.Close()
	for addr, f := range by {
		a.Function[hex16(addr)] = f.answer(v.server, addr, from, until)
	}
	return nil
}

// modules are the page's scripts, in the order in which one needs the other.
var modules = []string{"dom", "format", "kept", "api", "slices", "timeline", "play", "story", "steps", "call", "flame", "search", "help", "main"}

// imports and exports are what makes a module of a script: each on a line of its own.
var (
	imports = regexp.MustCompile(`(?m)^import ({.*}) from '\./(\w+)\.js';$`)
	exports = regexp.MustCompile(`(?m)^export ((?:async )?(?:function|class|const) (\w+))`)
)

// oneScript makes one script of the page's modules. Each becomes a function that returns
// what it exports.
func oneScript() (string, error) {
	var out strings.Builder
	for _, m := range modules {
		b, err := pageFiles.ReadFile("page/" + m + ".js")
		if err != nil {
			return "", err
		}
		var names []string
		for _, x := range exports.FindAllSubmatch(b, -1) {
			names = append(names, string(x[2]))
		}
		b = exports.ReplaceAll(imports.ReplaceAll(b, []byte("const ${1} = ${2}Module;")), []byte("$1"))
		fmt.Fprintf(&out, "const %sModule = (() => {\n%sreturn {%s};\n})();\n", m, b, strings.Join(names, ", "))
	}
	return out.String(), nil
}

// writePage writes one file with the page and its answers, that needs no server.
func writePage(w io.Writer, a *answers) error {
	script, err := oneScript()
	if err != nil {
		return err
	}
	style, err := pageFiles.ReadFile("page/style.css")
	if err != nil {
		return err
	}
	page, err := pageFiles.ReadFile("page/index.html")
	if err != nil {
		return err
	}
	var kept bytes.Buffer // with < as an escape: it ends no element
	if err := json.NewEncoder(&kept).Encode(a); err != nil {
		return err
	}
	rule := fmt.Sprintf("default-src 'none'; script-src '%s'; style-src '%s'; base-uri 'none'; form-action 'none'", hashOf(script), hashOf(string(style)))
	_, err = strings.NewReplacer(
		`<meta charset="utf-8">`, `<meta charset="utf-8">`+"\n"+`<meta http-equiv="Content-Security-Policy" content="`+rule+`">`,
		`<link rel="icon" href="icon.svg">`+"\n", "",
		`<link rel="stylesheet" href="style.css">`, "<style>"+string(style)+"</style>",
		`<script type="module" src="main.js"></script>`, "",
		`</body>`, `<script type="application/json" id="answers">`+kept.String()+"</script>\n<script type=\"module\">"+script+"</script>\n</body>",
	).WriteString(w, string(page))
	return err
}

// hashOf names an inline script or style in a policy.
func hashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
