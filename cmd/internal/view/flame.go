package view

import (
	"cmp"
	"slices"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/decoder/calls"
)

// node is a function in a flame graph, as its callers called it.
type node struct {
	Sym    string  `json:"sym"`
	Addr   string  `json:"addr,omitempty"` // of a function
	Calls  uint64  `json:"calls"`
	Self   uint64  `json:"self"`  // instructions
	Total  uint64  `json:"total"` // with callees
	Inside []*node `json:"inside"`

	by map[string]*node
}

// nodes is the nodes of a flame graph: that of all first, callers before callees.
type nodes []*node

// newNodes returns the nodes of an empty flame graph.
func newNodes() nodes { return nodes{{Sym: "all", by: map[string]*node{}}} }

// child returns the node of a name inside of up; nil where there are too many.
func (l *nodes) child(up *node, name string) *node {
	x := up.by[name]
	if x == nil && len(*l) < maxNodes {
		x = &node{Sym: name, Inside: []*node{}, by: map[string]*node{}}
		up.by[name], up.Inside = x, append(up.Inside, x)
		*l = append(*l, x)
		x.Total = uint64(len(*l) - 1) // its number, until all is known
	}
	return x
}

// maxNodes is how many nodes a flame graph has.
const maxNodes = 20_000

// answerFlame answers /api/flame: how many instructions ran, by stacks of calls.
func (v *server) answerFlame(r *request) (any, error) {
	q, from, until, err := r.calls(v)
	if err != nil {
		return nil, err
	}
	nodes := newNodes()
	window := q // as export folded has it
	tree := &calls.Tree{Session: v.s, From: q.From, Until: q.Until}
	if q.From != 0 {
		q.From = filter.Lead(q.From)
	}
	tree.OnBegin = func(c *calls.Call) {
		up := nodes[0]
		if c.Caller != nil {
			up = nodes[c.Caller.Tag]
		} else if x := nodes.child(up, clean(cmp.Or(c.Comm, c.Stream.Name))); x != nil {
			if up = x; window.From != 0 && c.How == calls.Unseen {
				up = cmp.Or(nodes.child(x, filter.NotSeen), x)
			}
		}
		if x := nodes.child(up, clean(callName(c))); x != nil {
			c.Tag, x.Addr = x.Total, hex16(c.Addr)
		}
	}
	tree.OnEnd = func(c *calls.Call) {
		if reaches(&window, c) && c.Ran {
			nodes[c.Tag].Calls += c.Times
		}
		nodes[c.Tag].Self += c.Self // of the window
	}
	tree.OnRestart = func() bool {
		nodes = newNodes()
		return true
	}
	if err := v.flow(r, q, tree); err != nil {
		return nil, err
	}
	tree.Close()
	nodes[0].sum()
	args := []string{"-o", "folded:-", "--with-ambiguous"}
	if window.Until != 0 {
		args = append(args, "--time", v.rec.span(from, until))
	}
	hot := hottest(nodes)
	return &struct {
		Root    *node     `json:"root"`
		Hot     []hotName `json:"hot"` // by what ran in them, the most first
		Command string    `json:"command"`
	}{nodes[0].least(nodes[0].Total / 2000), hot, v.call("export", args...)}, nil
}

// hotName is a function of a flame graph, wherever it was called from.
type hotName struct {
	Sym   string `json:"sym"`
	Addr  string `json:"addr"`
	Calls uint64 `json:"calls"`
	Self  uint64 `json:"self"` // instructions
}

// maxHot is how many functions are named beside a flame graph.
const maxHot = 20

// hottest returns the functions in which the most instructions ran, those of callees apart.
func hottest(nodes nodes) []hotName {
	by := map[string]*hotName{}
	for _, n := range nodes {
		if n.Addr == "" {
			continue
		}
		if by[n.Addr] == nil {
			by[n.Addr] = &hotName{Sym: n.Sym, Addr: n.Addr}
		}
		by[n.Addr].Calls += n.Calls
		by[n.Addr].Self += n.Self
	}
	list := []hotName{}
	for _, x := range by {
		list = append(list, *x)
	}
	slices.SortFunc(list, func(a, b hotName) int { return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(a.Addr, b.Addr)) })
	return list[:min(len(list), maxHot)]
}

// sum adds up what ran in n and inside.
func (n *node) sum() uint64 {
	n.Total = n.Self
	for _, x := range n.Inside {
		n.Total += x.sum()
	}
	slices.SortFunc(n.Inside, func(a, b *node) int { return cmp.Compare(b.Total, a.Total) })
	return n.Total
}

// least leaves out what is too small to be seen.
func (n *node) least(size uint64) *node {
	n.Inside = slices.DeleteFunc(n.Inside, func(x *node) bool { return x.Total <= size })
	for _, x := range n.Inside {
		x.least(size)
	}
	if n.Inside == nil {
		n.Inside = []*node{}
	}
	return n
}
