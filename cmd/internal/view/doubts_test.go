package view

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestDoubts would catch a mark of ambiguous instructions that leads to none, or to those of the mark before
// it, whose bounds of time span both.
func TestDoubts(t *testing.T) {
	data := testsize.Recordings(t)
	arm := filepath.Join(data, "kernel-pokes-arm64")
	for _, c := range []struct {
		decoder.Config
		at    uint64 // where an ambiguous instruction is, ns; 0: only the whole is looked at
		marks int    // of the whole
	}{
		{decoder.Config{Recording: filepath.Join(data, "kernel-pokes-x86/tracepoints-coarse/perf.data")}, 3692820907, 1},
		{decoder.Config{Recording: filepath.Join(arm, "a57-jump/coarse-rs"), Events: filepath.Join(arm, "a57-jump/journal.jsonl"), AllBuffers: true,
			Code: []decoder.CodeFile{{Path: filepath.Join(arm, "text/a57.bin"), Addr: 0xffff800080010000}}}, 0, 3},
	} {
		v := serverOf(t, c.Config)
		ask[density](t, v, "/api/density?n=1000")
		windows := []string{""}
		if at := v.rec.rel(c.at); c.at > 0 {
			windows = append(windows, fmt.Sprintf("&from=%d&until=%d", at-100_000, at+1_000_000), fmt.Sprintf("&from=%d&until=%d", at+1, at+1000))
		}
		for _, window := range windows {
			seen := map[string]bool{}
			for _, l := range ask[density](t, v, "/api/density?n=1000"+window).Lanes {
				if l.Stream == nil {
					continue
				}
				for _, m := range l.Doubts {
					a := ask[stepsAnswer](t, v, fmt.Sprintf("/api/steps?stream=%d&time=%d&kind=unsure&before=0&after=1", *l.Stream, m[2]))
					if len(a.Steps) == 0 {
						t.Errorf("%s, window %q, stream %d: the mark %v leads to nothing", c.Recording, window, *l.Stream, m)
						continue
					}
					s := &a.Steps[a.Anchor]
					name := fmt.Sprint(*l.Stream, s.At)
					if !a.Found || seen[name] || s.Time != m[2] || m[3] < m[2] || m[1] == 0 || doubtless(s) {
						t.Errorf("%s, window %q, stream %d: the mark %v leads to %+v, which was led to before: %v", c.Recording, window, *l.Stream, m, s, seen[name])
					}
					seen[name] = true
					a = ask[stepsAnswer](t, v, fmt.Sprintf("/api/steps?stream=%d&time=%d&kind=unsure&before=0&after=1", *l.Stream, m[2]+1))
					if a.Found && a.Steps[a.Anchor].At == s.At {
						t.Errorf("%s, stream %d: behind %d is what began there", c.Recording, *l.Stream, m[2])
					}
				}
			}
			if len(seen) != c.marks {
				t.Errorf("%s, window %q: %d marks, want %d", c.Recording, window, len(seen), c.marks)
			}
		}
	}
}

// doubtless reports whether a step is no instruction that is ambiguous or unconfirmed.
func doubtless(s *step) bool {
	return s.Kind != "insn" || s.Verdict != decoder.Ambiguous.String() && s.Verdict != decoder.Unconfirmed.String()
}
