package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// blanks is how deep a call lies. Backwards, that may be counted from elsewhere.
var blanks = regexp.MustCompile(` +`)

// flowLines returns the lines of flow.
func flowLines(args ...string) []string {
	out, _, _ := said(append([]string{"flow", "-q", "--allow-gaps"}, args...)...)
	return strings.Split(strings.TrimSuffix(blanks.ReplaceAllString(out, " "), "\n"), "\n")
}

// mirrored compares flow of args with --reverse, line by line.
func mirrored(t *testing.T, args ...string) (lines int) {
	t.Helper()
	forwards, back := flowLines(args...), flowLines(append(args, "--reverse")...)
	slices.Reverse(back)
	for i := range max(len(forwards), len(back)) {
		if i >= len(forwards) || i >= len(back) || forwards[i] != back[i] {
			t.Errorf("%v: line %d of %d differs, read backwards there are %d", args, i+1, len(forwards), len(back))
			break
		}
	}
	return len(forwards)
}

// TestBackwards would catch lines that --reverse loses, doubles, or has in another order of streams. Segments may state no
// time at their begin, or an earlier one than the segment before them ends with, and a stream none at all. It would also
// catch a call that skips an INT3 at most, which enters nothing, and is listed backwards.
func TestBackwards(t *testing.T) {
	data := testsize.Recordings(t)
	arm := filepath.Join(data, "kernel-pokes-arm64")
	var recs [][]string
	for _, dir := range testsize.Recorded(t, "coresight/snapshots/*") {
		name := filepath.Base(dir)
		if name == "bugfix-exact-match" {
			continue // one stream, of 6 million lines
		}
		if testsize.Full(t) || slices.Contains([]string{"Snowball", "TC2", "texit-poe2"}, name) {
			recs = append(recs, []string{dir, "--all-buffers"})
		}
	}
	recs = append(recs, []string{filepath.Join(arm, "repro", "snapshot")})
	for _, dir := range testsize.Recorded(t, "kernel-pokes-arm64/max-jump/coarse-rs/snapshot.ini") {
		dir = filepath.Dir(dir)
		text, err := os.ReadFile(filepath.Join(dir, "text.bin")) // what it was a link to
		if err != nil {
			t.Fatal(err)
		}
		ini, err := os.ReadFile(filepath.Join(dir, "cpu_0.ini"))
		if err != nil {
			t.Fatal(err)
		}
		_, addr, _ := strings.Cut(string(ini), "address=")
		addr, _, _ = strings.Cut(addr, "\n")
		recs = append(recs, []string{dir, "--all-buffers", "--events", filepath.Join(dir, "..", "journal.jsonl"),
			"--text", filepath.Join(arm, "text", filepath.Base(string(text))) + "@" + addr})
	}
	if testsize.Full(t) {
		recs = append(recs, []string{filepath.Join(data, "kernel-pokes-x86", "kprobes", "perf.data")})
	}
	lines := 0
	for _, rec := range recs {
		for _, level := range []string{"branch", "block", "call", "element"} {
			lines += mirrored(t, append(slices.Clone(rec), "--level", level)...)
		}
		lines += mirrored(t, append(slices.Clone(rec), "--level", "block", "--gaps", "--notes")...)
	}
	if lines < 10_000 {
		t.Errorf("%d lines in all", lines)
	}
}
