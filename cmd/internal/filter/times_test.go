package filter

import (
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestParseTime would catch a time that is read otherwise than it was printed.
func TestParseTime(t *testing.T) {
	for in, want := range map[string]uint64{
		"4.417665594": 4417665594, "0.5": 500000000, ".5": 500000000, "12": 12, "4417665594": 4417665594,
		"18446744072.999999999": 18446744072999999999,
	} {
		if got, err := ParseTime(in); err != nil || got != want {
			t.Errorf("ParseTime(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "x", "1.", "1.2.3", "-1", "1.1234567890", "18446744073709551616.0", "1e9"} {
		if got, err := ParseTime(in); err == nil {
			t.Errorf("ParseTime(%q) = %d, want an error", in, got)
		}
	}
	if _, _, err := ParseTimes("2.0,1.0"); err == nil {
		t.Error("a stretch that ends before it begins is taken")
	}
}

// recorded is the clock of a recording from 1 s to 2 s with changes 0 and 1, at 1.5 s and
// at 40 ns.
func recorded() *clock {
	return &clock{first: 1_000_000_000, last: 2_000_000_000, lastPoke: 1, poke: func(n int) (uint64, bool) {
		return [...]uint64{1_500_000_000, 40}[n&1], n == 0 || n == 1
	}}
}

// TestSpan would catch a stretch of time that begins or ends elsewhere than it was asked
// for. At the ends of the recording 0 means that there is no bound.
func TestSpan(t *testing.T) {
	for in, want := range map[string][2]uint64{
		"":                      {0, 0},
		"1.25,1.5":              {1_250_000_000, 1_500_000_000},
		",7":                    {0, 7},
		"7,":                    {7, 0},
		"7":                     {7, 0},
		"0,0":                   {0, 1},
		"+5ms,+6.5ms":           {1_005_000_000, 1_006_500_000},
		"+5us":                  {1_000_005_000, 0},
		"-10ms,":                {1_990_000_000, 0},
		"-10ms,-1ns":            {1_990_000_000, 1_999_999_999},
		"10%,20%":               {1_100_000_000, 1_200_000_000},
		"10%,":                  {1_100_000_000, 0},
		"5%-10%":                {1_050_000_000, 1_100_000_000},
		"10%":                   {0, 1_100_000_000},
		"0%-10%":                {0, 1_100_000_000},
		"90%-100%":              {1_900_000_000, 0},
		"10%/3":                 {1_200_000_000, 1_300_000_000},
		"30%/4":                 {1_900_000_000, 0},
		"poke:0":                {1_500_000_000, 0},
		"poke:0-1us,poke:0+2us": {1_499_999_000, 1_500_002_000},
		"poke:0±10us":           {1_499_990_000, 1_500_010_000},
		"poke:0+-10us":          {1_499_990_000, 1_500_010_000},
		"poke:1±1us":            {0, 1_040},
		"1.5±0.5s":              {1_000_000_000, 2_000_000_000},
		"1.5+10us,1.5+11µs":     {1_500_010_000, 1_500_011_000},
		"1.0,poke:0":            {1_000_000_000, 1_500_000_000},
	} {
		if from, to, err := recorded().span(in); err != nil || from != want[0] || to != want[1] {
			t.Errorf("span(%q) = %d, %d, %v; want %d", in, from, to, err, want)
		}
	}
}

// TestShare would catch a part of the recording that has changes from before the trace or after
// it. It would also catch a stretch without a bound that has none from there.
func TestShare(t *testing.T) {
	for in, want := range map[string]bool{"10%": true, "0%-10%": true, "10%/3": true, "": false, ",10%": false, "10%,": false, "10%±1ms": false, "1.5": false} {
		if isShare(in) != want {
			t.Errorf("isShare(%q) is not %v", in, want)
		}
	}
	share, all := &Filter{Until: 30, changes: event.Time{Lo: 20, Hi: 40}}, &Filter{Until: 30}
	for _, c := range []struct {
		lo, hi    uint64
		part, any bool
	}{{19, 19, false, true}, {20, 20, true, true}, {10, 25, true, true}, {30, 50, true, true}, {31, 31, false, false}} {
		made := event.Time{Lo: c.lo, Hi: c.hi}
		if got := share.Change(nil, 0, 1, made, ""); got != c.part {
			t.Errorf("a part from 20 to 30 has what was made from %d to %d: %v", c.lo, c.hi, got)
		}
		if got := all.Change(nil, 0, 1, made, ""); got != c.any {
			t.Errorf("all up to 30 has what was made from %d to %d: %v", c.lo, c.hi, got)
		}
	}
}

// TestWrongSpan would catch a stretch of time that makes no sense and is taken for
// another one, and a message that does not say which part is wrong.
func TestWrongSpan(t *testing.T) {
	for in, says := range map[string]string{
		"2.0,1.0":     "ends before it begins",
		"20%-10%":     "ends before it begins",
		"+5":          `"5" is no duration`,
		"+5h":         `"5h" is no duration`,
		"+.s":         "is no duration",
		"101%":        `"101%" is no share`,
		"10%-x%":      `"x%" is no share`,
		"10%/0":       `"0" is no number of a slice`,
		"50%/3":       "has no such slice",
		"poke:2":      "there is no such change: the last one is 1",
		"poke:x":      `"x" is no number of a change`,
		"poke:-1":     `poke:-1: "-1" is no number of a change`,
		"poke:+1us":   `"+1us" is no number of a change`,
		"poke:":       `"" is no number of a change`,
		"poke:0±":     "is no duration",
		"poke:0±10":   `"10" is no duration`,
		"noon":        `"noon" is no time`,
		"1.5+-+-10us": "is no duration",
	} {
		if from, to, err := recorded().span(in); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("span(%q) = %d, %d, %v; want an error that says %s", in, from, to, err, says)
		}
	}
	for in, says := range map[string]string{"+5ms": "+5ms: neither the trace", "10%": "10%: neither the trace", "5%-10%": "5%-10%: neither the trace", "-1s": "-1s: neither the trace", "poke:1": "only times can stand here"} {
		if _, _, err := ParseTimes(in); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("without a recording, span(%q): %v; want an error that says %s", in, err, says)
		}
	}
}

// TestNoTime would catch a command without --time that reads the trace to find out when it
// runs, up to 16 MiB a stream. There is no session here, so that would end in a panic.
func TestNoTime(t *testing.T) {
	if from, to, err := Times(nil, ""); from != 0 || to != 0 || err != nil {
		t.Errorf("no time: from %d to %d, %v", from, to, err)
	}
	if said, hint := Outside(nil, nil, 0, 0); said != "" || hint != "" {
		t.Errorf("no time lies beside the trace: %q, %q", said, hint)
	}
}
