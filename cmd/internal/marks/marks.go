// Package marks has the changes to a recording's code (pokes) as view shows them: as marks on an
// axis of time, as counts, and as a list. It leaves out what a request does not want, as the verb
// pokes does.
package marks

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
)

// Mark is one change to the code. Its times are ns behind a base.
type Mark struct {
	Index  int    `json:"index"` // as pokes prints it
	Time   uint64 `json:"time"`
	Begin  uint64 `json:"begin"`
	End    uint64 `json:"end"`
	Kind   string `json:"kind"`
	Scheme string `json:"scheme"`
	Addr   string `json:"addr"`
	Symbol string `json:"sym,omitempty"`
	CPU    int    `json:"cpu"` // that made it; -1: not known
	TID    int32  `json:"tid,omitempty"`
	Comm   string `json:"comm,omitempty"`
	Valid  bool   `json:"valid"`

	At uint64 `json:"-"` // Addr
}

// Of returns the changes to the code of a machine, by time. Base is in ns, and clean makes of a
// name what a page can hold.
func Of(s *decoder.Session, base uint64, clean func(string) string) []Mark {
	list := []Mark{}
	for k := range s.Pokes() {
		if k.Time < base {
			continue // a virtual machine's, long before the trace
		}
		list = append(list, Mark{
			Index: k.Index, Time: k.Time - base, Begin: k.Begin - min(k.Begin, base), End: k.End - min(k.End, base),
			Kind: k.Kind.String(), Scheme: k.Scheme.String(), Addr: fmt.Sprintf("%016x", k.Addr), Symbol: clean(k.Symbol),
			CPU: k.CPU, TID: k.TID, Comm: clean(k.Comm), Valid: k.Broken == nil, At: k.Addr,
		})
	}
	slices.SortStableFunc(list, func(a, b Mark) int { return cmp.Compare(a.Time, b.Time) })
	return list
}

// Function returns the name of the function that m lies in, "" where none is known.
func (m *Mark) Function() string {
	name, _, _ := strings.Cut(m.Symbol, " ")
	name, _, _ = strings.Cut(name, "+0x")
	return name
}

// Most is how many marks are given at once.
const Most = 4000

// Thinned returns as many of a list as are given at once, from all over it.
func Thinned(list []Mark) []Mark {
	if len(list) <= Most {
		return list
	}
	thin := make([]Mark, 0, Most)
	for i := range Most {
		thin = append(thin, list[i*len(list)/Most])
	}
	return thin
}

// Find returns where in a list the change with a number is, -1 if it is not there.
func Find(list []Mark, n int) int {
	return slices.IndexFunc(list, func(m Mark) bool { return m.Index == n })
}

// Between returns those changes that lie in a window; until 0: all.
func Between(all []Mark, from, until uint64) []Mark {
	lo, _ := slices.BinarySearchFunc(all, from, func(m Mark, t uint64) int { return cmp.Compare(m.Time, t) })
	for lo > 0 && all[lo-1].End >= from {
		lo--
	}
	hi := len(all)
	if until != 0 {
		hi, _ = slices.BinarySearchFunc(all, until+1, func(m Mark, t uint64) int { return cmp.Compare(m.Begin, t) })
	}
	return all[lo:max(lo, hi)]
}

// Count is how many changes have something in common.
type Count struct {
	Name string `json:"name"`
	TID  *int32 `json:"tid,omitempty"` // of a thread
	N    int    `json:"n"`
}

// Counts returns how many of a list are of each kind, and how many each thread made, the most
// frequent first. A thread has all names under which it made some.
func Counts(list []Mark) (kinds, makers []Count) {
	byKind, byThread := map[string]int{}, map[int32]*Count{}
	names := map[int32][]string{}
	for i := range list {
		m := &list[i]
		byKind[m.Kind]++
		if byThread[m.TID] == nil {
			byThread[m.TID] = &Count{TID: &m.TID}
		}
		byThread[m.TID].N++
		if !slices.Contains(names[m.TID], m.Comm) {
			names[m.TID] = append(names[m.TID], m.Comm)
		}
	}
	kinds, makers = []Count{}, []Count{}
	for name, n := range byKind {
		kinds = append(kinds, Count{Name: name, N: n})
	}
	for tid, c := range byThread {
		c.Name = strings.Join(names[tid], ", ")
		makers = append(makers, *c)
	}
	most := func(a, b Count) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name)) }
	slices.SortFunc(kinds, most)
	slices.SortFunc(makers, func(a, b Count) int { return cmp.Or(most(a, b), cmp.Compare(*a.TID, *b.TID)) })
	return kinds, makers
}
