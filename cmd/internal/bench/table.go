package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
)

// reading is what a line takes of a sample.
type reading struct {
	unit string
	of   func(sample) float64
	less bool // the smaller the better
}

var (
	rate = reading{"MB/CPU s", func(s sample) float64 { return s.rate }, false}
	part = reading{"of it", func(s sample) float64 { return s.rate }, false}
	cost = reading{"of it", func(s sample) float64 { return s.rate }, true}
	cpu  = reading{"CPU s", func(s sample) float64 { return s.cpu }, true}
	wall = reading{"wall s", func(s sample) float64 { return s.wall }, true}
	peak = reading{"MiB", func(s sample) float64 { return s.peak }, true}
)

// kind is how a line compares.
type kind int

const (
	ratio kind = iota // with a peer: how many times as good, at least aim
	alone             // ptdecode by itself: its figure, at most or at least aim
	more              // with itself on less: what the difference is, at most aim
)

// line is one line of the table.
type line struct {
	reading
	kind kind
	peer *side // nil: alone
	aim  float64
}

// row is one kind of work, measured by ptdecode and by peers, with a line for each comparison.
type row struct {
	work  string
	ours  *side
	list  []line
	heavy bool // takes minutes: one turn is all
}

// samples are of one side, in the order of turns; the turns of one row belong together by index.
type samples map[*side][]sample

// measure lets the sides of r take turns. A side that fails once is left out.
func (r *row) measure(turns int, missing *notes) samples {
	sides := []*side{r.ours}
	for _, l := range r.list {
		if l.peer != nil && !slices.Contains(sides, l.peer) {
			sides = append(sides, l.peer)
		}
	}
	if r.heavy {
		turns = 1
	}
	all := samples{}
	for range turns {
		for _, s := range slices.Clone(sides) {
			x, err := s.measure()
			if err != nil {
				missing.add(s.name, r.work, err)
				delete(all, s)
				sides = slices.DeleteFunc(sides, func(o *side) bool { return o == s })
				continue
			}
			all[s] = append(all[s], x)
		}
	}
	return all
}

const heading = `| work | unit | ptdecode | against | its figure | ratio (least - most) | aim | |
|---|---|---|---|---|---|---|---|`

// lines renders r's comparisons.
func (r *row) lines(all samples) (out []string) {
	for _, l := range r.list {
		ours := values(all[r.ours], l.of)
		cells := []string{r.work, l.unit, figure(median(ours)), "-", "-", "-", l.aimText(), ""}
		var reached float64
		switch theirs := []float64(nil); {
		case l.peer != nil:
			theirs = values(all[l.peer], l.of)
			cells[3], cells[4] = l.peer.name, figure(median(theirs))
			each := l.compare(ours, theirs)
			reached = median(each)
			cells[5] = spread(each)
		default:
			reached = median(ours)
			cells[5] = spread(ours)
		}
		if !math.IsNaN(reached) {
			cells[7] = l.verdict(reached)
		}
		out = append(out, "| "+strings.Join(cells, " | ")+" |")
	}
	return out
}

// compare returns what each turn says: sides that were measured in one turn belong together.
func (l *line) compare(ours, theirs []float64) (each []float64) {
	for i := range min(len(ours), len(theirs)) {
		switch {
		case l.kind == more:
			each = append(each, ours[i]-theirs[i])
		case l.less:
			each = append(each, theirs[i]/ours[i])
		default:
			each = append(each, ours[i]/theirs[i])
		}
	}
	return each
}

// atMost tells whether the aim is a bound from above: of costs and differences, not of ratios.
func (l *line) atMost() bool { return l.kind == more || l.kind == alone && l.less }

// verdict says whether the aim is reached by x.
func (l *line) verdict(x float64) string {
	if l.aim == 0 {
		return ""
	}
	if l.atMost() && x <= l.aim || !l.atMost() && x >= l.aim {
		return "reached"
	}
	return "not reached"
}

// aimText renders what is aimed at.
func (l *line) aimText() string {
	switch {
	case l.aim == 0:
		return "-"
	case l.kind == more:
		return "≤ " + figure(l.aim) + " more"
	case l.atMost():
		return "≤ " + figure(l.aim)
	default:
		return "≥ " + figure(l.aim)
	}
}

// values takes a reading of each sample.
func values(list []sample, of func(sample) float64) (out []float64) {
	for _, s := range list {
		out = append(out, of(s))
	}
	return out
}

// median returns the middle of list, the mean of the two middle ones where their number is even, and NaN of none.
func median(list []float64) float64 {
	if len(list) == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(list))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// spread renders the median, and between which the turns lie.
func spread(list []float64) string {
	if len(list) == 0 {
		return "-"
	}
	if len(list) == 1 {
		return figure(list[0])
	}
	return fmt.Sprintf("%s (%s - %s)", figure(median(list)), figure(slices.Min(list)), figure(slices.Max(list)))
}

// figure renders three digits of x, and "-" of what was not measured.
func figure(x float64) string {
	switch a := math.Abs(x); {
	case math.IsNaN(x):
		return "-"
	case a >= 100 || x == math.Trunc(x):
		return fmt.Sprintf("%.0f", x)
	case a >= 10:
		return fmt.Sprintf("%.1f", x)
	case a >= 0.1:
		return fmt.Sprintf("%.2f", x)
	default:
		return fmt.Sprintf("%.3f", x)
	}
}

// notes are what could not be measured, and why.
type notes []struct{ who, why, where string }

// add notes that who failed at some work.
func (n *notes) add(who, work string, err error) {
	*n = append(*n, struct{ who, why, where string }{who, err.Error(), work})
}

// print writes each reason once, with all work that lacks its figures.
func (n notes) print(w io.Writer) {
	slices.SortStableFunc(n, func(a, b struct{ who, why, where string }) int {
		return cmp.Or(strings.Compare(a.who, b.who), strings.Compare(a.why, b.why))
	})
	for i := 0; i < len(n); {
		k := i
		var where []string
		for ; k < len(n) && n[k].who == n[i].who && n[k].why == n[i].why; k++ {
			where = append(where, n[k].where)
		}
		if i == 0 {
			fmt.Fprintln(w)
		}
		fmt.Fprintf(w, "Without %s (%s): %s.\n", n[i].who, n[i].why, strings.Join(where, "; "))
		i = k
	}
}
