package decoder

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// story makes executed instructions, or printed ones, of a line: letters are the
// instructions. A digit begins an event, a ! is a gap, and what stands in brackets is
// ambiguous.
func story(line string) (ips []uint64, parts []part) {
	off, ambiguous := int64(0), false
	for _, c := range line {
		switch {
		case c == ' ':
			continue
		case '0' <= c && c <= '9':
			off = int64(c - '0')
		case c == '[' || c == ']':
			ambiguous = c == '['
		case c == '!':
			parts = append(parts, part{place: place{len(ips), off}, gap: &event.Gap{Off: off}})
		default:
			k := len(parts) - 1
			if k < 0 || parts[k].gap != nil || parts[k].off != off || parts[k].ambiguous != ambiguous {
				parts = append(parts, part{place: place{len(ips), off}, ambiguous: ambiguous})
			}
			ips = append(ips, uint64(c))
		}
	}
	return ips, parts
}

// truly is what a line says was executed.
func truly(line string) *executed {
	ips, parts := story(line)
	x := newExecuted(ips)
	for i := range parts {
		x.at = append(x.at, parts[i].place)
	}
	return x
}

// TestClaims would catch claims that are counted as right though they did not run
// there, side by side or in that order, and right ones that are counted as wrong.
func TestClaims(t *testing.T) {
	for _, c := range []struct {
		name, ran, printed string
		want               claimCount
	}{
		{"all", "1abc2def3ghi", "1abc2def3ghi", claimCount{executed: 9, claims: 9}},
		{"a gap", "1abc2def3ghi", "1abc2!3ghi", claimCount{executed: 9, claims: 6, missing: 3, gaps: 1}},
		{"wrong before a gap", "1abc2def3ghi", "1abcxy2!3ghi", claimCount{executed: 9, claims: 8, wrong: 2, foreign: 2, missing: 3, gaps: 1}},
		{"wrong behind a gap", "1abc2def3ghi", "1abc2!xef3ghi", claimCount{executed: 9, claims: 9, wrong: 6, foreign: 1, missing: 6, gaps: 1}},
		{"left out in silence", "1abc2def3ghijklmnopqr", "1abc3ghijklmnopqr", claimCount{executed: 18, claims: 15, seams: 1, missing: 3}},
		{"too short to be found again", "1abc2def3ghijklm4z", "1abc3ghijklm!", claimCount{executed: 14, claims: 10, wrong: 7, missing: 11, gaps: 1}},
		{"begins as what ran later", "1pq2stabcdefgh3klxy4z", "1pq!2xyabcdefgh3kl!", claimCount{executed: 17, claims: 14, wrong: 2, seams: 1, missing: 5, gaps: 2}},
		{"elsewhere", "1abc2def3ghi4jkl5abc", "4jkl!1abc!", claimCount{executed: 15, claims: 6, wrong: 3, missing: 12, gaps: 2}},
		{"at another event", "1abc2def3ghi4jkl5mno", "1abc!5ghi!", claimCount{executed: 15, claims: 6, wrong: 3, missing: 12, gaps: 2}},
		{"at the event behind it", "1abc2def3ghi4jkl5mno", "2abc3ghi!", claimCount{executed: 15, claims: 6, wrong: 3, missing: 12, gaps: 1}},
		{"printed twice", "1abc2def", "1abc!1abc2def", claimCount{executed: 6, claims: 9, wrong: 6, missing: 3, gaps: 1}},
		{"a round too many", "1ababab2c", "1abababab2c", claimCount{executed: 7, claims: 9, wrong: 3, missing: 1}},
		{"a round too few, behind a gap", "1ababab2cde", "1ab!1ab2cde", claimCount{executed: 9, claims: 7, missing: 2, gaps: 1}},
		{"ambiguous and right", "1abc2def3ghi", "1abc2[def]3ghi", claimCount{executed: 9, claims: 6, ambiguous: 3, likely: 3}},
		{"ambiguous and not right", "1abc2def3ghi", "1abc2[dxy]3ghi", claimCount{executed: 9, claims: 6, ambiguous: 3, likely: 1, missing: 2}},
		{"doubt in a claim's place", "1abc2def3ghi", "1abc2[de]x3ghi", claimCount{executed: 9, claims: 7, wrong: 4, foreign: 1, ambiguous: 2, likely: 2, missing: 4}},
		{"nothing printed", "1abc", "", claimCount{executed: 3, missing: 3}},
		{"more than ran", "1abc", "1abcd", claimCount{executed: 3, claims: 4, wrong: 1, foreign: 1}},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			var got claimCount
			p := &printed{}
			p.ips, p.parts = story(c.printed)
			got.judge(p, truly(c.ran))
			if got != c.want {
				t.Errorf("%s printed of %s:\n got %+v\nwant %+v", c.printed, c.ran, got, c.want)
			}
		})
	}
}

// TestClaimsSinceGap would catch a row of wrong claims behind a gap, and behind what is ambiguous,
// of which it is not known since when the flow may have gone astray. It would also catch a place that did not run there
// and is taken for that.
func TestClaimsSinceGap(t *testing.T) {
	const ran = "1abc2def3ghi4jkl5mno6pqrstuvw"
	for _, c := range []struct {
		printed string
		want    *anchor
	}{
		{"1abc!3[gx]y6pqrstuvw", &anchor{printed: 4, executed: 7}},
		{"1abc!3[hx]y6pqrstuvw", nil}, // another instruction of that event
		{"1abc!3[jx]y6pqrstuvw", nil}, // of another event
		{"1abc!3[gx]!y6pqrstuvw", nil},
	} {
		p, n := &printed{}, &claimCount{}
		p.ips, p.parts = story(c.printed)
		list := n.judge(p, truly(ran))
		if len(list) != 1 || (list[0].since == nil) != (c.want == nil) || c.want != nil && *list[0].since != *c.want {
			t.Errorf("%s: %+v, since %+v, want %v", c.printed, list, list[0].since, c.want)
		}
	}
}

// TestClaimsAtRandom would catch a claim too many or too few among the wrong ones. It
// puts false instructions, gaps and doubt into a long exact flow of small loops.
func TestClaimsAtRandom(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 1))
		x := newExecuted(nil)
		for off := int64(0); off < 400; off++ {
			x.at = append(x.at, place{len(x.ips), off})
			body := 2 + r.IntN(5)
			for range 1 + r.IntN(4) {
				for i := range body {
					x.ips = append(x.ips, uint64(off)%37*100+uint64(i))
				}
			}
		}
		x = &executed{ips: x.ips, at: x.at, ran: newExecuted(x.ips).ran}
		p := &printed{}
		var want claimCount
		want.executed = len(x.ips)
		skip := 0
		for i, a := range x.at {
			to := len(x.ips)
			if i+1 < len(x.at) {
				to = x.at[i+1].from
			}
			q := part{place: place{len(p.ips), a.off}}
			switch r.IntN(8) {
			case 0: // false to the next gap
				p.parts = append(p.parts, q)
				for range 1 + r.IntN(20) {
					p.ips = append(p.ips, 99_999)
					want.claims, want.wrong, want.foreign = want.claims+1, want.wrong+1, want.foreign+1
				}
				skip = 1
			case 1:
				q.ambiguous = true
				p.parts = append(p.parts, q)
				p.ips = append(p.ips, x.ips[a.from:to]...)
				want.ambiguous, want.likely = want.ambiguous+to-a.from, want.likely+to-a.from
				continue
			case 2:
				skip = 1
			}
			if skip > 0 {
				p.parts = append(p.parts, part{place: place{len(p.ips), a.off}, gap: &event.Gap{}})
				want.gaps++
				want.missing += to - a.from
				skip = 0
				continue
			}
			p.parts = append(p.parts, q)
			p.ips = append(p.ips, x.ips[a.from:to]...)
			want.claims += to - a.from
		}
		var got claimCount
		if got.judge(p, x); got != want {
			t.Errorf("seed %d:\n got %+v\nwant %+v", seed, got, want)
		}
	}
}
