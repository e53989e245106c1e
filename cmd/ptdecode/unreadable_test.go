package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUnreadableBuffer catches a trace buffer that may not be read and is taken
// for an empty one: decoded, to nothing.
func TestUnreadableBuffer(t *testing.T) {
	dir := pokedSnapshot(t, "0x801")
	if err := os.Chmod(filepath.Join(dir, "trace.bin"), 0); err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(filepath.Join(dir, "trace.bin")); err == nil {
		f.Close()
		t.Skip("this user reads every file, whatever its mode: run as another")
	}
	for _, verb := range []string{"flow", "packets"} {
		var out, errs bytes.Buffer
		code := run([]string{verb, dir}, strings.NewReader(""), &out, &errs)
		for _, want := range []string{"trace.bin+0x0: cannot be read: permission denied", "make the trace buffer's file readable", "there is no trace to decode"} {
			if !strings.Contains(errs.String(), want) {
				t.Errorf("%s: no %q in\n%s", verb, want, errs.String())
			}
		}
		if code != exitFailed || out.Len() > 0 {
			t.Errorf("%s: exit code %d, want %d; stdout %q", verb, code, exitFailed, out.String())
		}
	}
}
