package demo

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// The picture's measures, columns: with "# " in front of a line it has 80.
const (
	nameWide = 8
	axisWide = 70
)

// poke is what the picture needs of a line of pokes -o jsonl.
type poke struct {
	Time uint64 `json:"time"` // ns, as all times here
	CPU  int    `json:"cpu"`
	Old  string `json:"old_disasm"`
	New  string `json:"new_disasm"`
	CPUs []struct {
		CPU   int     `json:"cpu"`
		Old   *moment `json:"last_old"`
		Traps *moment `json:"first_trap"`
		New   *moment `json:"first_new"`
	} `json:"cpus"`
}

// moment is a time, or a stretch of time in which something happened.
type moment struct {
	Time    uint64 `json:"time"`
	Until   uint64 `json:"until"` // 0: at Time
	Verdict string `json:"verdict"`
}

// mark is a moment as it is drawn: its sign, and what is said below it.
type mark struct {
	moment
	sign rune
	says string
}

// draw writes how CPUs crossed the change that line tells of, on one axis of time.
func draw(w io.Writer, line string) error {
	var p poke
	if err := json.Unmarshal([]byte(line), &p); err != nil {
		return fmt.Errorf("what pokes printed: %w", err)
	}
	rows := map[int][]mark{}
	var order []int
	if p.CPU >= 0 {
		order = append(order, p.CPU)
	}
	for _, c := range p.CPUs {
		if c.CPU != p.CPU {
			order = append(order, c.CPU)
		}
		for _, m := range []struct {
			at   *moment
			sign rune
			says string
		}{{c.Old, '■', "old: " + word(p.Old)}, {c.Traps, '▲', "trap"}, {c.New, '□', "new: " + word(p.New)}} {
			if m.at != nil {
				if m.sign != '▲' { // a trap is its own proof
					m.says += ", " + m.at.Verdict
				}
				rows[c.CPU] = append(rows[c.CPU], mark{*m.at, m.sign, m.says})
			}
		}
	}
	rows[p.CPU] = append(rows[p.CPU], mark{moment{Time: p.Time}, '◆', "the record: " + word(p.Old) + " → " + word(p.New)})
	lo, hi := p.Time, p.Time
	for _, row := range rows {
		for _, m := range row {
			lo, hi = min(lo, m.Time), max(hi, m.Time, m.Until)
		}
	}
	column := func(t uint64) int { return int((t - lo) * (axisWide - 1) / max(hi-lo, 1)) }
	fmt.Fprintf(w, "# One column is %d ns. A bar is as long as the moment is uncertain.\n", max(hi-lo, 1)/(axisWide-1))
	for _, cpu := range order {
		axis := []rune(strings.Repeat("·", axisWide))
		for _, m := range rows[cpu] {
			for i := column(m.Time); i <= column(max(m.Time, m.Until)); i++ {
				axis[i] = m.sign
			}
		}
		fmt.Fprintf(w, "# %-*s%s\n", nameWide, fmt.Sprintf("cpu%d", cpu), string(axis))
		for _, l := range labels(rows[cpu], column) {
			fmt.Fprintf(w, "# %*s%s\n", nameWide, "", l)
		}
	}
	_, err := io.WriteString(w, "#\n")
	return err
}

// labels returns the lines below an axis that say what its marks are. A label that has no
// room to the right of its mark ends there; one that meets another goes a line further down.
func labels(marks []mark, column func(uint64) int) (lines []string) {
	for _, m := range marks {
		at, text := column(m.Time), "└ "+m.says
		if n := utf8.RuneCountInString(text); at+n > axisWide {
			at, text = max(0, at+1-n), m.says+" ┘"
		}
		n := 0
		for n < len(lines) && utf8.RuneCountInString(lines[n])+1 > at {
			n++
		}
		if n == len(lines) {
			lines = append(lines, "")
		}
		lines[n] += strings.Repeat(" ", at-utf8.RuneCountInString(lines[n])) + text
	}
	return lines
}

// word returns the name of an instruction, without its operands.
func word(disasm string) string {
	name, _, _ := strings.Cut(disasm, " ")
	return name
}
