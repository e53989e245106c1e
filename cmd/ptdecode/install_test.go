package main

import (
	"archive/zip"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestGoInstall would catch a module that go install cannot take at a version or @latest: a
// replaced module, an empty folder to embed, a lost or retracted version. It serves the tree
// as a proxy (go.dev/ref/mod, "GOPROXY protocol"), to a module cache of links to the modules
// that are there. @latest is by that protocol the newest release in @v/list, here neither the
// first nor the last of three. Compiling takes a minute of CPU, so it asks the Go tool only
// for what it would do, unless INSTALL=1 is set.
func TestGoInstall(t *testing.T) {
	const module, version = "github.com/ptdecode/ptdecode", "v0.0.2"
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Skipf("no go command to install with: %v", err)
	}
	proxy, work := t.TempDir(), t.TempDir()
	at := filepath.Join(proxy, module, "@v")
	if err := os.MkdirAll(at, 0o777); err != nil {
		t.Fatal(err)
	}
	mod, err := os.ReadFile("../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"list": "v0.0.1\n" + version + "\nv0.1.0-rc.1\n", version + ".info": `{"Version":"` + version + `"}`, version + ".mod": string(mod)} {
		if err := os.WriteFile(filepath.Join(at, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	zipModule(t, "../..", filepath.Join(at, version+".zip"), module+"@"+version+"/")

	mods := filepath.Join(work, "mod")
	for _, dir := range []string{"", "github.com", "cache/download", "cache/download/github.com"} {
		linkAll(t, filepath.Join(strings.TrimSpace(string(cache)), dir), filepath.Join(mods, dir))
	}
	for _, query := range testsize.Some(t, []string{"latest", version}, 1) {
		args := []string{"install", "-n", module + "/cmd/ptdecode@" + query}
		if os.Getenv("INSTALL") != "" {
			args = append(args[:1], args[2:]...)
		}
		c := exec.Command("go", args...)
		c.Dir = work
		served := "file://" + filepath.ToSlash(proxy)
		c.Env = append(c.Environ(), "GOPROXY="+served, "GOMODCACHE="+mods, "GOBIN="+filepath.Join(work, query),
			"GOFLAGS=-modcacherw", "GOSUMDB=off", "GOTOOLCHAIN=local", "GOWORK=off")
		b, err := c.CombinedOutput()
		out := string(b)
		if strings.Contains(out, "no such file or directory") && strings.Contains(out, "reading file://") && !strings.Contains(out, "reading "+served+"/"+module+"/") {
			t.Skipf("the module cache lacks what go install needs: %s", out)
		}
		if err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
		if os.Getenv("INSTALL") == "" {
			if !strings.Contains(out, module+"@"+version) {
				t.Errorf("go %s does not build %s:\n%s", strings.Join(args, " "), version, out)
			}
			continue
		}
		got, err := exec.Command(filepath.Join(work, query, "ptdecode"), "version").Output()
		if err != nil || !strings.HasPrefix(string(got), "ptdecode "+version+" go1") {
			t.Errorf("the command that go %s installed says %q, %v", strings.Join(args, " "), got, err)
		}
	}
	if os.Getenv("INSTALL") == "" {
		t.Log("only what go install would do was asked; INSTALL=1 installs")
	}
}

// linkAll makes links in the folder to, one to each entry of the folder from. Entries that
// the test has as folders of its own, or serves, are left out.
func linkAll(t *testing.T, from, to string) {
	t.Helper()
	entries, err := os.ReadDir(from)
	if err != nil {
		t.Skipf("no module cache: %v", err)
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		switch e.Name() {
		case "cache", "github.com", "ptdecode":
			continue
		}
		if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			t.Skipf("no links: %v", err)
		}
	}
}

// zipModule writes the tree at dir as the Go tool wants modules (go.dev/ref/mod, "Module zip
// files"): each file under prefix, none of what git does not keep.
func zipModule(t *testing.T, dir, name, prefix string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (rel == ".git" || rel == "bin"):
			return filepath.SkipDir
		case !d.Type().IsRegular() || rel == ".git":
			return nil
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: prefix + filepath.ToSlash(rel), Method: zip.Store})
		if err != nil {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		_, err = w.Write(b)
		return err
	})
	for _, err := range []error{err, z.Close(), f.Close()} {
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestMakeInstall would catch a file that make install forgets or puts elsewhere, completion
// that does not call the command, and anything that make uninstall leaves. The command is
// this test, so nothing is built.
func TestMakeInstall(t *testing.T) {
	if _, err := exec.LookPath("make"); err != nil || runtime.GOOS == "windows" {
		t.Skip("no make")
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	work, root := t.TempDir(), t.TempDir()
	bin := filepath.Join(work, "ptdecode")
	link := filepath.Join(work, process)
	if err := os.Symlink(self, link); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(bin, []byte("#!/bin/sh\nexec "+link+" \"$@\"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	run := func(target string) {
		t.Helper()
		out, err := exec.Command("make", "-C", "../..", target, "BIN="+bin, "DESTDIR="+root, "PREFIX=/opt/p", "GO=false").CombinedOutput()
		if err != nil {
			t.Fatalf("make %s: %v\n%s", target, err, out)
		}
	}
	run("install")
	pages, err := filepath.Glob("../../docs/man/*.1")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no manual pages: %v", err)
	}
	want := map[string]string{ // file: what is in it
		"bin/ptdecode": process,
		"share/bash-completion/completions/ptdecode":    "__start_ptdecode ptdecode",
		"share/zsh/site-functions/_ptdecode":            "#compdef ptdecode",
		"share/fish/vendor_completions.d/ptdecode.fish": "complete -c ptdecode",
	}
	for _, p := range pages {
		want["share/man/man1/"+filepath.Base(p)] = ".TH PTDECODE"
	}
	for name, has := range want {
		text, err := os.ReadFile(filepath.Join(root, "opt/p", name))
		if err != nil || !strings.Contains(string(text), has) {
			t.Errorf("%s does not hold %q: %v", name, has, err)
		}
	}
	if left := files(t, root); len(left) != len(want) {
		t.Errorf("%d files were installed, want %d: %q", len(left), len(want), left)
	}
	if out, err := exec.Command(filepath.Join(root, "opt/p/bin/ptdecode"), "--version").Output(); err != nil || !strings.HasPrefix(string(out), "ptdecode ") {
		t.Errorf("the installed command says %q, %v", out, err)
	}
	run("uninstall")
	if left := files(t, root); len(left) != 0 {
		t.Errorf("make uninstall leaves %q", left)
	}
}

// files returns the names of all files under dir.
func files(t *testing.T, dir string) (names []string) {
	t.Helper()
	if err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, path)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return names
}
