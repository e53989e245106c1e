package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/recorded"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// callSums is what calls of a function come to.
type callSums struct {
	calls, timed, insns, total, self, weak uint64
}

// TestEach would catch a call that --each leaves out, makes up or prints twice, or with another time or other instructions
// than the table counts for it. It would also catch one that is printed before it ended. The table is of folded and condensed
// flow, the list of each call by itself.
func TestEach(t *testing.T) {
	names := testsize.Some(t, []string{"kprobes", "nomitig-late", "ftrace", "tracepoints-coarse"}, 1)
	for _, name := range names {
		_, dir := recorded.Pokes(t, name)
		for _, only := range []string{"", "vfs_read"} {
			args := []string{"calls", filepath.Join(dir, "perf.data"), "-q", "-o", "jsonl"}
			if only != "" {
				args = append(args, only)
			}
			want := map[string]callSums{}
			for line := range linesOf(t, args) {
				var f struct {
					Sym, File                                     string
					Count, Timed, Unseen, Ambiguous, Instructions uint64
					Total                                         uint64 `json:"total_ns"`
					Self                                          uint64 `json:"self_ns"`
				}
				if err := json.Unmarshal(line, &f); err != nil {
					t.Fatal(err)
				}
				x := want[f.Sym+f.File]
				want[f.Sym+f.File] = callSums{x.calls + f.Count + f.Unseen, x.timed + f.Timed, x.insns + f.Instructions, x.total + f.Total, x.self + f.Self, x.weak + f.Ambiguous}
			}
			got, ended := map[string]callSums{}, map[string]uint64{}
			for line := range linesOf(t, append(args, "--each")) {
				var c struct {
					Type, Sym, File, Stream, Verdict, Ended string
					Instructions                            uint64
					Total                                   *uint64 `json:"total_ns"`
					Self                                    *uint64 `json:"self_ns"`
					End                                     struct{ Lo uint64 }
				}
				if err := json.Unmarshal(line, &c); err != nil || c.Type != "call" {
					t.Fatalf("%s: %v", line, err)
				}
				x := got[c.Sym+c.File]
				x.calls++
				x.insns += c.Instructions
				if c.Total != nil {
					x.timed++
					x.total += *c.Total
					x.self += *c.Self
				}
				if c.Verdict == "unconfirmed" || c.Verdict == "ambiguous" {
					x.weak++
				}
				got[c.Sym+c.File] = x
				if c.Ended == "return" && c.End.Lo < ended[c.Stream] {
					t.Errorf("%s: ended before the line above it: %s", name, line)
				}
				ended[c.Stream] = max(ended[c.Stream], c.End.Lo)
			}
			if !maps.Equal(got, want) {
				t.Errorf("%s %s: the sums differ", name, only)
				for k, w := range want {
					if got[k] != w {
						t.Errorf("%s: %+v, in the table %+v", k, got[k], w)
					}
				}
			}
			if len(got) == 0 {
				t.Errorf("%s %s: nothing", name, only)
			}
		}
	}
}

// linesOf runs a command and gives the lines of its output.
func linesOf(t *testing.T, args []string) func(func([]byte) bool) {
	t.Helper()
	out, err := runQuietly(args...)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Lines([]byte(out))
}
