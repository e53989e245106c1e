package explain

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/filter"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore"
)

// TestEveryWord would catch a word of the output without a page, a page of a word that the
// output does not have, and a reference to no page.
func TestEveryWord(t *testing.T) {
	want := map[string][]string{ofBranch: filter.Transfers()}
	for r := event.ReasonNone + 1; r < event.NumReasons; r++ {
		want[ofGap] = append(want[ofGap], r.String())
	}
	for v := decoder.Certain; v <= decoder.Ambiguous; v++ {
		want[ofSure] = append(want[ofSure], v.String())
	}
	for k := decoder.TrapUnknown; k <= decoder.TrapDebug; k++ {
		want[ofTrap] = append(want[ofTrap], k.String())
	}
	for k := kcore.KindUnknown; k.String() != "?"; k++ {
		want[ofChange] = append(want[ofChange], k.String())
	}
	want[ofBranch] = slices.DeleteFunc(want[ofBranch], func(n string) bool { return strings.HasPrefix(n, "tr end ") })
	want[ofDoubt] = []string{"change", "outcomes", "gap", "code"} // report.Doubt
	want[ofNote] = []string{"context", "payload", "trouble", "async", "on", "off"}
	for d := event.DetailNone + 1; d.String() != "?"; d++ {
		want[ofNote] = append(want[ofNote], d.String())
	}
	for _, w := range []string{"(bp)", "payload cbr", "context tx-state", "settled by", "across", "unsure", "straight on", "ok", "ipc", "cycles", "share", "emulated", "executions", "pokes", "Epochs", "batches", "sync points"} {
		if len(found(w)) != 1 {
			t.Errorf("explain %s: %d pages", w, len(found(w)))
		}
	}
	if len(found("gaps")) != len(found("gap")) || len(found("s")) > 0 || len(found("")) > 0 {
		t.Error("many of a word are something else, or nothing is a word")
	}
	have := map[string][]string{}
	for _, p := range pages() {
		have[p.Of] = append(have[p.Of], p.Word)
		if p.Means == "" || p.Of == ofGap && p.Do == "" {
			t.Errorf("%s: the page says too little", p.Word)
		}
		for _, w := range p.See {
			if len(found(w)) == 0 {
				t.Errorf("%s: see also %q, which has no page", p.Word, w)
			}
		}
	}
	for of, words := range want {
		slices.Sort(words)
		slices.Sort(have[of])
		if !slices.Equal(have[of], words) {
			t.Errorf("%s: pages of %q, the output has %q", of, have[of], words)
		}
	}
}

// TestFitsScreen would catch a page that wraps on a terminal of 80 columns.
func TestFitsScreen(t *testing.T) {
	var out bytes.Buffer
	for _, w := range Words() {
		if err := run(&out, []string{w}, nil); err != nil {
			t.Error(err)
		}
	}
	if err := run(&out, nil, nil); err != nil {
		t.Error(err)
	}
	for line := range strings.Lines(out.String()) {
		if len(strings.TrimSuffix(line, "\n")) > 79 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
}
