package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"
)

// TestUntimed would catch silence about a trace without times, and moments that
// nothing states. It would also catch the stream of a trace ID taken for a thread's.
func TestUntimed(t *testing.T) {
	timed, untimed := pokedSnapshot(t, "0x801"), pokedSnapshot(t, "0x1")
	for _, x := range []struct {
		dir, args      string
		stdout, stderr string // that are in the output; with ! in front: that are not
	}{
		{timed, "flow --level insn", "0.000", "!timestamps"},
		{timed, "pokes", "# id10: 2 old until 0.0", "!timestamps"},
		{timed, "pokes -o jsonl", `{"id":"10","old":2`, "!tid"},
		{timed, "flow --time 1,2", "", "!timestamps"},
		{untimed, "flow --level insn", "10 - 0000000000400004", "trace.bin+0x0: trace ID 10: it has no timestamps: whether the change to text"},
		{untimed, "pokes", "# id10: 3 old; 1 new; ambiguous", "hint: have the trace unit trace timestamps"},
		{untimed, "flow --time 1,2 --level insn", "10 - 0000000000400004", "--time: the trace of id10 has no timestamps: all of it passes"},
		{untimed, "flow --cpu 0 --level insn", "10 - 0000000000400004", "!no trace"},
		{untimed, "flow --cpu 7", "", "--cpu 7: no trace of CPU 7; there is id10 (traces cpu_0 (Cortex-A53))"},
	} {
		args := strings.Fields(x.args)
		args = append([]string{args[0], x.dir, "--events", filepath.Join(x.dir, "e.jsonl")}, args[1:]...)
		var out, errs bytes.Buffer
		run(args, nil, &out, &errs)
		for _, y := range []struct{ got, want string }{{strings.Join(strings.Fields(out.String()), " "), x.stdout}, {errs.String(), x.stderr}} {
			if want, not := strings.CutPrefix(y.want, "!"); strings.Contains(y.got, want) == not {
				t.Errorf("%s: got %.600q, want %s", x.args, y.got, y.want)
			}
		}
	}
}

// TestShortDump would catch a dump without the code that changed that is said to be of another run.
func TestShortDump(t *testing.T) {
	dir := pokedSnapshot(t, "0x801")
	for _, x := range []struct {
		text []byte
		said string
	}{
		{fields(uint32(0xb4000080)), "it holds 0 of the 1 poked sites: no dump lies there\n"},
		{fields(uint32(0xb4000080), uint32(0xd4200000), uint32(0xd503201f), uint32(0x17fffffd)), "its memory and the events are not of one run\n"},
	} {
		put(t, map[string][]byte{filepath.Join(dir, "text.bin"): x.text})
		if _, errs, _ := said("summary", dir, "--events", filepath.Join(dir, "e.jsonl")); !strings.Contains(errs, x.said) {
			t.Errorf("%x: got %.600s, want %s", x.text, errs, x.said)
		}
	}
}

// TestTextISA would catch text of a core that is read as of another instruction
// set than was asked for.
func TestTextISA(t *testing.T) {
	dir := pokedSnapshot(t, "0x801")
	for _, x := range []struct{ flag, want string }{
		{"", "nop"}, {"--isa=a64", "nop"}, {"--isa=a32", "strle"}, {"--isa=t32", "movs r0, #31"},
		{"--isa=t16", `--isa "t16": need a64, a32 or t32`},
	} {
		args := []string{"text", dir, "--at", "start", "--range", "400008-40000c"}
		if x.flag != "" {
			args = append(args, x.flag)
		}
		var out bytes.Buffer
		run(args, nil, &out, &out)
		if !strings.Contains(out.String(), x.want) {
			t.Errorf("%s: got %q, want %s", x.flag, out.String(), x.want)
		}
	}
}
