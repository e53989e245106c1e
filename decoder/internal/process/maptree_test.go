package process

import (
	"bytes"
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// slowSpaces is users.of and users.find of one process without forks, by going
// through all mappings for each.
type slowSpaces struct {
	maps  []Mapping
	turns []turn
}

func (s *slowSpaces) add(m Mapping) {
	other := slices.ContainsFunc(s.maps, func(o Mapping) bool {
		return (o.Addr-m.Addr < m.Len || m.Addr-o.Addr < o.Len) &&
			(o.Path != m.Path || o.Addr-o.Off != m.Addr-m.Off || o.Exec != m.Exec || !bytes.Equal(o.BuildID, m.BuildID))
	})
	if !m.Exec && !other {
		return
	}
	if other && m.Time > 0 {
		s.turns = append(s.turns, turn{m.Time, len(s.maps)})
	}
	s.maps = append(s.maps, m)
}

// find returns the mapping of code at addr after some turns.
func (s *slowSpaces) find(turns int, addr uint64) (m Mapping, ok bool) {
	maps := s.maps
	if turns < len(s.turns) {
		maps = maps[:s.turns[turns].maps]
	}
	for _, m := range slices.Backward(maps) {
		if addr-m.Addr < m.Len {
			return m, m.Exec
		}
	}
	return m, false
}

// TestMapTree would catch a mapping that is not found, one found after another
// took its place, and a turn too many or too few. It compares with a search
// through all mappings, at both ends of the address space too.
func TestMapTree(t *testing.T) {
	for seed := range uint64(testsize.Of(t, 120, 400)) {
		rnd := rand.New(rand.NewPCG(seed, 31))
		span := uint64(8) << rnd.IntN(6)
		base := []uint64{0, 0x400000, -span}[rnd.IntN(3)]
		u, slow := NewSpaces("", nil), &slowSpaces{}
		for i := range 1 + rnd.IntN(60) {
			m := Mapping{Time: uint64(i), Addr: base + rnd.Uint64N(span), Len: 1 + rnd.Uint64N(span/2), Exec: i == 0 || rnd.IntN(3) > 0}
			m.Path, m.Off = fmt.Sprint(rnd.IntN(3)), uint64(rnd.IntN(2))+m.Addr
			if rnd.IntN(4) == 0 {
				m.BuildID = []byte{1}
			}
			u.Mapped(7, m)
			if m.Addr > 0 {
				m.Len = min(m.Len, -m.Addr)
			}
			slow.add(m)
		}
		u.Seal()
		u.At(7, 0)
		h := u.history[programKey{7, 0}]
		if !slices.Equal(h.turns, slow.turns) {
			t.Fatalf("seed %d: turns %v, want %v", seed, h.turns, slow.turns)
		}
		for turns := range len(slow.turns) + 1 {
			for a := base - 1; a != base+2*span; a++ {
				got, ok := u.Find(h.first+uint32(turns), a)
				want, known := slow.find(turns, a)
				if ok != known || got.Time != want.Time {
					t.Fatalf("seed %d, after %d turns, %#x: mapping of %d ns %v, want of %d ns %v", seed, turns, a, got.Time, ok, want.Time, known)
				}
			}
		}
	}
}

// mappingsOf records n mappings of code in some order, and one before them that
// covers all.
func mappingsOf(n int, order string) *Spaces {
	u := NewSpaces("", nil)
	const page = 0x1000
	u.Mapped(7, Mapping{Time: 1, Addr: page, Len: uint64(n+2) * page, Path: "/big", Exec: true})
	for i := range uint64(n) {
		m := Mapping{Time: i + 2, Len: page, Path: fmt.Sprint("/lib/", i), Exec: true}
		switch order {
		case "descending":
			m.Addr = (uint64(n) - i + 1) * page
		case "ascending":
			m.Addr = (i + 2) * page
		case "one place":
			m.Addr = 2 * page
		case "nested":
			m.Addr, m.Len = (1+i/2)*page, uint64(n+2)*page-i*page
		}
		u.Mapped(7, m)
	}
	u.Seal()
	return u
}

// TestMappingsGrowth would catch a first look-up, or any later one, whose work
// grows with the square of a process's mappings. Linux maps files at descending
// addresses.
func TestMappingsGrowth(t *testing.T) {
	for _, order := range []string{"descending", "ascending", "one place", "nested"} {
		work := func(n int) int {
			u := mappingsOf(n, order)
			space := u.At(7, uint64(n)*2)
			for i := range n {
				u.Find(space, uint64(i+2)*0x1000)
			}
			return u.steps
		}
		const n = 1 << 12
		if a, b := work(n), work(2*n); a == 0 || float64(b) > 2.3*float64(a) {
			t.Errorf("%s: %d steps for %d mappings, %d for twice as many", order, a, n, b)
		}
	}
}

// countedStart is an entry of a list that counts how often it is looked at.
type countedStart struct {
	time   uint64
	looked *int
}

func (c *countedStart) start() uint64 { *c.looked++; return c.time }

// TestLastStarted would catch a search through a whole list, for which name a
// thread had or which thread ran, and one that misses an entry by one.
func TestLastStarted(t *testing.T) {
	work := func(n int) (looked int) {
		var list []countedStart
		for i := range n {
			list = append(list, countedStart{uint64(i / 2 * 10), &looked})
		}
		for time := range uint64(n * 6) {
			want := min(int(time/10)*2+1, n-1)
			if got := lastStarted(list, time); got != want {
				t.Fatalf("of %d entries, at %d ns: %d, want %d", n, time, got, want)
			}
		}
		return looked
	}
	if a, b := work(1<<9), work(1<<10); float64(b) > 2.3*float64(a) {
		t.Errorf("%d entries looked at, and %d of twice as many", a, b)
	}
	if got := lastStarted([]countedStart{{5, new(int)}}, 4); got != -1 {
		t.Errorf("before the first: %d", got)
	}
}

// TestTasksTwin would catch a wrong thread, name or answer on whether one process
// ran alone, and a wrong switch after a time: it compares with a walk through the lists. Some
// records come late, some have equal times, and some tell what one before told.
func TestTasksTwin(t *testing.T) {
	for seed := range uint64(300) {
		rnd := rand.New(rand.NewPCG(seed, 32))
		k := NewTasks()
		var ins []switchIn
		for time := uint64(5); time < 60; time += uint64(rnd.IntN(4)) {
			in := switchIn{time: time, pid: int32(1 + rnd.IntN(2)), tid: int32(1 + rnd.IntN(3))}
			ins = append(ins, in)
			for range rnd.IntN(3) {
				in.time = time
				ins = append(ins, in)
				time += uint64(rnd.IntN(3))
			}
			k.Named(time, in.pid, in.tid, fmt.Sprint(time, len(ins)), false)
		}
		for i := range ins {
			if j := i - rnd.IntN(4); seed%2 == 0 && j >= 0 {
				ins[i], ins[j] = ins[j], ins[i]
			}
		}
		for _, in := range ins {
			k.Ran(0, in.time, in.pid, in.tid)
		}
		slices.SortStableFunc(ins, func(a, b switchIn) int { return cmp.Compare(a.time, b.time) })
		k.Seal()
		name := func(tid int32, time uint64) (name string) {
			for _, c := range k.comms[tid] {
				if c.time > time && name != "" {
					break
				}
				name = c.comm
			}
			return name
		}
		on := func(time uint64) Task {
			at := Task{PID: -1, TID: -1}
			for _, in := range ins {
				if in.time <= time {
					at = Task{in.pid, in.tid, name(in.tid, time)}
				}
			}
			return at
		}
		for lo := range uint64(64) {
			at := on(lo)
			got, until, ok := k.On(0, lo)
			if got != at || ok != (at.PID >= 0) || until <= lo {
				t.Fatalf("seed %d: on CPU 0 at %d ns %+v until %d, want %+v", seed, lo, got, until, at)
			}
			for same := lo; same < min(until, 64); same++ {
				if then := on(same); then != at {
					t.Fatalf("seed %d: on CPU 0 from %d to %d ns %+v, but at %d %+v", seed, lo, until, at, same, then)
				}
			}
			for tid := range int32(5) {
				want := switchIn{tid: -1}
				for i := len(ins) - 1; i >= 0; i-- {
					if in := ins[i]; in.time > lo && in.tid != tid {
						want = in
					}
				}
				if time, next, ok := k.Next(0, lo, tid); time != want.time || next != want.tid || ok != (want.tid >= 0) {
					t.Fatalf("seed %d: after %d ns other than %d: %d at %d, want %d at %d", seed, lo, tid, next, time, want.tid, want.time)
				}
			}
			for hi := lo; hi < 64; hi++ {
				alone, last := true, at.PID
				for _, in := range ins {
					if in.time > lo && in.time <= hi {
						alone, last = alone && in.pid == last, in.pid
					}
				}
				if got := k.Alone(0, event.Time{Lo: lo, Hi: hi}); got != alone {
					t.Fatalf("seed %d: alone from %d to %d ns: %v, want %v", seed, lo, hi, got, alone)
				}
			}
		}
	}
}
