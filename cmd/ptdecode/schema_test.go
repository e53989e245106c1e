package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// holdToSchemas fails the script if an object that the call printed is not as its schema
// in docs/formats/json-schema says. Records of events have a document of their own.
func holdToSchemas(ts *testscript.TestScript, args []string) {
	if len(args) == 0 || args[0] == "events" || args[0] == "export" || !slices.Contains(args, "jsonl") {
		return
	}
	if wrong := wrongObject(args[0], ts.ReadFile("stdout")); wrong != "" {
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
	x86, arm := filepath.Join(dir, "kernel-pokes-x86/kprobes/perf.data"), filepath.Join(dir, "coresight/snapshots/a57_single_step")
	fields := "time,cpu,tid,comm,ip,sym,off,dso,insn,disasm,bytes,verdict,epoch,flags,addr,count"
	for _, args := range testsize.Some(t, [][]string{
		{"flow", x86, "--level", "insn", "--last", "1000", "-F", fields}, {"flow", x86, "--level", "block", "--last", "2000", "-F", fields},
		{"flow", x86, "--level", "branch", "--last", "2000", "-F", fields, "--notes", "--gaps"}, {"flow", x86, "--level", "call", "--last", "1000"},
		{"flow", x86, "--level", "branch", "--last", "2000", "--notes", "--raw-traps"}, {"flow", x86, "--level", "element", "--last", "1000"},
		{"pokes", x86, "--traps"}, {"pokes", x86, "--poke", "359"}, {"summary", x86}, {"info", x86}, {"packets", x86, "--cpu", "1"},
		{"calls", x86}, {"calls", x86, "--by", "caller"}, {"calls", x86, "--split-at", "359"}, {"calls", x86, "schedule", "--slowest", "3"}, {"calls", x86, "--each"},
		{"hot", x86}, {"hot", x86, "--by", "block"}, {"hot", x86, "--by", "edge"}, {"hot", x86, "--by", "line"}, {"hot", x86, "--annotate", "schedule"},
		{"check", x86}, {"diff", x86, x86}, {"info", arm}, {"packets", arm}, {"flow", arm, "--level", "element", "--gaps"},
	}, 8) {
		var out, errs strings.Builder
		if code := run(append(args, "-o", "jsonl"), nil, &out, &errs); code != exitWhole && code != exitGaps {
			t.Errorf("%q: exit code %d: %s", args, code, errs.String())
		}
		if out.Len() == 0 && args[0] != "check" && args[0] != "diff" {
			t.Errorf("%q: no objects", args)
		}
		if wrong := wrongObject(args[0], out.String()); wrong != "" {
			t.Errorf("%q: %s", args, wrong)
		}
	}
}

// TestSchemaRefuses would catch a schema that lets everything pass.
func TestSchemaRefuses(t *testing.T) {
	const good = `{"type":"packet","cpu":0,"trace_off":0,"size":16,"kind":"PSB","packet":"psb"}`
	if wrong := wrongObject("packets", good); wrong != "" {
		t.Error(wrong)
	}
	for _, bad := range []string{
		`{"type":"package"}`, `{"type":"packet","trace_off":0,"kind":"PSB"}`, `{"type":"packet","trace_off":0,"size":"16","kind":"PSB"}`,
		`{"type":"packet","trace_off":0,"size":1,"kind":"PSB","raw":"0g"}`, `{"type":"packet","trace_off":0,"size":1,"kind":"PSB","more":1}`,
		`{"type":"packet","trace_off":0.5,"size":1,"kind":"PSB"}`, `{"type":"insn","ip":"12"}`, `{"type":"insn","verdict":"sure"}`, `{"type":"insn","count":-1}`,
		`{"type":"insn","epoch":[1]}`, `{"type":"insn","epoch":[null,1]}`, `{"type":"insn","epoch":[1,2,3]}`,
	} {
		if wrongObject("flow", bad) == "" {
			t.Errorf("%s passes", bad)
		}
	}
}
