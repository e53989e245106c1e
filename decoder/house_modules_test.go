package decoder_test

import (
	"go/version"
	"os/exec"
	"strings"
	"testing"
)

// TestModules would catch a go.mod that go mod tidy would change, and one that
// asks for a newer Go than its modules do. It reads the module cache only, and
// skips where that lacks something.
func TestModules(t *testing.T) {
	if out, err := goCommand("mod", "tidy", "-diff").CombinedOutput(); err != nil {
		skipUnlessCached(t, string(out), err)
		t.Errorf("go mod tidy would change go.mod or go.sum:\n%s", out)
	}
	const module = "{{with .Module}}{{.GoVersion}} {{.Main}} {{.Path}}{{end}}"
	out, err := goCommand("list", "-deps", "-test", "-f", module, "./...").CombinedOutput()
	if err != nil {
		skipUnlessCached(t, string(out), err)
		t.Fatalf("go list: %v\n%s", err, out)
	}
	ours, newest, asks := "", "", ""
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) != 3 { // an old module that names no version
			continue
		}
		if v := "go" + f[0]; f[1] == "true" {
			ours = v
		} else if version.Compare(v, newest) > 0 {
			newest, asks = v, f[2]
		}
	}
	if ours == "" || newest == "" {
		t.Fatalf("no versions in what go list says:\n%s", out)
	}
	if version.Compare(ours, newest) != 0 {
		t.Errorf("go.mod asks for %s; the newest that a module asks for is %s (%s)", ours, newest, asks)
	}
}

// goCommand is the go command at the top of the tree, which must not fetch
// anything.
func goCommand(args ...string) *exec.Cmd {
	c := exec.Command("go", args...)
	c.Dir = ".."
	c.Env = append(c.Environ(), "GOPROXY=off", "GOTOOLCHAIN=local", "GOFLAGS=-mod=mod", "GOWORK=off")
	return c
}

// skipUnlessCached skips where what failed is that there is no go command, or
// that the cache lacks a module.
func skipUnlessCached(t *testing.T, out string, err error) {
	t.Helper()
	switch {
	case strings.Contains(out, "GOPROXY=off"):
		t.Skipf("the module cache lacks what this needs: %s", out)
	case strings.Contains(err.Error(), exec.ErrNotFound.Error()):
		t.Skip(err)
	}
}
