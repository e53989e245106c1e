package diff

import (
	"cmp"
	"maps"
	"slices"
)

// Difference is something that only one recording executed, or that both did and not
// alike. As JSON it is the object of type "difference" (docs/formats/output.md).
type Difference struct {
	Type   string `json:"type"`
	Change string `json:"change"` // "removed": only A ran it; "added": only B did; "changed"
	Kind   string `json:"kind"`   // "function", "code", "edge"; of changes "calls", "instructions", "time"
	Sym    string `json:"sym,omitempty"`
	File   string `json:"file,omitempty"` // a module in brackets, or a program's file
	Off    uint64 `json:"off"`            // bytes, of code and edges
	End    uint64 `json:"end,omitempty"`  // bytes, of code: behind its last instruction
	ToSym  string `json:"to_sym,omitempty"`
	ToFile string `json:"to_file,omitempty"`
	ToOff  uint64 `json:"to_off,omitempty"` // bytes
	Insns  int    `json:"insns,omitempty"`  // of code: how many instructions
	A      uint64 `json:"a"`                // how often, of times ns
	B      uint64 `json:"b"`

	rank int
}

// The ranks of differences, the order in which they are listed.
const (
	rankFunction = iota
	rankCode
	rankEdge
	rankChanged
)

// compare lists what differs between a and b. Counts differ where the smaller one lacks
// more than threshold percent of the larger one.
func compare(a, b *side, threshold float64, times bool) []Difference {
	m := &comparison{a: a, b: b, threshold: threshold}
	both := map[function]bool{}
	for f := range a.functions {
		both[f] = true
	}
	for f := range b.functions {
		both[f] = true
	}
	for f := range both {
		m.function(f, times)
	}
	m.edges()
	slices.SortFunc(m.out, func(x, y Difference) int {
		return cmp.Or(cmp.Compare(x.rank, y.rank), cmp.Compare(x.File, y.File), cmp.Compare(x.Sym, y.Sym), cmp.Compare(x.Off, y.Off),
			cmp.Compare(x.ToSym, y.ToSym), cmp.Compare(x.ToOff, y.ToOff), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Change, y.Change))
	})
	return m.out
}

// comparison is a comparison under way.
type comparison struct {
	a, b      *side
	threshold float64 // percent
	out       []Difference
}

// add adds d.
func (m *comparison) add(d Difference, rank int, kind string, a, b uint64) {
	d.Type, d.Kind, d.rank, d.A, d.B = "difference", kind, rank, a, b
	if d.Change == "" {
		d.Change = "changed"
	}
	m.out = append(m.out, d)
}

// onlyOne returns which recording alone executed something: "" where it is not known of
// one, or both did.
func onlyOne(a, b tally) string {
	switch {
	case a.sure > 0 && b.all() == 0:
		return "removed"
	case b.sure > 0 && a.all() == 0:
		return "added"
	}
	return ""
}

// poked reports whether a change of either recording replaces the byte at p.
func (m *comparison) poked(p place) bool { return m.a.poked[p] || m.b.poked[p] }

// function compares one function.
func (m *comparison) function(f function, times bool) {
	callsA, insnsA := m.a.entered(f)
	callsB, insnsB := m.b.entered(f)
	d := Difference{Sym: f.sym, File: f.file}
	if d.Change = onlyOne(insnsA, insnsB); d.Change != "" {
		x := m.a.functions[f]
		if d.Change == "added" {
			x = m.b.functions[f]
		}
		for off := range x {
			if !m.poked(place{f, off}) {
				d.Insns = len(x)
				m.add(d, rankFunction, "function", callsA.all(), callsB.all())
				return
			}
		}
		return
	}
	if insnsA.all() == 0 || insnsB.all() == 0 {
		return
	}
	m.code(f)
	switch {
	case callsA.all() > 0 && callsB.all() > 0 && m.beyond(float64(callsA.all()), float64(callsB.all())):
		m.add(d, rankChanged, "calls", callsA.all(), callsB.all())
	default:
		if na, nb := m.shared(f); m.beyond(float64(na), float64(nb)) {
			m.add(d, rankChanged, "instructions", na, nb)
		}
	}
	if ta, tb := m.a.times[f], m.b.times[f]; times && max(ta, tb)-min(ta, tb) >= 1 && m.beyond(ta, tb) { // they are sums of shares, in any order
		m.add(d, rankChanged, "time", uint64(ta), uint64(tb))
	}
}

// shared returns how often each executed those instructions of a function that both did.
func (m *comparison) shared(f function) (a, b uint64) {
	for off, x := range m.a.functions[f] {
		if y := m.b.functions[f][off]; y != nil && x.all() > 0 && y.all() > 0 {
			a, b = a+x.all(), b+y.all()
		}
	}
	return a, b
}

// beyond reports whether two numbers differ by more than the threshold.
func (m *comparison) beyond(a, b float64) bool {
	return max(a, b)-min(a, b) > max(a, b)*m.threshold/100
}

// code lists the instructions of a function, which both executed, that only one did:
// those that follow each other are one difference.
func (m *comparison) code(f function) {
	x, y := m.a.functions[f], m.b.functions[f]
	offs := map[uint64]bool{}
	for off := range x {
		offs[off] = true
	}
	for off := range y {
		offs[off] = true
	}
	var open *Difference
	end := func() {
		if open != nil {
			m.add(*open, rankCode, "code", open.A, open.B)
			open = nil
		}
	}
	for _, off := range slices.Sorted(maps.Keys(offs)) {
		p := place{f, off}
		na, nb := m.a.ran(p), m.b.ran(p)
		only := onlyOne(na, nb)
		if only == "" || m.poked(p) {
			end()
			continue
		}
		size := uint64(0)
		for _, s := range []*insn{x[off], y[off]} {
			if s != nil {
				size = max(size, s.size)
			}
		}
		if open != nil && (open.Change != only || open.End != off) {
			end()
		}
		if open == nil {
			open = &Difference{Change: only, Sym: f.sym, File: f.file, Off: off}
		}
		open.End, open.Insns = off+size, open.Insns+1
		open.A, open.B = max(open.A, na.all()), max(open.B, nb.all())
	}
	end()
}

// edges lists the branches that only one took, between code that both executed. Others
// lead to code that is a difference itself, or from it.
func (m *comparison) edges() {
	all := map[edge]bool{}
	for e := range m.a.edges {
		all[e] = true
	}
	for e := range m.b.edges {
		all[e] = true
	}
	for e := range all {
		na, nb := m.a.edges[e], m.b.edges[e]
		only := onlyOne(na, nb)
		if only == "" || !m.common(e.from) || !m.common(e.to) {
			continue
		}
		m.add(Difference{
			Change: only, Sym: e.from.of.sym, File: e.from.of.file, Off: e.from.off,
			ToSym: e.to.of.sym, ToFile: e.to.of.file, ToOff: e.to.off,
		}, rankEdge, "edge", na.all(), nb.all())
	}
}

// common reports whether both executed p, or bytes there are replaced.
func (m *comparison) common(p place) bool {
	return m.poked(p) || m.a.ran(p).all() > 0 && m.b.ran(p).all() > 0
}
