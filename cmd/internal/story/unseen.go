package story

import (
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// Why nothing, or not all, is known of how a CPU went over.
const (
	whyElsewhere = "elsewhere" // it was traced then, and never came there
	whyEnded     = "ended"     // its trace tells no time as late
	whyBegins    = "begins"    // its trace tells no time as early
	whyGap       = "gap"       // a gap lies over the time of the change
	whyUntraced  = "untraced"  // its trace tells nothing
)

// unseen says of which CPUs it is not known how they went over k, and why. came are those that
// came there.
func unseen(c *report.Crossings, k *decoder.PokeInfo, came []Crossing) (list []Unseen) {
	for i, st := range c.Session.Streams() {
		if i >= len(c.Shown) || !c.Shown[i].Own {
			continue
		}
		x := &c.Shown[i]
		here := slices.ContainsFunc(came, func(o Crossing) bool { return o.name == st.Name })
		u := Unseen{name: st.Name}
		switch gap := slices.Contains(x.Gaps, k.Index); {
		case x.Until != 0 && x.Until < k.Begin:
			u.Why = whyEnded
		case x.From > k.End:
			u.Why = whyBegins
		case gap:
			u.Why = whyGap
		case here:
			continue
		case x.Until == 0 && st.Timed():
			u.Why = whyUntraced
		default:
			u.Why = whyElsewhere
		}
		u.CPU, u.TID, u.ID = NamedBy(st)
		if x.Until != 0 {
			from, until := x.From, x.Until
			u.From, u.Until = &from, &until
		}
		list = append(list, u)
	}
	return list
}

// line renders u for people; came tells whether the CPU came there at all.
func (u *Unseen) line(came bool) string {
	switch u.Why {
	case whyEnded:
		if !came {
			return "did not come there up to " + event.Seconds(*u.Until) + ", the last time in its trace"
		}
		return "the last time in its trace is " + event.Seconds(*u.Until) + ", before this change"
	case whyBegins:
		return "the first time in its trace is " + event.Seconds(*u.From) + ", after this change"
	case whyGap:
		return "there is a gap at the time of this change: more may have run"
	case whyUntraced:
		return "its trace shows no instruction"
	}
	return "never came there"
}

// printUnseen prints what is not known of the CPU called name, or of all CPUs that are not among came.
func (p *Poke) printUnseen(b *strings.Builder, name string, came []Crossing) {
	for i := range p.Unseen {
		u := &p.Unseen[i]
		switch {
		case u.name == name:
			wrap(b, "    ", u.line(true))
		case name == "" && !slices.ContainsFunc(came, func(c Crossing) bool { return c.name == u.name }):
			wrap(b, "  ", u.name+": "+u.line(false))
		}
	}
}
