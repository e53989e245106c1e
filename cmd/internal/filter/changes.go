package filter

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/machines"
	"github.com/ptdecode/ptdecode/decoder"
)

// Makers says which changes are wanted by who made them.
type Makers struct {
	CPUs  string   // numbers and ranges with commas between them
	TIDs  []string // numbers and ranges
	Comms []string // names or globs

	cpus, tids numbers
}

// Read reads the numbers.
func (m *Makers) Read() (err error) {
	if m.CPUs != "" {
		m.cpus, err = numbersOf("cpu", strings.Split(m.CPUs, ","), "CPUs")
	}
	if err == nil {
		m.tids, err = numbersOf("tid", m.TIDs, "threads")
	}
	if err == nil {
		_, err = Globs("comm", m.Comms)
	}
	return err
}

// All reports whether every change is wanted.
func (m *Makers) All() bool { return m.CPUs == "" && m.TIDs == nil && m.Comms == nil }

// Made reports whether k is wanted.
func (m *Makers) Made(k *decoder.PokeInfo) bool {
	switch {
	case m.CPUs != "" && !m.cpus.has(int64(k.CPU)), m.TIDs != nil && (k.TID == 0 || !m.tids.has(int64(k.TID))):
		return false
	}
	return m.Comms == nil || k.Comm != "" && patterns(m.Comms).fit(k.Comm)
}

// Check refuses a CPU, a thread and a name that made no change and of which the recording
// tells nothing else.
func (m *Makers) Check(s *decoder.Session) error {
	all := append([]*decoder.Session{s}, decoder.Guests(s)...)
	_, _, threads := decoder.NamesIn(s)
	cpus, tids, comms := map[int64]bool{}, map[int64]bool{}, slices.Collect(threads)
	for _, g := range all {
		for k := range g.Pokes() {
			if k.CPU >= 0 {
				cpus[int64(k.CPU)] = true
			}
			if k.TID != 0 {
				tids[int64(k.TID)] = true
			}
			if k.Comm != "" {
				comms = append(comms, k.Comm)
			}
		}
	}
	ran := func(n int64) bool { known, _ := s.Ran(int32(n)); return known }
	traced := func(n int64) bool {
		return slices.ContainsFunc(s.Streams(), func(st *decoder.Stream) bool { return int64(machines.CPU(s, st)) == n })
	}
	if err := m.cpus.known("cpu", "CPU", cpus, traced); err != nil {
		return err
	}
	if err := m.tids.known("tid", "thread", tids, ran); err != nil {
		return err
	}
	return lookUp("comm", "thread name", m.Comms, slices.Values(comms), Fits)
}

// known refuses a range of which no number made a change, or is known otherwise.
func (l numbers) known(flag, what string, made map[int64]bool, otherwise func(int64) bool) error {
	for _, r := range l {
		found := r.hi-r.lo >= mostThreads
		for n := r.lo; n <= r.hi && !found; n++ {
			found = made[n] || otherwise(n)
		}
		if found {
			continue
		}
		asked := strconv.FormatInt(r.lo, 10)
		if r.hi > r.lo {
			asked = fmt.Sprintf("%d-%d", r.lo, r.hi)
		}
		if len(made) == 0 {
			return callf("--%s %s: the recording does not say which %s made a change", flag, asked, what)
		}
		return callf("--%s %s: no such %s made a change; %s", flag, asked, what, nearestOf(made, r))
	}
	return nil
}

// nearestOf says which numbers there are, or which three are nearest to r.
func nearestOf(there map[int64]bool, r stretch) string {
	far := func(n int64) int64 { return max(r.lo-n, n-r.hi) }
	var list []int64
	for n := range there {
		list = append(list, n)
	}
	slices.SortFunc(list, func(a, b int64) int { return cmp.Or(cmp.Compare(far(a), far(b)), cmp.Compare(a, b)) })
	if len(list) <= 3 {
		slices.Sort(list)
	}
	var near []string
	for _, n := range list[:min(len(list), 3)] {
		near = append(near, strconv.FormatInt(n, 10))
	}
	if len(list) > 3 {
		return fmt.Sprintf("of %d the nearest are %s", len(list), strings.Join(near, ", "))
	}
	return "there is " + strings.Join(near, ", ")
}

// NextChange returns the number of the change that is the next at the place of change n, made
// before until, ns; until 0: the end. It is -1 where there is none.
func NextChange(s *decoder.Session, n int, until uint64) int {
	j := s.Text().Journal()
	next, at := -1, j.Poke(n)
	for i := range j.Len() {
		p := j.Poke(i)
		if p.Addr == at.Addr && p.Time > at.Time && (until == 0 || p.Time < until) && (next < 0 || p.Time < j.Poke(next).Time) {
			next = i
		}
	}
	return next
}

// Absent refuses numbers of changes, both ends included, that neither the host nor a guest
// has. Each of these counts its own.
func Absent(s *decoder.Session, lo, hi int64) error {
	last := -1
	for _, m := range append([]*decoder.Session{s}, decoder.Guests(s)...) {
		for k := range m.Pokes() {
			if n := int64(k.Index); lo <= n && n <= hi {
				return nil
			}
			last = max(last, k.Index)
		}
	}
	what := strconv.FormatInt(lo, 10)
	if hi > lo {
		what += "-" + strconv.FormatInt(hi, 10)
	}
	if last < 0 {
		return callf("--poke %s: no change to the code is recorded", what)
	}
	return callf("--poke %s: there is no such change: the last one is %d", what, last)
}
