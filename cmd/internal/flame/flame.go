// Package flame makes flame graphs for the page of the verb view: how many instructions
// ran, by stacks of calls. It holds the graph as Nodes; the page draws them.
package flame

import (
	"cmp"
	"slices"
)

// Node is a function in a flame graph, as its callers called it.
type Node struct {
	Sym    string  `json:"sym"`
	Addr   string  `json:"addr,omitempty"` // of a function
	Calls  uint64  `json:"calls"`
	Self   uint64  `json:"self"`  // instructions
	Total  uint64  `json:"total"` // with callees
	Inside []*Node `json:"inside"`

	by map[string]*Node
}

// Nodes is the nodes of a flame graph: that of all first, callers before callees.
type Nodes []*Node

// New returns the nodes of an empty flame graph.
func New() Nodes { return Nodes{{Sym: "all", by: map[string]*Node{}}} }

// Child returns the node of a name inside of up; nil where there are too many.
func (l *Nodes) Child(up *Node, name string) *Node {
	x := up.by[name]
	if x == nil && len(*l) < maxNodes {
		x = &Node{Sym: name, Inside: []*Node{}, by: map[string]*Node{}}
		up.by[name], up.Inside = x, append(up.Inside, x)
		*l = append(*l, x)
		x.Total = uint64(len(*l) - 1) // its number, until all is known
	}
	return x
}

// maxNodes is how many nodes a flame graph has.
const maxNodes = 20_000

// Hot is a function of a flame graph, wherever it was called from.
type Hot struct {
	Sym   string `json:"sym"`
	Addr  string `json:"addr"`
	Calls uint64 `json:"calls"`
	Self  uint64 `json:"self"` // instructions
}

// maxHot is how many functions are named beside a flame graph.
const maxHot = 20

// Hottest returns the functions in which the most instructions ran, those of callees apart.
func Hottest(nodes Nodes) []Hot {
	by := map[string]*Hot{}
	for _, n := range nodes {
		if n.Addr == "" {
			continue
		}
		if by[n.Addr] == nil {
			by[n.Addr] = &Hot{Sym: n.Sym, Addr: n.Addr}
		}
		by[n.Addr].Calls += n.Calls
		by[n.Addr].Self += n.Self
	}
	list := []Hot{}
	for _, x := range by {
		list = append(list, *x)
	}
	slices.SortFunc(list, func(a, b Hot) int { return cmp.Or(cmp.Compare(b.Self, a.Self), cmp.Compare(a.Addr, b.Addr)) })
	return list[:min(len(list), maxHot)]
}

// Sum adds up what ran in n and inside.
func (n *Node) Sum() uint64 {
	n.Total = n.Self
	for _, x := range n.Inside {
		n.Total += x.Sum()
	}
	slices.SortFunc(n.Inside, func(a, b *Node) int { return cmp.Compare(b.Total, a.Total) })
	return n.Total
}

// Least leaves out what is too small to be seen.
func (n *Node) Least(size uint64) *Node {
	n.Inside = slices.DeleteFunc(n.Inside, func(x *Node) bool { return x.Total <= size })
	for _, x := range n.Inside {
		x.Least(size)
	}
	if n.Inside == nil {
		n.Inside = []*Node{}
	}
	return n
}
