package view

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/ptdecode/ptdecode/cmd/internal/items"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// What an exported page holds at most.
const (
	exportSteps = 60_000 // of all streams
	exportPokes = 400
)

// exporter writes files instead of answers.
type exporter struct {
	*server
	most uint64 // instructions in a page
}

// answers is what an exported page knows: what the server would answer.
type answers struct {
	Recording *recording           `json:"recording"`
	Density   *density             `json:"density"`
	Pokes     any                  `json:"pokes"`
	Counts    any                  `json:"counts"`
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
	q, err := v.within(from, until)
	if err == nil {
		err = v.flow(asked(ctx), q, h)
	}
	if err != nil {
		return nil, err
	}
	h.end()
	a.Density = h.density(from, until)
	a.Density.Done, a.Density.Part, a.Density.Command = true, 1, v.summaryCall(from, until)
	if a.Density.Total > v.most {
		return nil, &decoder.CallError{What: fmt.Sprintf("--export: %d instructions ran in the window, at most %d fit in a page; make --time shorter", a.Density.Total, v.most)}
	}
	return a, v.gatherWindow(ctx, a, from, until)
}

// gatherWindow answers what can be asked of a window.
func (v exporter) gatherWindow(ctx context.Context, a *answers, from, until uint64) (err error) {
	window := asked(ctx, "from", from, "until", until)
	if a.Pokes, err = v.answerPokes(window); err != nil {
		return err
	}
	if a.Counts, err = v.answerCounts(window); err != nil {
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
		w := &items.Walk{Before: 0, After: 2 * exportSteps, Anchor: func(it *items.Item) bool { return v.rec.axis(it) >= from }}
		w.Each = func(it *items.Item) bool {
			if t := v.rec.axis(it); t >= from && t <= until {
				w.List = append(w.List, *it)
			}
			return len(w.List) < w.After
		}
		if err := v.flow(asked(ctx), decoder.Query{Streams: []int{st.Index}, Bounds: true, From: v.rec.base + from, Until: v.rec.base + until}, w); err != nil {
			return err
		}
		a.Steps[st.Index] = &stepsAnswer{Stream: st.Index, Found: true, Steps: v.named(st, w.List), Command: v.stepsCall(st, w.List)}
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
	began := items.Numbering{}
	tree := &calls.Tree{Session: v.s, OnRestart: func() bool {
		clear(by)
		clear(began)
		return true
	}}
	tree.OnBegin = began.Tag
	q, err := v.withinCalls(from, until)
	if err != nil {
		return err
	}
	tree.OnEnd = func(c *calls.Call) {
		if !reaches(&q, c) {
			return
		}
		f := by[c.Addr]
		if f == nil {
			f = &functionStats{callers: map[string]uint64{}}
			by[c.Addr] = f
		}
		f.add(v.rec, c)
	}
	if err := v.flow(asked(ctx), q, tree); err != nil {
		return err
	}
	tree.Close()
	for addr, f := range by {
		a.Function[hex16(addr)] = f.answer(v.server, addr, from, until)
	}
	return nil
}
