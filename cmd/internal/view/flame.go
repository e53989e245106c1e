package view

import (
	"cmp"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/flame"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// answerFlame answers /api/flame: how many instructions ran, by stacks of calls.
func (v *server) answerFlame(r *request) (any, error) {
	q, from, until, err := r.calls(v)
	if err != nil {
		return nil, err
	}
	nodes := flame.New()
	window := q // as export folded has it
	tree := &calls.Tree{Session: v.s, From: q.From, Until: q.Until}
	if q.From != 0 {
		q.From = filter.Lead(q.From)
	}
	var place func(c, front *calls.Call) *flame.Node // of c's stack, under the name of the thread of the call in front
	place = func(c, front *calls.Call) *flame.Node {
		up := nodes[0]
		if caller := c.Caller; caller != nil {
			if up = nodes[caller.Tag]; caller.Comm != front.Comm {
				up = cmp.Or(place(caller, front), nodes[0])
			}
		} else if x := nodes.Child(up, clean(cmp.Or(front.Comm, c.Stream.Name))); x != nil {
			if up = x; window.From != 0 && c.How == calls.Unseen {
				up = cmp.Or(nodes.Child(x, filter.NotSeen), x)
			}
		}
		x := nodes.Child(up, clean(callName(c)))
		if x != nil {
			x.Addr = hex16(c.Addr)
		}
		return x
	}
	tree.OnBegin = func(c *calls.Call) {
		if x := place(c, c); x != nil {
			c.Tag = x.Total
		}
	}
	tree.OnEnd = func(c *calls.Call) {
		if reaches(&window, c) && c.Ran {
			nodes[c.Tag].Calls += c.Times
		}
		nodes[c.Tag].Self += c.Self // of the window
	}
	tree.OnRestart = func() bool {
		nodes = flame.New()
		return true
	}
	if err := v.flow(r, q, tree); err != nil {
		return nil, err
	}
	tree.Close()
	nodes[0].Sum()
	args := []string{"-o", "folded:-", "--with-ambiguous"}
	if window.Until != 0 {
		args = append(args, "--time", v.rec.span(from, until))
	}
	hot := flame.Hottest(nodes)
	return &struct {
		Root    *flame.Node `json:"root"`
		Hot     []flame.Hot `json:"hot"` // by what ran in them, the most first
		Command string      `json:"command"`
	}{nodes[0].Least(nodes[0].Total / 2000), hot, v.call("export", args...)}, nil
}
