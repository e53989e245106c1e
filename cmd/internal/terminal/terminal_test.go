package terminal

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestColour would catch colours in a pipe or against NO_COLOR, and none where they are asked for.
func TestColour(t *testing.T) {
	for _, x := range []struct {
		when     string
		terminal bool
		env      map[string]string
		want     bool
	}{
		{"auto", true, nil, true},
		{"auto", false, nil, false},
		{"auto", true, map[string]string{"NO_COLOR": "1"}, false},
		{"auto", true, map[string]string{"TERM": "dumb"}, false},
		{"always", false, map[string]string{"NO_COLOR": "1"}, true},
		{"never", true, nil, false},
	} {
		if got := Colour(x.when, x.terminal, func(n string) string { return x.env[n] }); got != x.want {
			t.Errorf("%+v: %t", x, got)
		}
	}
}

// TestPagerCommand would catch a pager that the user did not choose.
func TestPagerCommand(t *testing.T) {
	for _, x := range []struct {
		env  map[string]string
		want string
	}{
		{map[string]string{"PTDECODE_PAGER": "most", "PAGER": "more"}, "most"},
		{map[string]string{"PAGER": "more"}, "more"},
		{map[string]string{"PAGER": "cat"}, ""},
		{map[string]string{"PTDECODE_PAGER": "", "PAGER": "more"}, ""},
		{map[string]string{"TERM": "dumb"}, ""},
	} {
		lookup := func(n string) (string, bool) { v, ok := x.env[n]; return v, ok }
		if got := PagerCommand(func(n string) string { return x.env[n] }, lookup); got != x.want {
			t.Errorf("%v: %q, want %q", x.env, got, x.want)
		}
	}
}

// TestPager would catch output that does not come to the pager whole, as nobody waits for it,
// and a pager of nothing.
func TestPager(t *testing.T) {
	file := filepath.Join(t.TempDir(), "shown")
	p := NewPager("sleep 0.1; cat > '"+file+"'", os.Stderr, os.Stderr)
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a pager of nothing was run")
	}
	for i := range 3 {
		fmt.Fprintf(p, "line %d\n", i)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != "line 0\nline 1\nline 2\n" {
		t.Errorf("%q, %v", got, err)
	}
}

// TestNoPager would catch output that nobody sees as its pager is not there, and a pager of which part
// is printed again.
func TestNoPager(t *testing.T) {
	none := filepath.Join(t.TempDir(), "nosuchpager")
	locked := filepath.Join(t.TempDir(), "locked")
	if err := os.WriteFile(locked, []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	line := strings.Repeat("0123456789abcde\n", 8)
	many := strings.Repeat(line, 2*unread/len(line))
	for _, x := range []struct {
		pager string
		lines int
		want  bool
	}{
		{none, 1, true}, {none + " -R", 50000, true}, {locked, 3, true}, {"LESS= " + none, 1, true},
		{"exit 1", 1, false}, {"cat >/dev/null; exit 127", unread/len(line) + 2, false},
	} {
		var out, errs bytes.Buffer
		p := NewPager(x.pager, &out, &errs)
		for range x.lines {
			if n, err := p.Write([]byte(line)); x.want && (err != nil || n != len(line)) {
				t.Fatalf("%s: wrote %d bytes: %v", x.pager, n, err)
			}
		}
		if n, err := p.Write([]byte(many)); x.want && (err != nil || n != len(many)) {
			t.Fatalf("%s: wrote %d bytes: %v", x.pager, n, err)
		}
		err := p.Close()
		want := ""
		if x.want {
			want = strings.Repeat(line, x.lines) + many
		}
		if out.String() != want || strings.Contains(errs.String(), "cannot be started") != x.want || x.want && err != nil {
			t.Errorf("%s: %d bytes, want %d; said %q, error %v", x.pager, out.Len(), len(want), errs.String(), err)
		}
	}
}

// TestProgress would catch a time left that is wrong, or told before anything is known of it.
func TestProgress(t *testing.T) {
	for _, x := range []struct {
		done, total int64
		took        time.Duration
		want        string
	}{
		{1 << 20, 4 << 20, 500 * time.Millisecond, " 25% of 4.0 MiB"},
		{1 << 20, 4 << 20, 2 * time.Second, " 25% of 4.0 MiB, 6 s left"},
		{1 << 20, 101 << 20, 2 * time.Second, "  0% of 101.0 MiB, 3 min 20 s left"},
		{1 << 20, 10001 << 20, 2 * time.Second, "  0% of 10001.0 MiB, 5 h 33 min left"},
		{4 << 20, 4 << 20, 2 * time.Second, "100% of 4.0 MiB"},
		{0, 4 << 20, 2 * time.Second, "  0% of 4.0 MiB"},
	} {
		if got := Progress(x.done, x.total, x.took); got != x.want {
			t.Errorf("%+v: %q", x, got)
		}
	}
}
