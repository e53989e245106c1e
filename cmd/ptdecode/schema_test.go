package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/output"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// holdToSchemas fails the script if an object that the call printed is not as its schema
// in docs/formats/json-schema says. Records of events have a document of their own.
func holdToSchemas(ts *testscript.TestScript, args []string) {
	if len(args) == 0 || args[0] == "events" || args[0] == "export" {
		return
	}
	out := ts.ReadFile("stdout")
	if !strings.HasPrefix(out, `{"type":`) {
		return
	}
	if wrong := wrongObject(args[0], out); wrong != "" {
		ts.Fatalf("%s", wrong)
	}
}

// wrongObject returns the first line of a verb that is not as the schema of its type says,
// and why; "" if all are.
func wrongObject(verb, text string) string {
	all := schemas()
	for line := range strings.Lines(text) {
		var v map[string]any
		if err := json.Unmarshal([]byte(line), &v); err != nil {
			return err.Error() + ": " + line
		}
		typ, _ := v["type"].(string)
		s := all[verb+"-"+typ]
		if s == nil {
			s = all[typ]
		}
		if s == nil {
			return "no schema of the type " + typ + ": " + line
		}
		if w := s.Validate(v); w != "" {
			return typ + w + ": " + line
		}
	}
	return ""
}

// TestSchemas would catch objects of recordings and snapshots that are not as their
// schemas say: all verbs, all levels, all fields. The scripts hold theirs likewise.
func TestSchemas(t *testing.T) {
	dir := os.Getenv("PTDECODE_DATA")
	if dir == "" {
		t.Skip("PTDECODE_DATA is not set: no recordings")
	}
	for _, args := range testsize.Some(t, schemaCalls(dir), 10) {
		var out, errs strings.Builder
		if code := run(append(args, "-o", "jsonl"), strings.NewReader("s\ns\nn\n"), &out, &errs); code != exitWhole && code != exitGaps {
			t.Errorf("%q: exit code %d: %s", args, code, errs.String())
		}
		if out.Len() == 0 && args[0] != "check" && args[0] != "diff" && !slices.Contains(args, "--learned") {
			t.Errorf("%q: no objects", args)
		}
		if wrong := wrongObject(args[0], out.String()); wrong != "" {
			t.Errorf("%q: %s", args, wrong)
		}
	}
}

// schemaCalls returns calls of all verbs that print objects, but those of events, at all
// levels: of recordings of x86, of arm64, and of OpenCSD's snapshots.
func schemaCalls(dir string) (calls [][]string) {
	fields := strings.Join(output.FieldNames(), ",")
	x86, pixel := filepath.Join(dir, "kernel-pokes-x86/kprobes/perf.data"), filepath.Join(dir, "real-arm/perf_etm.data")
	levels := func(rec ...string) {
		for _, level := range rows.LevelNames() {
			c := append([]string{"flow", "--level", level, "--last", "2000", "--notes", "--gaps"}, rec...)
			calls = append(calls, c)
			if level != "element" {
				calls = append(calls, append(slices.Clone(c), "-F", fields))
			}
			if level == "branch" || level == "call" {
				calls = append(calls, append(slices.Clone(c), "--inlines", "--raw-traps"))
			}
		}
	}
	verbs := func(rec ...string) {
		for _, verb := range [][]string{
			{"info"}, {"summary"}, {"check"}, {"step"}, {"pokes"}, {"pokes", "--traps"}, {"pokes", "--learned"}, {"pokes", "--poke", "0"},
			{"calls"}, {"calls", "--by", "caller"}, {"calls", "--split-at", "0"}, {"calls", "--each"}, {"calls", "--slowest", "3"},
			{"hot"}, {"hot", "--by", "block"}, {"hot", "--by", "edge"}, {"hot", "--by", "line"}, {"hot", "--by", "cpu"},
		} {
			calls = append(calls, append(slices.Clone(verb), rec...))
		}
	}
	arm, text := filepath.Join(dir, "kernel-pokes-arm64"), filepath.Join(dir, "kernel-pokes-arm64/text")
	etm := []string{filepath.Join(arm, "a57-kprobe/fine"), "--events", filepath.Join(arm, "a57-kprobe/journal.jsonl"),
		"--text", filepath.Join(text, "a57.bin") + "@0xffff800080010000", "--kallsyms", filepath.Join(text, "a57.kallsyms")}
	levels(x86)
	verbs(x86)
	levels(etm...)
	verbs(etm...)
	levels(pixel, "--symfs", filepath.Join(dir, "real-arm/sym"))
	calls = append(calls, []string{"diff", x86, x86}, []string{"packets", x86, "--cpu", "1"}, []string{"packets", pixel},
		[]string{"calls", x86, "schedule", "--slowest", "3"}, []string{"hot", x86, "--annotate", "schedule"}, []string{"pokes", x86, "--poke", "359"})
	calls = append(calls, []string{"pokes", "--learned", filepath.Join(dir, "coresight/snapshots/juno_r1_1")})
	snapshots, _ := filepath.Glob(filepath.Join(dir, "coresight/snapshots/*"))
	for _, s := range snapshots {
		calls = append(calls, []string{"flow", s, "--level", "element", "--gaps", "--last", "20000"}, []string{"info", s})
		if filepath.Base(s) != "bugfix-exact-match" { // it has as many packets as all others together, of the same kinds
			calls = append(calls, []string{"packets", s})
		}
	}
	return calls
}

// TestSchemaRefuses would catch a schema that lets everything pass.
func TestSchemaRefuses(t *testing.T) {
	for _, good := range []string{
		`{"type":"packet","cpu":0,"trace_off":0,"size":16,"kind":"PSB","packet":"psb"}`, `{"type":"element","name":"X","value":"000000000000000f","count":"unknown"}`,
		`{"type":"element","name":"X","value":15,"count":0,"flag":"yes"}`, `{"type":"insn","srcline":"a.c:1","inlines":[{"sym":"f"}]}`,
	} {
		if wrong := wrongObject("packets", good); wrong != "" {
			t.Error(wrong)
		}
	}
	for _, bad := range []string{
		`{"type":"package"}`, `{"type":"packet","trace_off":0,"kind":"PSB"}`, `{"type":"packet","trace_off":0,"size":"16","kind":"PSB"}`,
		`{"type":"packet","trace_off":0,"size":1,"kind":"PSB","raw":"0g"}`, `{"type":"packet","trace_off":0,"size":1,"kind":"PSB","more":1}`,
		`{"type":"packet","trace_off":0.5,"size":1,"kind":"PSB"}`, `{"type":"insn","ip":"12"}`, `{"type":"insn","verdict":"sure"}`, `{"type":"insn","count":-1}`,
		`{"type":"element","name":"X","more":1}`, `{"type":"element","name":"X","value":"f"}`, `{"type":"element","name":"X","value":-1}`,
		`{"type":"element","name":"X","count":"none"}`, `{"type":"element","name":"X","flag":"no"}`, `{"type":"insn","inlines":[{"from":"a.c:1"}]}`,
		`{"type":"insn","inlines":[{"sym":"f","more":1}]}`, `{"type":"insn","epoch":[1]}`, `{"type":"insn","epoch":[null,1]}`, `{"type":"insn","epoch":[1,2,3]}`,
	} {
		if wrongObject("flow", bad) == "" {
			t.Errorf("%s passes", bad)
		}
	}
}
