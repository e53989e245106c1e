package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"testing"
)

// TestFileHints would catch an error of a file that does not say what to do about it, and a
// hint of another error.
func TestFileHints(t *testing.T) {
	for err, want := range map[error]string{
		&fs.PathError{Op: "mkdir", Path: "x", Err: syscall.EACCES}:              "run as a user who may",
		fmt.Errorf("bundle: %w", &os.PathError{Op: "open", Err: syscall.EPERM}): "run as a user who may",
		&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}:              "make room there",
		&fs.PathError{Op: "open", Path: "no/x", Err: syscall.ENOENT}:            "mkdir -p makes it",
	} {
		var said strings.Builder
		newUI(io.Discard, &said).fail(err)
		if !strings.Contains(said.String(), "\nptdecode: hint: ") || !strings.Contains(said.String(), want) {
			t.Errorf("%v: no %q in\n%s", err, want, &said)
		}
	}
}
