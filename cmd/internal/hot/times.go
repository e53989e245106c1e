package hot

import (
	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// tellUntimed says so where most of what was counted has no time.
func (l *list) tellUntimed(h *host.Host) {
	var all, none uint64
	for _, g := range l.counter.Groups() {
		for _, r := range l.counter.Table(g).Ranges() {
			n := (r.N + r.Ambiguous) * uint64(r.Insns)
			if all += n; r.Time == 0 {
				none += n
			}
		}
	}
	if none <= all/2 {
		return
	}
	if first, _ := filter.Traced(l.s, nil); first == 0 {
		h.Say("--sort time: the trace states no time")
		return
	}
	h.Say("--sort time: %d of %s %s no time: no timestamps around, or a gap is between", none, plural.Count(all, "instruction"), plural.Word(none, "has", "have"))
}

// took renders the time of e; "-": it is not known.
func (e *entry) took() string {
	if e.Time == 0 {
		return "-"
	}
	return event.Seconds(uint64(e.Time + 0.5))
}
