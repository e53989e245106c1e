package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// perfTool runs perf and returns what it prints; the test is skipped where there
// is none that reads CoreSight.
func perfTool(t *testing.T, home string, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("perf")
	if err != nil {
		t.Skipf("no perf to compare with: %v", err)
	}
	c := exec.Command(path, args...)
	c.Env = append(os.Environ(), "HOME="+home)
	var errs bytes.Buffer
	c.Stderr = &errs
	out, err := c.Output()
	if s := string(out) + errs.String(); strings.Contains(s, "OpenCSD is not linked in") {
		t.Skip("perf is not linked with OpenCSD")
	}
	if err != nil {
		t.Fatalf("perf %s: %v: %s", args[0], err, errs.String())
	}
	return string(out)
}

// TestPerfAgrees would catch a recording of cs_etm that perf itself takes
// otherwise: the header, AUXTRACE_INFO, which bytes are whose packets, and what
// a thread executed. Of AUXTRACE_INFO it is versions 0 and 1, since perf 6.1 reads
// no other.
func TestPerfAgrees(t *testing.T) {
	dir := t.TempDir()
	prog, rec := filepath.Join(dir, "prog"), filepath.Join(dir, "perf.data")
	if err := os.WriteFile(prog, fields(uint32(0xd503201f), uint32(0xd503201f), uint32(0x17fffffe), make([]byte, 4084)), 0o777); err != nil {
		t.Fatal(err)
	}
	ours := func(args ...string) []string {
		out, errs, code := said(args...)
		if code != exitWhole {
			t.Errorf("ptdecode %s: exit code %d: %s", args[0], code, errs)
		}
		return strings.Split(strings.TrimSpace(out), "\n")
	}
	packet := regexp.MustCompile(`(?m)^\s*Idx:\d+; ID:([0-9a-f]+);\s*(I_[A-Z]+)`)
	words := strings.NewReplacer("I_ASYNC", "A-Sync", "I_TRACE", "Trace", "I_ADDR", "Target", "I_ATOM", "Atom", "I_TIMESTAMP", "Timestamp")
	for _, x := range []csFile{{version: 0}, {version: 1}, {version: 1, thread: true, noCPU: true, plain: true, prog: prog}} {
		if err := os.WriteFile(rec, x.bytes(t), 0o666); err != nil {
			t.Fatal(err)
		}
		theirs := map[string][]string{}
		for _, m := range packet.FindAllStringSubmatch(perfTool(t, dir, "report", "-D", "-i", rec), -1) {
			theirs[m[1]] = append(theirs[m[1]], words.Replace(m[2]))
		}
		got := map[string][]string{}
		for _, l := range ours("packets", rec) {
			w := strings.Fields(l)
			id := map[string]string{"0": "10", "1": "12"}[w[0]]
			got[id] = append(got[id], w[2])
		}
		if x.thread { // one stream of both
			theirs = map[string][]string{"": append(theirs["10"], theirs["12"]...)}
			got = map[string][]string{"": got[""]}
		}
		if a, b := count(theirs), count(got); a != b {
			t.Errorf("version %d, thread %t: packets: perf has\n%s\nhere are\n%s", x.version, x.thread, a, b)
		}
		if !x.thread {
			continue
		}
		theirIPs := strings.Fields(perfTool(t, dir, "script", "-i", rec, "--itrace=i1i", "-F", "ip"))
		ips := ours("flow", rec, "--level", "insn", "-F", "ip")
		for i := range ips {
			ips[i] = strings.TrimLeft(ips[i], "0")
		}
		if a, b := strings.Join(theirIPs, " "), strings.Join(ips, " "); a != b || len(ips) != 192 {
			t.Errorf("perf has %d instructions, here are %d:\n%.200s\n%.200s", len(theirIPs), len(ips), a, b)
		}
	}
}

// count renders how many of each word there are, by list.
func count(lists map[string][]string) string {
	var s strings.Builder
	for _, id := range sortedKeys(lists) {
		n := map[string]int{}
		for _, w := range lists[id] {
			n[w]++
		}
		fmt.Fprintf(&s, "%s:", id)
		for _, w := range sortedKeys(n) {
			fmt.Fprintf(&s, " %s %d", w, n[w])
		}
		s.WriteByte('\n')
	}
	return s.String()
}
