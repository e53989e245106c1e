package process

import (
	"maps"
	"slices"
	"sort"
)

// Address spaces have the same numbers in every run, whatever is decoded first: flow that one
// process decodes may be named by another. So numbers are given out beforehand: in order of the
// PIDs, and for each program as many as it may have turns, one for each mapping.

// numbered is a process: its programs' numbers lie behind base.
type numbered struct {
	pid  int32
	base uint32
}

// unknownPID is set in the numbers of processes of which nothing was recorded. The rest is the
// PID. No number is that of a guest, which is higher.
const unknownPID = 1 << 30

// numbers returns the processes in order of their PIDs. u.mu is held.
func (u *Spaces) numbers() []numbered {
	if u.bases != nil {
		return u.bases
	}
	pids := slices.AppendSeq(make([]int32, 0, len(u.maps)+len(u.births)), maps.Keys(u.maps))
	pids = slices.AppendSeq(pids, maps.Keys(u.births))
	slices.Sort(pids)
	pids = slices.Compact(pids)
	u.bases = make([]numbered, 0, len(pids))
	base := 0
	for _, pid := range pids {
		u.bases = append(u.bases, numbered{pid, uint32(min(base, unknownPID))})
		base += len(u.maps[pid]) + len(u.births[pid]) + 1
	}
	return u.bases
}

// firstOf returns the number of a program's first address space. u.mu is held.
func (u *Spaces) firstOf(k programKey) uint32 {
	list := u.numbers()
	i, known := slices.BinarySearchFunc(list, k.pid, func(x numbered, pid int32) int { return int(x.pid) - int(pid) })
	if !known {
		return unknownPID | uint32(k.pid)&(unknownPID-1)
	}
	from, _ := u.ownIn(k)
	return list[i].base + uint32(k.program+from) + 1
}

// programOf returns the program that has address space n. u.mu is held.
func (u *Spaces) programOf(n uint32) (k programKey, ok bool) {
	if n&unknownPID != 0 {
		return programKey{pid: int32(n &^ unknownPID)}, true
	}
	list := u.numbers()
	i := sort.Search(len(list), func(i int) bool { return list[i].base >= n }) - 1
	if i < 0 {
		return k, false
	}
	k.pid = list[i].pid
	k.program = sort.Search(len(u.births[k.pid]), func(p int) bool { return u.firstOf(programKey{k.pid, p + 1}) > n })
	return k, true
}

// spaceOf returns address space n. u.mu is held.
func (u *Spaces) spaceOf(n uint32) (s space, ok bool) {
	if s, ok = u.space[n]; ok || n == 0 || n >= 2*unknownPID {
		return s, ok
	}
	if k, known := u.programOf(n); known {
		u.of(k, 0) // which no decoder has asked for yet
	}
	s, ok = u.space[n]
	return s, ok
}
