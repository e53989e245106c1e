package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestExecUntimed would catch a trace without timestamps that is read by the program
// of another time. Each AUX record says when its trace was stored. Both programs loop
// at one address, by three instructions and by two.
func TestExecUntimed(t *testing.T) {
	dir := t.TempDir()
	one, two, path := filepath.Join(dir, "one"), filepath.Join(dir, "two"), filepath.Join(dir, "perf.data")
	file := csFile{version: 1, raw: true, thread: true, plain: true, noTime: true, prog: one, then: two}
	put(t, map[string][]byte{
		one:  fields(uint32(0xd503201f), uint32(0xd503201f), uint32(0x17fffffe)), // NOP; NOP; B
		two:  fields(uint32(0xd503201f), uint32(0x17ffffff)),
		path: file.bytes(t),
	})
	out, errs, _ := said("flow", path, "--level", "insn", "-F", "ip,verdict")
	lines, sure := strings.SplitAfter(out, "\n"), 32*3 // rounds that were stored before the exec
	for i, l := range lines[:sure] {
		if want := fmt.Sprintf("%016x certain\n", 0x400000+4*(i%3)); l != want {
			t.Fatalf("instruction %d is %s, want %s", i, l, want)
		}
	}
	if strings.Contains(lines[sure], "certain") {
		t.Error("what was stored after the exec, and may have run before it, is certain")
	}
	last := lines[max(sure, len(lines)-1-21*2) : len(lines)-1] // what the exec lies before as a whole
	for i, l := range last {
		if want := fmt.Sprintf("%016x certain\n", 0x400000+4*(i%2)); l != want {
			t.Fatalf("instruction %d of the last %d is %s, want %s%s", i, len(last), l, want, errs)
		}
	}
}
