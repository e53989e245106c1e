package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// must returns what ends t where it is given an error.
func must(t *testing.T) func(error) {
	return func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// said runs the command with args. It returns what that printed, what it said, and its
// exit code.
func said(args ...string) (out, errs string, code int) {
	var o, e bytes.Buffer
	code = run(args, strings.NewReader(""), &o, &e)
	return o.String(), e.String(), code
}

// put writes files, by their paths. It makes the folders that they lie in.
func put(t *testing.T, list map[string][]byte) {
	t.Helper()
	for name, b := range list {
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
