package calls

import (
	"fmt"
	"io"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// print prints the table for people.
func (t *table) print(w io.Writer) {
	t.sort()
	by := t.o.by
	if t.o.split != 0 {
		by = strings.TrimPrefix(by+",part", ",")
	}
	if by != "" {
		by = "  (" + by + ")"
	}
	if len(t.groups) > 0 {
		speed := ""
		if t.counts {
			speed = fmt.Sprintf(" %8s %5s", "cycles", "ipc")
		}
		fmt.Fprintf(w, "%8s %8s %8s %8s %8s %8s%s  function%s\n", "count", "total", "self", "median", "p99", "max", speed, by)
	}
	for _, g := range t.groups {
		k := &g.took
		speed := ""
		if t.counts {
			speed = g.columns()
		}
		line := fmt.Sprintf("%8d %8s %8s %8s %8s %8s%s  ", g.count, short(k.Sum, k.N), short(g.self, k.N),
			short(k.Quantile(0.5), k.N), short(k.Quantile(0.99), k.N), short(k.Most, k.N), speed)
		fmt.Fprintln(w, line+g.fit(terminal.Rest(t.o.width, line)))
	}
	if t.o.only != "" {
		for _, g := range t.groups {
			g.histogram(w, t.o.width)
		}
	}
	t.printSlow(w)
}

// fit names g in n columns, 0 for any. What tells it from others keeps half of them.
func (g *group) fit(n int) string {
	name, apart := g.name(), g.apart()
	if apart == "" {
		return terminal.Fit(name, n)
	}
	apart = strings.TrimSuffix(strings.TrimPrefix(apart, "  ("), ")")
	left := max(n-len("  ()"), min(n, 2))
	apart = terminal.Fit(apart, max(left/2, left-utf8.RuneCountInString(name)))
	return terminal.Fit(name, max(left-utf8.RuneCountInString(apart), min(left, 1))) + "  (" + apart + ")"
}

// columns renders cycles and instructions a cycle, "-" where they are not known.
func (p *pace) columns() string {
	n, ipc := "-", "-"
	if p.counted > 0 {
		n = strconv.FormatUint(p.cycles, 10)
	}
	if p.cycles >= 1e8 {
		n = fmt.Sprintf("%.2e", float64(p.cycles))
	}
	if x, ok := p.perCycle(); ok {
		ipc = fmt.Sprintf("%.2f", x)
	}
	return fmt.Sprintf(" %8s %5s", n, ipc)
}

// name names the function, with the module in brackets or the file.
func (g *group) name() string { return nameIn(g.sym, g.addr, g.file) }

// nameIn names a function, with the module in brackets or the file.
func nameIn(sym string, addr uint64, file string) string {
	name, file := terminal.Plain(nameOf(sym, addr)), terminal.Plain(file)
	if file != "" && !strings.HasPrefix(file, "[kernel") {
		if !strings.HasPrefix(file, "[") {
			return name + " (" + file + ")"
		}
		name += " " + file
	}
	return name
}

// apart says what tells g from other groups of its function.
func (g *group) apart() string {
	by := terminal.Plain(g.by)
	if by == "-1" {
		by = "" // the thread is not known
	}
	if g.guest != 0 && !strings.HasPrefix(by, "guest") { // else it is the name of a stream
		by = fmt.Sprintf("guest%d %s", g.guest, by)
	}
	s := strings.Join(strings.Fields(by+" "+partNames[g.part]), ", ")
	if s == "" {
		return ""
	}
	return "  (" + s + ")"
}

// short renders ns in eight columns at most; "-" where n is 0: there is none.
func short(ns, n uint64) string {
	f := float64(ns)
	switch {
	case n == 0:
		return "-"
	case ns < 1e3:
		return fmt.Sprintf("%dns", ns)
	case f < 1e6:
		return fmt.Sprintf("%.3gus", round(f/1e3))
	case f < 1e9:
		return fmt.Sprintf("%.3gms", round(f/1e6))
	}
	return fmt.Sprintf("%.4gs", f/1e9)
}

// round keeps three digits from becoming 1e+03.
func round(f float64) float64 { return min(f, 999) }

// give renders how far off a time may be.
func give(ns uint64) string {
	switch {
	case ns == 0:
		return "±0ns"
	case ns >= math.MaxInt64:
		return "no bound"
	}
	return "±" + short(ns, 1)
}

// histogram prints how long calls took: a line for each time twice as long as the one
// before. What stands over them is wrapped, so that it fits width columns.
func (g *group) histogram(w io.Writer, width int) {
	k := &g.took
	if k.N == 0 {
		return
	}
	head := terminal.Wrapped(w, width, 2)
	fmt.Fprintf(head, "\n%s%s: %s", g.name(), g.apart(), plural.Count(g.count, "call"))
	if g.open > g.unseen {
		fmt.Fprintf(head, ", %d of which the trace does not show the end", g.open-g.unseen)
	}
	if g.unseen > 0 {
		fmt.Fprintf(head, "\n  %d more began before the trace shows them", g.unseen)
	}
	if g.elsewhere > 0 {
		fmt.Fprintf(head, "\n  %d more without %s first instruction: entered behind it, or ended before", g.elsewhere, plural.Word(g.elsewhere, "its", "their"))
	}
	fmt.Fprintf(head, "\n  min %s, median %s, p90 %s, p99 %s, max %s\n", short(k.Least, 1),
		short(k.Quantile(0.5), 1), short(k.Quantile(0.9), 1), short(k.Quantile(0.99), 1), short(k.Most, 1))
	var counts [65]uint64
	most, low, high := uint64(0), 64, 0
	for n, count := range k.Each {
		b := bits.Len64(n)
		counts[b] += count
		most, low, high = max(most, counts[b]), min(low, b), max(high, b)
	}
	if o := &g.off; o.N > 0 && o.Most > 0 {
		fmt.Fprintf(head, "  a time is known to %s (median), %s at worst\n", give(o.Quantile(0.5)), give(o.Most))
	}
	for b := low; b <= high; b++ {
		if counts[b] == 0 {
			next := b
			for counts[next] == 0 {
				next++
			}
			if next-b > 2 {
				fmt.Fprintln(w, "  ...")
				b = next
			}
		}
		from := uint64(0)
		if b > 0 {
			from = 1 << (b - 1)
		}
		bar := int(counts[b] * 50 / most)
		if counts[b] > 0 {
			bar = max(bar, 1)
		}
		line := fmt.Sprintf("  from %8s %8d %s", short(from, 1), counts[b], strings.Repeat("#", bar))
		fmt.Fprintln(w, strings.TrimRight(line, " "))
	}
}

// printSlow prints the slowest calls, and how to see each.
func (t *table) printSlow(w io.Writer) {
	if len(t.slow) > 0 {
		fmt.Fprintf(w, "\nslowest:\n")
	}
	for i := range t.slow {
		c := &t.slow[i]
		who := c.stream.Name
		if c.tid >= 0 {
			who += fmt.Sprintf(", tid %d %s", c.tid, c.comm)
		}
		speed := ""
		if c.speed.counted > 0 {
			speed = ", " + plural.Count(c.speed.cycles, "cycle")
		}
		began := "-" // not known
		if c.begin.Lo > 0 {
			began = event.Seconds(c.begin.Lo)
		}
		fmt.Fprintf(w, "%8s %s%s  %s  %s (%s)\n        %s\n", short(c.ns, 1), give(c.off), speed, began, c.name(), terminal.Plain(strings.TrimSpace(who)), terminal.Plain(t.show(c)))
	}
}

// show returns what to type to see what ran in c. A bound that is not known is left out.
func (t *table) show(c *slowCall) string {
	args, from, to := []string{"--level", "call"}, "", ""
	if c.begin.Lo > 0 {
		from = stamp(c.begin.Lo)
	}
	if c.end.Hi < math.MaxInt64 {
		to = stamp(c.end.Hi)
	}
	if from != "" || to != "" {
		args = append(args, "--time", from+","+to)
	}
	switch {
	case c.tid > 0: // wherever it ran
		args = append(args, "--tid", fmt.Sprint(c.tid))
	case c.stream.CPU >= 0 && c.stream.ID == "":
		args = append(args, "--cpu", fmt.Sprint(c.stream.CPU))
	case c.stream.ID != "":
		args = append(args, "--id", c.stream.ID)
	}
	return t.o.flow(args)
}

// stamp renders a time as --time takes it.
func stamp(ns uint64) string { return fmt.Sprintf("%d.%09d", ns/1e9, ns%1e9) }
