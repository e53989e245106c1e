package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

// TestControlNames would catch a name of a recording, or an argument, that reaches the terminal as it
// is: one that controls it, or that breaks a line. Objects have the name as it is.
func TestControlNames(t *testing.T) {
	plain, odd := t.TempDir(), t.TempDir()
	for _, dir := range []string{plain, odd} {
		if _, errs, code := said("demo", "--keep", dir); code != exitWhole {
			t.Fatalf("exit code %d: %s", code, errs)
		}
	}
	for _, name := range []string{"worker", "patcher"} {
		rename(t, filepath.Join(plain, "events.jsonl"), `"`+name+`"`, `"????`+name+`"`)
		rename(t, filepath.Join(odd, "events.jsonl"), `"`+name+`"`, `"\u001b\u0007\n\u0085`+name+`"`)
	}
	rename(t, filepath.Join(plain, "kallsyms"), "handle_event", "handle?_event")
	rename(t, filepath.Join(odd, "kallsyms"), "handle_event", "handle\x1b_event")
	call := func(dir, verb string) (out, errs string, code int) {
		args := strings.Fields(verb)
		for _, f := range [][2]string{{"--pt", "0:cpu0.pt"}, {"--pt", "1:cpu1.pt"}, {"--kcore", "kcore"}, {"--events", "events.jsonl"}, {"--kallsyms", "kallsyms"}} {
			cpu, file, ok := strings.Cut(f[1], ":")
			if !ok {
				cpu, file = "", f[1]
			} else {
				cpu += ":"
			}
			args = append(args, f[0], cpu+filepath.Join(dir, file))
		}
		return said(args...)
	}
	for _, verb := range []string{
		"flow -F +comm", "flow --level insn -F sym,disasm", "flow --level call -F comm,sym -o tsv", "flow --width 80", "pokes", "pokes --poke 0", "pokes --traps", "summary",
		"calls", "calls --by comm", "calls --by caller", "calls --each", "calls --each --width 80", "calls --slowest 3", "hot", "hot --by edge", "hot --by block", "hot --annotate entry_SYSCALL_64",
		"info", "check", "text --at end --range ffffffff81000000-ffffffff81000060", "text --diff start,end", "step", "packets",
		"export -o folded:-", "export -o perf-script:-", "export -o perf-script-insns:-", "export -o perf-script-calls:-", "export -o perf-script-stacks:-", "export -o perf-script-brstack:-",
		"flow --comm wxrker", "flow --sym handle-event",
	} {
		want, wantErrs, wantCode := call(plain, verb)
		got, errs, code := call(odd, verb)
		if same := strings.ReplaceAll(got, odd, plain); code != wantCode || same != want {
			t.Errorf("%s: exit code %d:\n%q\nwant %d:\n%q", verb, code, same, wantCode, want)
		}
		if errs = strings.ReplaceAll(errs, odd, plain); errs != wantErrs {
			t.Errorf("%s: said\n%q\nwant\n%q", verb, errs, wantErrs)
		}
		if strings.IndexFunc(strings.ReplaceAll(got, "\t", " ")+errs, func(r rune) bool { return r != '\n' && unicode.IsControl(r) }) >= 0 {
			t.Errorf("%s: %q", verb, got)
		}
	}
	if got, _, _ := call(odd, "pokes -o jsonl"); !strings.Contains(got, `"comm":"\u001b\u0007\n`) {
		t.Errorf("an object has another name: %q", got)
	}
}

// TestControlArguments would catch an argument that controls the terminal, or that begins a line of a message.
func TestControlArguments(t *testing.T) {
	for _, args := range [][]string{
		{"flow", "--pt", "x\x1b\ny"}, {"flow", "--pt=x\x1b\ny"}, {"info", "x\x1b\ny"}, {"x\x1b\ny"}, {"explain", "x\x1b\ny"},
		{"flow", "--level", "x\x1b\ny"}, {"flow", "--x\x1b\ny"}, {"export", "-o", "x\x1b\ny"}, {"demo", "x\x1b\ny"},
	} {
		out, errs, code := said(args...)
		if lines := strings.Split(strings.TrimSuffix(errs, "\n"), "\n"); code == exitWhole || out != "" || len(lines) > 2 || strings.Contains(errs, "\x1b") {
			t.Errorf("%q: exit code %d, said %q", args, code, errs)
		}
	}
}

// rename replaces a name in a file.
func rename(t *testing.T, file, old, now string) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(b, []byte(old)) {
		t.Fatalf("%s has no %s: %v", file, old, err)
	}
	if err := os.WriteFile(file, bytes.ReplaceAll(b, []byte(old), []byte(now)), 0o666); err != nil {
		t.Fatal(err)
	}
}
