package decoder

import (
	"fmt"
	"maps"
	"slices"
	"sort"
	"strings"
)

// lieFact is where claims in a row that never ran lie.
type lieFact struct {
	kind, line string // of the case
	stream     int
	ip         uint64 // of the first
	wrong      int    // instructions
	// What ends them: the reason of a gap, "ambiguous", "found again" or "end"; "alike"
	// where the trace cannot tell them from what was executed.
	ends string
	// From the first of them to where they end, and to the next gap. What is to the
	// next gap is -1 if none follows.
	end, gap span
	reason   string // of the next gap
	ns       int64  // to the next gap
	led      int    // instructions executed between where the flow left and where it was found again; -1: it was not
}

// span is a distance in what is printed and in the events of a stream.
type span struct {
	insns   int // instructions printed
	events  int
	stated  int // events that state an address
	checked int // events that state one which the flow must reach by itself
}

// lieFacts collects where wrong claims lie.
type lieFacts struct{ all []lieFact }

// countBetween returns how many of the sorted list lie in [from, to).
func countBetween(list []int64, from, to int64) int {
	at := func(off int64) int { return sort.Search(len(list), func(i int) bool { return list[i] >= off }) }
	return max(0, at(to)-at(from))
}

// until is the span from the event at one offset to that at another, with insns
// instructions in it.
func (s *stated) until(from, to int64, insns int) span {
	checked := countBetween(s.checked, from+1, to)
	return span{insns, countBetween(s.events, from+1, to+1), checked + countBetween(s.targets, from+1, to), checked}
}

// add takes where u lies, which was printed of stream i of the case of line. alike
// says that the trace cannot tell it from what was executed.
func (f *lieFacts) add(o *original, line string, i int, p *printed, u untruth, alike bool) {
	events, q := &o.stated[i], &p.parts[u.part]
	kind, _, _ := strings.Cut(line, "/")
	x := lieFact{kind: kind, line: line, stream: i, ip: p.ips[u.from], wrong: u.to - u.from, ends: "end", reason: "none", gap: span{-1, -1, -1, -1}, ns: -1, led: -1}
	e := u.part
	for e+1 < len(p.parts) && p.parts[e+1].from < u.to {
		e++
	}
	x.end = events.until(q.off, p.parts[e].off, u.to-u.from)
	for k := e; k < len(p.parts); k++ {
		r := &p.parts[k]
		if r.gap == nil {
			if r.ambiguous && r.from == u.to {
				x.ends = "ambiguous"
			}
			continue
		}
		if x.reason = r.gap.Reason.String(); r.from == u.to {
			x.ends = x.reason
		}
		x.gap = events.until(q.off, r.off, r.from-u.from)
		x.ns = int64(r.time.Likely()) - int64(q.time.Likely())
		break
	}
	if u.back >= 0 {
		x.ends, x.led = "found again", u.back-max(u.behind, 0)
	}
	if alike {
		x.ends = "alike"
	}
	f.all = append(f.all, x)
}

// list is all that was collected, a line each.
func (f *lieFacts) list() string {
	var b strings.Builder
	b.WriteString("kind\tstream\tip\twrong\tends\tend insns\tend events\tend stated\tend checked\treason\tgap insns\tgap events\tgap stated\tgap checked\tgap ns\tled\tcase\n")
	for i := range f.all {
		x := &f.all[i]
		fmt.Fprintf(&b, "%s\t%d\t%x\t%d\t%s\t%d\t%d\t%d\t%d\t%s\t%d\t%d\t%d\t%d\t%d\t%d\t%s\n", x.kind, x.stream, x.ip, x.wrong, x.ends,
			x.end.insns, x.end.events, x.end.stated, x.end.checked, x.reason, x.gap.insns, x.gap.events, x.gap.stated, x.gap.checked, x.ns, x.led, x.line)
	}
	return b.String()
}

// table says by kind of lies what ends rows of wrong claims, and how long they are.
func (f *lieFacts) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%-12s %-18s %7s %9s | %-29s | %-23s | %-23s\n", "kind", "ends with", "rows", "wrong", "instructions", "events", "addresses stated")
	by := map[[2]string][]*lieFact{}
	for i := range f.all {
		x := &f.all[i]
		by[[2]string{x.kind, x.ends}] = append(by[[2]string{x.kind, x.ends}], x)
	}
	keys := slices.SortedFunc(maps.Keys(by), func(a, b [2]string) int { return strings.Compare(a[0]+" "+a[1], b[0]+" "+b[1]) })
	for _, k := range keys {
		list, wrong := by[k], 0
		for _, x := range list {
			wrong += x.wrong
		}
		of := func(get func(x *lieFact) int) string {
			all := make([]int, len(list))
			for i, x := range list {
				all[i] = get(x)
			}
			slices.Sort(all)
			n := len(all) - 1
			return fmt.Sprintf("%5d %5d %5d %5d", all[n/2], all[n*9/10], all[n*99/100], all[n])
		}
		fmt.Fprintf(&b, "%-12s %-18s %7d %9d | %29s | %s | %s\n", k[0], k[1], len(list), wrong, of(func(x *lieFact) int { return x.end.insns }),
			of(func(x *lieFact) int { return x.end.events }), of(func(x *lieFact) int { return x.end.stated }))
	}
	return b.String()
}
