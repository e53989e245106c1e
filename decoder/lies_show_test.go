package decoder

import (
	"fmt"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// shownAround is how many instructions are shown before and behind a row.
const shownAround = 24

// show is u, which was printed of stream i of s, beside what was executed, for people.
func (o *original) show(s *Session, i int, p *printed, u untruth) string {
	var b strings.Builder
	x, q := o.ran[i], &p.parts[u.part]
	fmt.Fprintf(&b, "stream %d, event %#x, printed %d to %d, executed %d to %d\n", i, q.off, u.from, u.to, u.behind, u.back)
	back := u.back
	if back < 0 {
		back = u.behind + u.to - u.from
	}
	b.WriteString("printed:\n" + p.lines(s, i, u.from-shownAround, u.to+shownAround))
	if u.behind > 0 {
		ran := &printed{ips: x.ips}
		for _, a := range x.at {
			ran.parts = append(ran.parts, part{place: a, time: q.time})
		}
		b.WriteString("executed:\n" + ran.lines(o.session, i, u.behind-shownAround, back+shownAround))
	}
	return b.String()
}

// lines is the instructions [from, to) of p, with the parts that begin among them.
func (p *printed) lines(s *Session, i, from, to int) string {
	var out strings.Builder
	var t event.Time
	st := s.Streams()[i]
	d, m := s.instructions(st), st.FirstMode(isa.ModeUnknown)
	b := make([]byte, d.MaxLen())
	k := 0
	for n := max(0, from); n < min(to, len(p.ips)); n++ {
		for ; k < len(p.parts) && p.parts[k].from <= n; k++ {
			q := &p.parts[k]
			t = q.time
			if k+1 < len(p.parts) && p.parts[k+1].from < max(0, from) {
				continue
			}
			switch {
			case q.gap != nil:
				fmt.Fprintf(&out, "  -- %s\n", q.gap)
			case q.ambiguous:
				fmt.Fprintf(&out, "  -- %#x ambiguous\n", q.off)
			default:
				fmt.Fprintf(&out, "  -- %#x\n", q.off)
			}
		}
		code := b[:s.Code(b, 0, p.ips[n], s.EpochAt(t.Likely()))]
		name := ""
		if s.Symbols() != nil {
			if y, off, ok := s.Symbols().Lookup(p.ips[n], 0); ok {
				name = fmt.Sprintf("%s+%#x", y.Name, off)
			}
		}
		fmt.Fprintf(&out, "  %d %x %s %s\n", n, p.ips[n], name, s.Format(code, p.ips[n], m, func(a uint64) (string, uint64) { return "", 0 }))
	}
	return out.String()
}
