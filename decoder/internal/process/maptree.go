package process

import "slices"

// mapTree is mappings by address: a segment tree, so that asking about one
// mapping among n costs log n steps, in whatever order they were made. Its leaves
// are the stretches between two neighbours in bounds. Node i has the children 2i
// and 2i+1, the root is 1, and the leaves come last.
type mapTree struct {
	bounds []uint64 // where mappings begin and end, sorted
	leaves int      // a power of two, at least len(bounds)
	steps  int      // nodes looked at while it was built

	// Which mappings cover a whole node but not its whole parent: those of node i
	// are maps[first[i]:first[i+1]], in the order in which they were made.
	first, maps []int32

	building *treeBuilding // nil once sealed
}

// treeBuilding is what a mapTree needs until it is sealed.
type treeBuilding struct {
	numbers map[origin]int32 // from 1
	covers  []int32          // by node: the origin of all mappings that cover it whole; or noOrigin, manyOrigins
	within  []int32          // by node: the same of all mappings that touch it
	added   []nodeMap
}

// origin is what decides whether a mapping shows the same bytes as another.
type origin struct {
	path, buildID string
	start         uint64 // address at which the file's first byte would lie
	exec          bool
}

// What stands for origins where there is not just one.
const (
	noOrigin    = 0
	manyOrigins = -1
)

// nodeMap is a mapping, by index, that covers a node.
type nodeMap struct{ node, index int32 }

// newMapTree returns a tree without mappings. Those in lists may be added.
func newMapTree(lists ...[]Mapping) mapTree {
	t := mapTree{leaves: 1, building: &treeBuilding{numbers: map[origin]int32{}}}
	for _, l := range lists {
		for i := range l {
			t.bounds = append(t.bounds, l[i].Addr, l[i].Addr+l[i].Len)
		}
	}
	slices.Sort(t.bounds)
	t.bounds = slices.Compact(t.bounds)
	for t.leaves < len(t.bounds) {
		t.leaves *= 2
	}
	t.building.covers = make([]int32, 2*t.leaves)
	t.building.within = make([]int32, 2*t.leaves)
	return t
}

// leaf returns the node of the stretch that addr lies in; ok is false if it lies
// before all of them.
func (t *mapTree) leaf(addr uint64) (node int, ok bool) {
	i, found := slices.BinarySearch(t.bounds, addr)
	if !found {
		i--
	}
	return t.leaves + i, i >= 0
}

// over calls visit for the fewest nodes that make up the leaves from to to, and
// above for each node that holds the first or the last of them.
func (t *mapTree) over(from, to int, visit, above func(node int)) {
	for l, r := from, to+1; l < r; l, r = l/2, r/2 {
		if l%2 == 1 {
			visit(l)
			l++
		}
		if r%2 == 1 {
			r--
			visit(r)
		}
	}
	for ; from > 0; from, to = from/2, to/2 {
		above(from)
		if t.steps++; to != from {
			above(to)
			t.steps++
		}
	}
}

// ends returns the first and the last leaf of m, and the number of its origin.
func (t *mapTree) ends(m *Mapping) (from, to int, number int32) {
	from, _ = t.leaf(m.Addr)
	to, _ = t.leaf(m.Addr + m.Len - 1)
	o := origin{m.Path, string(m.BuildID), m.Addr - m.Off, m.Exec}
	number, known := t.building.numbers[o]
	if !known {
		number = int32(len(t.building.numbers)) + 1
		t.building.numbers[o] = number
	}
	return from, to, number
}

// add adds m, the mapping with that index.
func (t *mapTree) add(m *Mapping, index int32) {
	from, to, number := t.ends(m)
	b := t.building
	join := func(at *int32) {
		if *at == noOrigin {
			*at = number
		} else if *at != number {
			*at = manyOrigins
		}
	}
	t.over(from, to, func(node int) {
		b.added = append(b.added, nodeMap{int32(node), index})
		join(&b.covers[node])
		join(&b.within[node])
	}, func(node int) { join(&b.within[node]) })
}

// replaces reports whether m lies where other text was.
func (t *mapTree) replaces(m *Mapping) bool {
	from, to, number := t.ends(m)
	found := false
	other := func(at int32) { found = found || at != noOrigin && at != number }
	t.over(from, to, func(node int) { other(t.building.within[node]) }, func(node int) { other(t.building.covers[node]) })
	return found
}

// seal ends the building. Only then latest and all work.
func (t *mapTree) seal() {
	t.first = make([]int32, 2*t.leaves+1)
	for _, a := range t.building.added {
		t.first[a.node+1]++
	}
	for i := 1; i < len(t.first); i++ {
		t.first[i] += t.first[i-1]
	}
	t.maps = make([]int32, len(t.building.added))
	next := slices.Clone(t.first)
	for _, a := range t.building.added {
		t.maps[next[a.node]] = a.index
		next[a.node]++
	}
	t.building = nil
}

// latest returns the index of the newest of the first n mappings that addr lies
// in, -1 if there is none, and how many nodes it looked at.
func (t *mapTree) latest(addr uint64, n int) (index int32, steps int) {
	index = -1
	node, ok := t.leaf(addr)
	for ; ok && node > 0; node /= 2 {
		steps++
		here := t.maps[t.first[node]:t.first[node+1]]
		if i, _ := slices.BinarySearch(here, int32(n)); i > 0 {
			index = max(index, here[i-1])
		}
	}
	return index, steps
}

// all calls visit with the index of each mapping that addr lies in.
func (t *mapTree) all(addr uint64, visit func(index int32)) {
	node, ok := t.leaf(addr)
	for ; ok && node > 0; node /= 2 {
		for _, i := range t.maps[t.first[node]:t.first[node+1]] {
			visit(i)
		}
	}
}
