package main

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestTrapEnds would catch a trap whose row has the wrong place where the flow goes
// on, and a handler that ran without a row. It compares with what the CPUs of real
// recordings executed.
func TestTrapEnds(t *testing.T) {
	root := testsize.Recordings(t)
	// In all of them, by their kallsyms: asm_exc_int3, native_irq_return_iret.
	const entry, iret = 0xffffffff91200ba0, 0xffffffff91201220
	for name, want := range map[string]int{"ftrace": 1, "kprobes": 19, "tracepoints-coarse": 67} {
		if !testsize.Full(t) && name != "kprobes" {
			continue
		}
		dir := filepath.Join(root, "kernel-pokes-x86", name)
		out, err := runQuietly("flow", filepath.Join(dir, "perf.data"), "-q", "-o", "jsonl", "-F", "cpu,ip")
		if err != nil {
			t.Fatal(err)
		}
		ips := [][]uint64{testsize.Executed(t, filepath.Join(dir, "cpu0.ips.zst")), testsize.Executed(t, filepath.Join(dir, "cpu1.ips.zst"))}
		for line := range bytes.Lines([]byte(out)) {
			var trap struct {
				Type, IP, Resume string
				CPU              int
			}
			if !bytes.HasPrefix(line, []byte(`{"type":"trap"`)) {
				continue
			}
			if err := json.Unmarshal(line, &trap); err != nil {
				t.Fatal(err)
			}
			want--
			to, _ := strconv.ParseUint(trap.Resume, 16, 64)
			ran := ips[trap.CPU]
			for len(ran) > 0 && ran[0] != entry {
				ran = ran[1:]
			}
			i := 0
			for i < len(ran) && ran[i] != iret { // nothing interrupted these handlers
				i++
			}
			// A breakpoint does not retire: one may stand where the flow goes on.
			if i+1 >= len(ran) || ran[i+1] != to && ran[i+1] != entry {
				t.Fatalf("%s: cpu%d: %s", name, trap.CPU, line)
			}
			ips[trap.CPU] = ran[1:]
		}
		for cpu := range ips {
			for _, ip := range ips[cpu] {
				if ip == entry {
					t.Errorf("%s: cpu%d: the handler ran once more", name, cpu)
				}
			}
		}
		if want != 0 {
			t.Errorf("%s: %d traps more were taken", name, want)
		}
	}
}

// TestSource catches a thread's own stream that is printed as CPU -1.
func TestSource(t *testing.T) {
	for _, c := range []struct {
		st   *decoder.Stream
		want string
	}{
		{&decoder.Stream{CPU: 0, TID: -1, Name: "cpu0"}, "000"},
		{&decoder.Stream{CPU: 12, TID: -1, Name: "cpu12"}, "012"},
		{&decoder.Stream{CPU: -1, TID: 77, Name: "tid77"}, "tid77"},
	} {
		if got := cpuOrThread(c.st); got != c.want {
			t.Errorf("%s: %s, want %s", c.st.Name, got, c.want)
		}
	}
}

// TestTrapObjects would catch an object of pokes --traps that tells less of a trap than the row of
// flow does, or something else.
func TestTrapObjects(t *testing.T) {
	root := testsize.Recordings(t)
	x86, arm := filepath.Join(root, "kernel-pokes-x86"), filepath.Join(root, "kernel-pokes-arm64")
	for name, c := range map[string]struct {
		args []string
		want int
	}{
		"x86": {[]string{filepath.Join(x86, "tracepoints-coarse/perf.data")}, 67},
		"arm": {[]string{filepath.Join(arm, "a57-kprobe/fine"), "--events", filepath.Join(arm, "a57-kprobe/journal.jsonl"),
			"--kallsyms", filepath.Join(arm, "text/a57.kallsyms"), "--text", filepath.Join(arm, "text/a57.bin") + "@0xffff800080010000"}, 290},
	} {
		traps := func(args ...string) (list []string) {
			var out bytes.Buffer
			run(append(append(args, "-q", "-o", "jsonl"), c.args...), strings.NewReader(""), &out, io.Discard) // of a snapshot, parts may be missing
			for line := range bytes.Lines(out.Bytes()) {
				if !bytes.HasPrefix(line, []byte(`{"type":"trap"`)) {
					continue
				}
				keys := map[string]any{}
				if err := json.Unmarshal(line, &keys); err != nil {
					t.Fatal(err)
				}
				if keys["poke"] == nil {
					delete(keys, "verdict") // pokes has that of the change alone
				}
				text, err := json.Marshal(keys)
				if err != nil {
					t.Fatal(err)
				}
				list = append(list, string(text))
			}
			slices.Sort(list)
			return list
		}
		told, rows := traps("pokes", "--traps"), traps("flow", "--flags", "trap")
		if len(told) != c.want || !slices.Equal(told, rows) {
			t.Errorf("%s: %d objects, want %d as in flow: %d\n%s\n%s", name, len(told), c.want, len(rows), strings.Join(told[:min(2, len(told))], "\n"), strings.Join(rows[:min(2, len(rows))], "\n"))
		}
	}
}
