package report

import (
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/pt"
)

// TestEachReasonHint would catch a reason of gaps that has no hint for one of the ways in
// which recordings are made, or one that breaks the form of hints.
func TestEachReasonHint(t *testing.T) {
	for r := event.ReasonNone + 1; r < event.NumReasons; r++ {
		for by := range numRecorders {
			h := hintOf(r, by)
			if len(h) < 20 || strings.HasSuffix(h, ".") || strings.Contains(h, "\n") {
				t.Errorf("%s, recorder %d: hint %q", r, by, h)
			}
			if by == debugger && strings.Contains(h, "perf record") {
				t.Errorf("%s: a snapshot is not recorded by perf: %q", r, h)
			}
			if by != perfOfPT && strings.Contains(h, "intel_pt") {
				t.Errorf("%s: an Arm unit is no intel_pt: %q", r, h)
			}
		}
	}
	if h := hintOf(event.ReasonNone, perfOfPT) + hintOf(event.NumReasons, perfOfPT); h != "" {
		t.Errorf("a hint for no gap: %q", h)
	}
}

// TestDefectHint would catch a CPU model that is known for a defect and is not told so, and
// one that is blamed without reason.
func TestDefectHint(t *testing.T) {
	for _, x := range []struct {
		model pt.Model
		says  string
	}{
		{pt.Model{}, "with --cpu-model FAMILY/MODEL"},
		{pt.Model{Family: 6, Model: 0x55}, "6/85/0 is known for defects of its trace (SKZ84: "},
		{pt.Model{Family: 6, Model: 0x5e, Stepping: 3}, "6/94/3 is known for defects of its trace (SKD007: "},
		{pt.Model{Family: 6, Model: 0x97}, "6/151/0 is not known for defects"},
	} {
		if h := defectHint(x.model); !strings.Contains(h, x.says) {
			t.Errorf("%s: hint %q, want %q", x.model, h, x.says)
		}
	}
}
