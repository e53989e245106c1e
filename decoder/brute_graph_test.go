package decoder

import (
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
)

// bruteNode is a state that flows reach, with what follows. Flows that come to
// the same state go on alike, so a segment's flows are the paths of a graph.
type bruteNode struct {
	state bruteState
	pos   int
	edges []bruteWay
	live  bool // the segment's end can be reached from here
	gate  bool // every flow that fits has a state at pos
}

// bruteWay is an edge of the graph.
type bruteWay struct {
	to     *bruteNode
	ips    []uint64
	visits int
	wild   int
}

// bruteGraph is all flows that fit a segment.
type bruteGraph struct {
	start *bruteNode
	nodes []*bruteNode // by pos
	evs   []event.Event
	whole bool // no bound was met
}

// Bounds of a graph: states at one place of the trace, and states in all.
const (
	maxBruteBreadth = 256
	maxBruteNodes   = 1 << 15
)

// graph follows every flow over evs.
func (b *brute) graph(evs []event.Event) *bruteGraph {
	b.evs, b.trapAt = evs, -1
	for i := range evs {
		if b.isTrap(&evs[i]) {
			b.trapAt = i
		}
	}
	g := &bruteGraph{start: &bruteNode{state: bruteState{mode: b.mode}}, evs: evs, whole: true}
	layers := map[int][]*bruteNode{0: {g.start}}
	have := map[string]*bruteNode{}
	for pos := 0; pos <= len(evs)<<7; pos++ {
		layer, ok := layers[pos]
		if !ok {
			continue
		}
		delete(layers, pos)
		if len(layer) > maxBruteBreadth || len(g.nodes) > maxBruteNodes {
			g.whole = false
			return g
		}
		g.nodes = append(g.nodes, layer...)
		for _, n := range layer {
			if n.state.ev == len(evs) && n.state.n == 0 {
				n.live = true
				continue
			}
			for _, e := range b.next(n.state) {
				k := e.to.key()
				to := have[k]
				if to == nil {
					to = &bruteNode{state: e.to, pos: e.to.pos()}
					have[k] = to
					layers[to.pos] = append(layers[to.pos], to)
				}
				n.edges = append(n.edges, bruteWay{to, e.ips, e.visits, e.wild})
			}
		}
	}
	g.prune()
	return g
}

// prune drops what does not lead to the segment's end, and finds the gates.
func (g *bruteGraph) prune() {
	for i := len(g.nodes) - 1; i >= 0; i-- {
		n := g.nodes[i]
		n.edges = slices.DeleteFunc(n.edges, func(w bruteWay) bool { return !w.to.live })
		n.live = n.live || len(n.edges) > 0
	}
	g.nodes = slices.DeleteFunc(g.nodes, func(n *bruteNode) bool { return !n.live })
	far := 0
	for i, n := range g.nodes {
		if n.gate = far <= n.pos; i > 0 && g.nodes[i-1].pos == n.pos {
			n.gate = g.nodes[i-1].gate
		}
		for _, w := range n.edges {
			far = max(far, w.to.pos)
		}
	}
}

// bruteMark is where a flow given as addresses stands at a node.
type bruteMark struct {
	node *bruteNode
	at   int  // of the addresses: how many are used
	wild bool // it was come to by instructions that nobody knows
}

// trace finds a path of the graph that retires ips, the marks along it, or nil.
// Where an overflow is used, lost says from where on ips may go on instead. With
// shown, ips is what the decoder gives, gaps left out.
func (g *bruteGraph) trace(ips []uint64, lost []sim.Lost, shown bool) []bruteMark {
	if !g.start.live {
		return nil
	}
	seen := map[bruteMark]bool{}
	path := []bruteMark{}
	var visit func(m bruteMark) bool
	visit = func(m bruteMark) bool {
		if seen[m] {
			return false
		}
		seen[m] = true
		path = append(path, m)
		if m.node.state.ev == len(g.evs) && (m.at == len(ips) || hasLost(lost, m.at, len(ips))) {
			return true
		}
		for _, w := range m.node.edges {
			k := len(w.ips)
			if shown && w.to.state.ev > 0 && g.evs[w.to.state.ev-1].Kind == event.Quiet {
				for n := 0; n <= k+w.wild && m.at+n <= len(ips); n++ { // some of them may be told of by a gap
					if (w.wild > 0 || within(ips[m.at:m.at+n], w.ips)) && visit(bruteMark{w.to, m.at + n, n != k || w.wild > 0}) {
						return true
					}
				}
				continue
			}
			if m.at+k > len(ips) || !slices.Equal(ips[m.at:m.at+k], w.ips) {
				continue
			}
			for n := 0; n <= w.wild && m.at+k+n <= len(ips); n++ {
				if visit(bruteMark{w.to, m.at + k + n, w.wild > 0}) {
					return true
				}
			}
			if e := &g.evs[w.to.state.ev-1]; e.Kind != event.Overflow && e.Kind != event.Sync && e.Kind != event.Enable {
				continue
			}
			for _, l := range lost {
				if l.To >= m.at+k && visit(bruteMark{w.to, l.To, false}) {
					return true
				}
			}
		}
		path = path[:len(path)-1]
		return false
	}
	if !visit(bruteMark{g.start, 0, false}) {
		return nil
	}
	return path
}

// within reports whether all of a stands in b, in the same order.
func within(a, b []uint64) bool {
	for _, x := range b {
		if len(a) > 0 && a[0] == x {
			a = a[1:]
		}
	}
	return len(a) == 0
}

// hasLost reports whether all of [from, to) may be lost.
func hasLost(lost []sim.Lost, from, to int) bool {
	for _, l := range lost {
		if l.From <= from && to <= l.To {
			return true
		}
	}
	return false
}

// gate returns the last gate not behind pos (step -1) or the first not before
// it (step 1).
func (g *bruteGraph) gate(pos, step int) *bruteNode {
	best := g.nodes[0]
	if step > 0 {
		best = g.nodes[len(g.nodes)-1]
	}
	for _, n := range g.nodes {
		if n.gate && (step < 0 && n.pos <= pos && n.pos > best.pos || step > 0 && n.pos >= pos && n.pos < best.pos) {
			best = n
		}
	}
	return best
}

// flows returns what the flows that fit retire between two gates, each once;
// visits is how many contested instructions the one with the most has. ok is
// false where there are too many.
func (g *bruteGraph) flows(from, to *bruteNode) (out [][]uint64, visits int, ok bool) {
	seen := map[string]bool{}
	steps := 0
	var visit func(n *bruteNode, ips []uint64, v int) bool
	visit = func(n *bruteNode, ips []uint64, v int) bool {
		if steps++; steps > maxBrutePaths {
			return false
		}
		if n.pos == to.pos {
			visits = max(visits, v)
			k := bruteState{stack: ips}
			if s := k.key(); !seen[s] {
				seen[s] = true
				out = append(out, slices.Clone(ips))
			}
			return true
		}
		for _, w := range n.edges {
			if !visit(w.to, append(slices.Clip(ips), w.ips...), v+w.visits) {
				return false
			}
		}
		return true
	}
	ok = true
	for _, n := range g.nodes {
		if n.pos == from.pos {
			ok = ok && visit(n, nil, 0)
		}
	}
	return out, visits, ok
}

// maxBrutePaths bounds the steps of listing the flows between two gates.
const maxBrutePaths = 1 << 16

// apart returns where a differs from b: differs[i] says that a[i] is not in b,
// or that b has something more just before or behind it.
func apart(a, b []uint64) (differs []bool) {
	differs = make([]bool, len(a))
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	m := 0
	for m < len(a)-n && m < len(b)-n && a[len(a)-1-m] == b[len(b)-1-m] {
		m++
	}
	x, y := a[n:len(a)-m], b[n:len(b)-m]
	long := make([][]int32, len(x)+1) // what x[i:] and y[j:] share at most
	for i := range long {
		long[i] = make([]int32, len(y)+1)
	}
	for i := len(x) - 1; i >= 0; i-- {
		for j := len(y) - 1; j >= 0; j-- {
			if long[i][j] = max(long[i+1][j], long[i][j+1]); x[i] == y[j] {
				long[i][j] = long[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < len(x) || j < len(y); {
		switch {
		case i < len(x) && j < len(y) && x[i] == y[j] && long[i][j] == long[i+1][j+1]+1:
			i, j = i+1, j+1
		case j < len(y) && (i == len(x) || long[i][j+1] >= long[i+1][j]):
			if n+i > 0 {
				differs[n+i-1] = true
			}
			if n+i < len(a) {
				differs[n+i] = true
			}
			j++
		default:
			differs[n+i] = true
			i++
		}
	}
	return differs
}

// firstAt returns the first of want that executed at or after t.
func firstAt(want []sim.Retired, t uint64) int {
	return sort.Search(len(want), func(j int) bool { return want[j].Time >= t })
}
