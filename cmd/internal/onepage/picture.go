package onepage

import (
	"encoding/xml"
	"fmt"
	"io"
	"strings"
)

// The picture's measures, px.
const (
	svgWidth = 900
	svgLabel = 240 // names of CPUs
	svgRow   = 34
	svgTop   = 74
)

// Picture is what is drawn of a change to the code. Its times are ns on one axis.
type Picture struct {
	Index            int
	Title, Old, New  string // what was changed, and the code
	By               string // behind the time of the record
	Begin, Time, End uint64 // ns: the window, and the record
	Rows             []Row
	Command          string                // that prints the same
	Seconds          func(t uint64) string // renders a time
}

// Row is how one CPU crossed the change: how often it executed either code, and when.
type Row struct {
	Name                                   string
	Old, Traps, New                        int
	LastOld, FirstTrap, LastTrap, FirstNew *Moment // nil: there was none
}

// Moment is the bounds of one execution, ns on the axis.
type Moment struct {
	Lo      uint64  `json:"lo"`
	Hi      *uint64 `json:"hi,omitempty"` // absent: not known
	Verdict string  `json:"verdict"`
}

// drawing is an SVG under way.
type drawing struct {
	*Picture
	b      strings.Builder
	lo, hi uint64 // ns, of the axis
}

// Write writes an SVG that needs no other file.
func (c *Picture) Write(w io.Writer) error {
	p := &drawing{Picture: c}
	p.reach()
	height := svgTop + len(p.Rows)*svgRow + 48
	p.addf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d" role="img" aria-labelledby="t" font-family="system-ui,sans-serif" font-size="12">`+"\n", svgWidth, height, svgWidth, height)
	p.addf("<title id=\"t\">%s</title>\n", escaped("how each CPU crossed poke "+fmt.Sprint(p.Index)))
	p.addf("<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", svgWidth, height)
	p.text(8, 18, `font-size="15" font-weight="600"`, p.Title)
	p.text(8, 36, `fill="#9a3412" font-family="monospace"`, "old "+short(p.Old, 56))
	p.text(svgWidth/2, 36, `fill="#166534" font-family="monospace"`, "new "+short(p.New, 56))
	bottom := svgTop + len(p.Rows)*svgRow
	from, until := p.x(p.Begin), p.x(p.End)
	p.addf("<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#e9d5ff\"/>\n", from, svgTop-10, max(2, until-from), bottom-svgTop+14)
	p.addf("<path d=\"M%.1f %dV%d\" stroke=\"#7e22ce\" stroke-dasharray=\"3 3\"/>\n", p.x(p.Time), svgTop-16, bottom+4)
	if x := int(p.x(p.Time)); x < svgWidth*2/3 {
		p.text(x+4, svgTop-14, `fill="#7e22ce"`, "recorded "+p.Seconds(p.Time)+p.By)
	} else {
		p.text(x-4, svgTop-14, `fill="#7e22ce" text-anchor="end"`, "recorded "+p.Seconds(p.Time)+p.By)
	}
	for i := range p.Rows {
		p.row(svgTop+i*svgRow, &p.Rows[i])
	}
	if len(p.Rows) == 0 {
		p.text(8, bottom+4, "", "No traced CPU executed the old code or the new.")
	}
	p.addf("<text x=\"8\" y=\"%d\" fill=\"#4d5866\"><tspan fill=\"#9a3412\">■</tspan> last old, <tspan fill=\"#c2185b\">▲</tspan> traps, <tspan fill=\"#166534\">■</tspan> first new; bars bound the moment; arrows lie farther away; the axis is %d ns long</text>\n", bottom+22, p.hi-p.lo)
	p.text(8, bottom+40, `fill="#4d5866" font-family="monospace" font-size="11"`, p.Command)
	p.addf("</svg>\n")
	_, err := io.WriteString(w, p.b.String())
	return err
}

// reach chooses the axis: what lies near the change, if some of it does.
func (p *drawing) reach() {
	p.lo, p.hi = min(p.Begin, p.Time), max(p.End, p.Time)
	far := 2*(p.hi-p.lo) + 2000
	for i := range p.Rows {
		c := &p.Rows[i]
		for _, x := range []*Moment{c.LastOld, c.FirstTrap, c.LastTrap, c.FirstNew} {
			if x != nil && x.Lo+40*far > p.Time && x.Lo < p.Time+40*far {
				p.lo, p.hi = min(p.lo, x.Lo), max(p.hi, x.Lo)
			}
		}
	}
	pad := max(100, (p.hi-p.lo)/15)
	p.lo, p.hi = p.lo-min(pad, p.lo), p.hi+pad
}

// x places a moment.
func (p *drawing) x(t uint64) float64 {
	t = min(max(t, p.lo), p.hi)
	return svgLabel + float64(t-p.lo)/float64(p.hi-p.lo)*(svgWidth-svgLabel-20)
}

// row draws what a CPU executed.
func (p *drawing) row(y int, c *Row) {
	traps, last := "traps", c.LastTrap
	if c.Traps == 1 {
		traps, last = "trap", nil // the first one
	}
	p.text(8, y+18, "", fmt.Sprintf("%s: %d old, %d %s, %d new", short(c.Name, 14), c.Old, c.Traps, traps, c.New))
	p.addf("<path d=\"M%d %dH%d\" stroke=\"#c9d1db\"/>\n", svgLabel, y+14, svgWidth-20)
	for _, k := range []struct {
		m           *Moment
		color, what string
		trap        bool
	}{{c.LastOld, "#9a3412", "last old", false}, {c.FirstTrap, "#c2185b", "first trap", true}, {last, "#c2185b", "last trap", true}, {c.FirstNew, "#166534", "first new", false}} {
		if k.m == nil {
			continue
		}
		x := p.x(k.m.Lo)
		if k.m.Hi != nil && k.m.Lo >= p.lo && k.m.Lo <= p.hi {
			p.addf("<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"4\" fill=\"%s\" opacity=\".5\"/>\n", x, y+12, max(1, p.x(*k.m.Hi)-x), k.color)
		}
		d := fmt.Sprintf("M%.1f %dh12v12h-12Z", x-6, y+8)
		switch {
		case k.m.Lo < p.lo:
			d = fmt.Sprintf("M%.1f %dl9 -7v14Z", x-7, y+14)
		case k.m.Lo > p.hi:
			d = fmt.Sprintf("M%.1f %dl-9 -7v14Z", x+7, y+14)
		case k.trap:
			d = fmt.Sprintf("M%.1f %dl7 13h-14Z", x, y+6)
		}
		p.addf("<path d=\"%s\" fill=\"%s\"><title>%s</title></path>\n", d, k.color, escaped(fmt.Sprintf("%s, %s: %s, %s", c.Name, k.what, p.Seconds(k.m.Lo), k.m.Verdict)))
	}
}

func (p *drawing) addf(format string, args ...any) { fmt.Fprintf(&p.b, format, args...) }

// text writes a line.
func (p *drawing) text(x, y int, attrs, s string) {
	p.addf("<text x=\"%d\" y=\"%d\" %s>%s</text>\n", x, y, attrs, escaped(s))
}

// escaped renders text as XML holds it.
func escaped(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s))
	return b.String()
}

// short cuts a line to n letters.
func short(s string, n int) string {
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}
