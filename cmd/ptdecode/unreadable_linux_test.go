package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// asNobody returns what runs the command as a user who may not read every file. It is this
// user, unless that is root.
func asNobody(t *testing.T, dir string) func(args ...string) (out, errs string, code int) {
	t.Helper()
	exe := filepath.Join(dir, process)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	from, err := os.Open(self)
	if err != nil {
		t.Fatal(err)
	}
	defer from.Close()
	to, err := os.OpenFile(exe, os.O_CREATE|os.O_WRONLY, 0o755)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(to, from); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	for d := dir; d != filepath.Clean(os.TempDir()) && d != "/"; d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	return func(args ...string) (out, errs string, code int) {
		var o, e bytes.Buffer
		c := exec.Command(exe, args...)
		c.Dir, c.Stdout, c.Stderr, c.Stdin = dir, &o, &e, strings.NewReader("q\n")
		c.Env = append(os.Environ(), "HOME="+dir)
		if os.Geteuid() == 0 {
			const nobody = 65534
			c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
		}
		exit := (*exec.ExitError)(nil)
		switch err := c.Run(); {
		case errors.Is(err, os.ErrPermission):
			t.Skip("no other user may run programs here: ", err)
		case errors.As(err, &exit):
			code = exit.ExitCode()
		case err != nil:
			t.Fatal(err)
		}
		return o.String(), e.String(), code
	}
}

// TestUnreadableVerbs would catch a verb that stops, or is silent, where a file of the kernel
// may not be read, is not there, or is a directory. What the verb does not need, it need
// not tell of.
func TestUnreadableVerbs(t *testing.T) {
	dir, err := os.MkdirTemp("", "unreadable")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	files := demoFiles(must(t))
	data := (&perfFile{}).bytes(must(t))
	do := asNobody(t, dir)
	type spoilt struct {
		name, file, want string
		spoil            func(path string) error
	}
	for _, x := range testsize.Some(t, []spoilt{
		{"locked", "kcore", "permission denied", func(p string) error { return os.Chmod(p, 0) }},
		{"locked", "kallsyms", "permission denied", func(p string) error { return os.Chmod(p, 0) }},
		{"gone", "kcore", "kcore: 0 files beside the recording", os.Remove},
		{"gone", "kallsyms", "kallsyms: 0 files beside the recording", os.Remove},
		{"directory", "kcore", "is a directory", func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o777)) }},
		{"directory", "kallsyms", "is a directory", func(p string) error { return errors.Join(os.Remove(p), os.Mkdir(p, 0o777)) }},
	}, 4) {
		rec := x.name + "-" + x.file
		at := filepath.Join(dir, rec)
		put(t, map[string][]byte{
			filepath.Join(at, "data"): data, filepath.Join(at, "kcore_dir/kcore"): files["kcore"], filepath.Join(at, "kcore_dir/kallsyms"): files["kallsyms"],
		})
		if err := x.spoil(filepath.Join(at, "kcore_dir", x.file)); err != nil {
			t.Fatal(err)
		}
		symbols := x.file == "kallsyms"
		for _, v := range []struct {
			args  string
			needs bool // the file, and so tells of it
			empty bool // it may have nothing to print
		}{
			{"info REC", true, false}, {"check REC", true, symbols}, {"flow REC", true, false}, {"calls REC", true, true}, {"hot REC", true, true},
			{"summary REC", true, false}, {"packets REC", false, false}, {"pokes --no-flow REC", symbols, false}, {"pokes --traps REC", true, true},
			{"events REC", false, false}, {"text REC --at start --range 0xffffffff81000020-0xffffffff81000030", true, true},
			{"export REC -o folded:REC.folded", true, true}, {"bundle REC -o REC.tar.zst", true, true}, {"diff REC REC", true, true}, {"step REC", true, false},
		} {
			if v.args == "step REC" && !symbols {
				continue // there is nothing to walk through, and it says so
			}
			fails := v.args == "diff REC REC" && symbols // nothing has a name by which it could be compared
			out, errs, code := do(strings.Fields(strings.ReplaceAll(v.args, "REC", rec))...)
			if fails != (code == exitFailed) || !fails && code != exitWhole && code != exitGaps || out == "" && !v.empty || v.needs && !strings.Contains(out+errs, x.want) {
				t.Errorf("%s, %s: exit code %d, %d bytes of output, without %q:\n%.400s", rec, v.args, code, len(out), x.want, errs)
			}
		}
	}
}
