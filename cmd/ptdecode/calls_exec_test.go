package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/recorded"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// notCalled is code with a name that other code runs into, or branches to on a condition,
// in Debian's 6.1 kernel, and one function whose call a probe's handler emulates.
var notCalled = []string{
	"copy_user_short_string", "__put_user_nocheck_8", "entry_SYSCALL_64_safe_stack", "entry_SYSCALL_64_after_hwframe",
	"syscall_return_via_sysret", "entry_SYSRETQ_unsafe_stack", "common_interrupt_return", "swapgs_restore_regs_and_return_to_usermode", "restore_regs_and_return_to_kernel",
	"early_xen_iret_patch", "native_irq_return_iret", "__fdget_pos",
}

// deepest is more calls than ever lie in one another in these recordings.
const deepest = 32

// TestCallsRan would catch calls that are left out or made up, a system call that does not
// begin at depth 0, and depths that drift. It compares with how often CPUs of real
// recordings executed the first instruction of each function.
func TestCallsRan(t *testing.T) {
	for _, name := range []string{"kprobes", "tracepoints-coarse"} {
		if !testsize.Full(t) && name != "kprobes" {
			continue
		}
		s, dir := recorded.Pokes(t, name)
		out, err := runQuietly("flow", filepath.Join(dir, "perf.data"), "-q", "--level", "call", "-o", "jsonl", "-F", "cpu,ip", "--raw-traps")
		if err != nil {
			t.Fatal(err)
		}
		called, entries := map[uint64]uint64{}, 0
		for line := range bytes.Lines([]byte(out)) {
			var call struct {
				Type, IP string
				Depth    int
			}
			if err := json.Unmarshal(line, &call); err != nil {
				t.Fatal(err)
			}
			if call.Type != "call" {
				continue
			}
			ip, _ := strconv.ParseUint(call.IP, 16, 64)
			called[ip]++
			if y, off, ok := s.Symbols().Lookup(ip, 0); ok && off == 0 && y.Name == "entry_SYSCALL_64" {
				if entries++; call.Depth != 0 {
					t.Errorf("%s: a system call at depth %d: %s", name, call.Depth, line)
				}
			}
			if call.Depth > deepest {
				t.Fatalf("%s: a call at depth %d: %s", name, call.Depth, line)
			}
		}
		ran := testsize.Ran(t, dir)
		functions := 0
		for _, ip := range slices.Sorted(maps.Keys(ran)) {
			y, off, ok := s.Symbols().Lookup(ip, 0)
			if !ok || off != 0 || !y.Code || slices.Contains(notCalled, y.Name) || called[ip] == 0 && thunkName(y.Name) {
				continue
			}
			if functions++; called[ip] != ran[ip] {
				t.Errorf("%s: %s: %d calls, ran %d times", name, y.Name, called[ip], ran[ip])
			}
		}
		if functions < 500 || entries < 100 {
			t.Errorf("%s: %d functions and %d system calls were compared: too few to tell", name, functions, entries)
		}
	}
}

// thunkName reports whether a function only leads on for a call.
func thunkName(name string) bool {
	return strings.HasPrefix(name, "__SCT__") || strings.HasPrefix(name, "__x86_") || name == "its_return_thunk"
}

// TestEntriesAtDepth0 would catch an entry from user space that is drawn inside of calls of the
// kernel: of all recordings of kernels. The names and offsets of the entries are the
// kernel's (entry_SYSCALL_64; on arm64 the lower half of vectors).
func TestEntriesAtDepth0(t *testing.T) {
	root := testsize.Recordings(t)
	arm := func(name, names string) []string {
		dir := filepath.Join(root, "kernel-pokes-arm64")
		at := map[string]string{"a57": "ffff800080010000", "max": "ffff9ad86fe10000"}[names] // its snapshots say so
		return []string{
			filepath.Join(dir, name, "fine"), "--all-buffers", "--text", filepath.Join(dir, "text", names+".bin") + "@" + at,
			"--kallsyms", filepath.Join(dir, "text", names+".kallsyms"), "--events", filepath.Join(dir, name, "journal.jsonl"), "--sym", "vectors",
		}
	}
	x86 := func(name string) []string {
		return []string{filepath.Join(root, "kernel-pokes-x86", name, "perf.data"), "--sym", "entry_SYSCALL_64"}
	}
	all := [][]string{x86("kprobes"), arm("a57-kprobe", "a57")}
	if testsize.Full(t) {
		for _, name := range []string{"ftrace", "nomitig-late", "tracepoints-coarse", "tracepoints"} {
			all = append(all, x86(name))
		}
		all = append(all, arm("a57-jump", "a57"), arm("max-jump", "max"), arm("max-ftrace", "max"))
	}
	for _, args := range all {
		var out, errs bytes.Buffer
		if code := run(append([]string{"flow", "-q", "--level", "call", "-o", "jsonl"}, args...), nil, &out, &errs); code != exitWhole && code != exitGaps {
			t.Fatalf("%s: exit code %d: %s", args[0], code, errs.String())
		}
		entries := 0
		for line := range bytes.Lines(out.Bytes()) {
			var call struct {
				Type, Sym  string
				Off, Depth int
			}
			if err := json.Unmarshal(line, &call); err != nil {
				t.Fatal(err)
			}
			if call.Type != "call" || call.Sym == "vectors" && call.Off < 0x400 {
				continue
			}
			if entries++; call.Depth != 0 {
				t.Errorf("%s: an entry at depth %d: %s", args[0], call.Depth, line)
			}
		}
		if entries < 100 {
			t.Errorf("%s: %d entries: too few to tell", args[0], entries)
		}
		t.Logf("%s: %d entries", args[0], entries)
	}
}
