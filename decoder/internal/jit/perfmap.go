package jit

import (
	"bytes"
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// Map is the names of a perf-PID.map file: lines "START SIZE NAME", both numbers
// hexadecimal. It states no times, so one address may have several names.
type Map struct {
	lines []mapLine // by address
}

type mapLine struct {
	addr, end uint64
	reach     uint64 // behind the last byte of all lines up to this
	number    int    // in the file
	name      string
}

// ParseMap reads a perf-PID.map file. Lines that are none are passed over.
func ParseMap(data []byte) *Map {
	m := &Map{}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		w := strings.SplitN(strings.TrimRight(string(line), "\r\n"), " ", 3)
		if len(w) < 3 || w[2] == "" {
			continue
		}
		addr, err := strconv.ParseUint(strings.TrimPrefix(w[0], "0x"), 16, 64)
		size, err2 := strconv.ParseUint(strings.TrimPrefix(w[1], "0x"), 16, 64)
		if err != nil || err2 != nil || size == 0 || addr+size < addr {
			continue
		}
		m.lines = append(m.lines, mapLine{addr: addr, end: addr + size, number: number, name: w[2]})
	}
	slices.SortStableFunc(m.lines, func(a, b mapLine) int { return cmp.Compare(a.addr, b.addr) })
	reach := uint64(0)
	for i := range m.lines {
		reach = max(reach, m.lines[i].end)
		m.lines[i].reach = reach
	}
	return m
}

// What is looked at and told of one address.
const (
	maxLines = 1 << 10
	maxNames = 4
)

// Lookup returns the name of the code at addr, and how far into it that is, bytes. Where
// several lines hold addr, their names stand beside each other with | between, the
// newest first. ok is false if there is none.
func (m *Map) Lookup(addr uint64) (name string, off uint64, ok bool) {
	i := sort.Search(len(m.lines), func(i int) bool { return m.lines[i].addr > addr }) - 1
	var found []*mapLine
	for n := 0; i >= 0 && n < maxLines && m.lines[i].reach > addr; i, n = i-1, n+1 {
		if l := &m.lines[i]; addr < l.end {
			found = append(found, l)
		}
	}
	if len(found) == 0 {
		return "", 0, false
	}
	slices.SortFunc(found, func(a, b *mapLine) int { return cmp.Compare(b.number, a.number) })
	var names []string
	for _, l := range found {
		if !slices.Contains(names, l.name) {
			names = append(names, l.name)
		}
	}
	if len(names) > maxNames {
		names = append(names[:maxNames], "...")
	}
	return strings.Join(names, "|"), addr - found[0].addr, true
}
