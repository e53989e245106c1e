package main

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestProfileServed would catch a server that does not give what ran, or does not end when it is
// interrupted. It may give nothing without the URL's token, or by another host's name.
func TestProfileServed(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process can be interrupted on Windows")
	}
	dir := filepath.Join(t.TempDir(), "parts")
	var out, errs strings.Builder
	if code := run([]string{"demo", "--keep", dir}, nil, &out, &errs); code != exitWhole {
		t.Fatalf("exit code %d: %s", code, errs.String())
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	c := exec.Command(process, "profile", "--pt", "0:"+in("cpu0.pt"), "--pt", "1:"+in("cpu1.pt"), "--kcore", in("kcore"),
		"--kallsyms", in("kallsyms"), "--events", in("events.jsonl"), "--no-open", "-q", "--sym", "handle_*")
	stdout, err := c.StdoutPipe()
	must(t)(err)
	must(t)(c.Start())
	t.Cleanup(func() { _ = c.Process.Kill() })
	line, err := bufio.NewReader(stdout).ReadString('\n')
	must(t)(err)
	url := strings.TrimSpace(line)
	get := func(url, host string) (int, string) {
		r, err := http.NewRequest(http.MethodGet, url, nil)
		must(t)(err)
		if host != "" {
			r.Host = host
		}
		answer, err := http.DefaultClient.Do(r)
		must(t)(err)
		defer answer.Body.Close()
		page, err := io.ReadAll(answer.Body)
		must(t)(err)
		return answer.StatusCode, string(page)
	}
	if code, page := get(url+"top", ""); code != http.StatusOK || !strings.Contains(page, "handle_event") || strings.Contains(page, "text_poke_bp") {
		t.Errorf("%stop: status %d, and not what ran in handle_*: %.200s", url, code, page)
	}
	root := url[:strings.LastIndexByte(strings.TrimSuffix(url, "/"), '/')+1]
	if code, _ := get(root+"top", ""); code != http.StatusNotFound {
		t.Errorf("without the token: status %d, want 404", code)
	}
	if code, _ := get(url+"top", "example.com"); code != http.StatusForbidden {
		t.Errorf("by another host's name: status %d, want 403", code)
	}
	must(t)(c.Process.Signal(os.Interrupt))
	if err := c.Wait(); err != nil {
		t.Errorf("interrupted: %v", err)
	}
}

// TestProfileOfNothing would catch empty pages of which nothing says why.
func TestProfileOfNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process can be interrupted on Windows")
	}
	dir := filepath.Join(t.TempDir(), "parts")
	if code := run([]string{"demo", "--keep", dir}, nil, io.Discard, io.Discard); code != exitWhole {
		t.Fatalf("exit code %d", code)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	var errs strings.Builder
	c := exec.Command(process, "profile", "--pt", "0:"+in("cpu0.pt"), "--kcore", in("kcore"), "--kallsyms", in("kallsyms"),
		"--events", in("events.jsonl"), "--no-open", "--sym", "handle_event")
	c.Stderr = &errs
	stdout, err := c.StdoutPipe()
	must(t)(err)
	must(t)(c.Start())
	_, err = bufio.NewReader(stdout).ReadString('\n')
	_ = c.Process.Kill()
	_ = c.Wait()
	must(t)(err)
	if want := "nothing of the flow passes --sym handle_event"; !strings.Contains(errs.String(), want) {
		t.Errorf("said %q, without %q", errs.String(), want)
	}
}

// TestProfileLacks would catch a profile that keeps to itself what is not in it: gaps, which other verbs have an
// exit code for, and instructions that are ambiguous.
func TestProfileLacks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no process can be interrupted on Windows")
	}
	dir := filepath.Join(t.TempDir(), "parts")
	if code := run([]string{"demo", "--keep", dir}, nil, io.Discard, io.Discard); code != exitWhole {
		t.Fatalf("exit code %d", code)
	}
	var errs strings.Builder
	c := exec.Command(process, "profile", "--pt", "0:"+filepath.Join(dir, "cpu0.pt"), "--events", filepath.Join(dir, "events.jsonl"), "--no-open")
	c.Stderr = &errs
	stdout, err := c.StdoutPipe()
	must(t)(err)
	must(t)(c.Start())
	t.Cleanup(func() { _ = c.Process.Kill() })
	_, err = bufio.NewReader(stdout).ReadString('\n')
	must(t)(err)
	must(t)(c.Process.Signal(os.Interrupt))
	var exit *exec.ExitError
	if err := c.Wait(); !errors.As(err, &exit) || exit.ExitCode() != exitGaps {
		t.Errorf("interrupted: %v, want the exit code %d", err, exitGaps)
	}
	if !strings.Contains(errs.String(), " gap") {
		t.Errorf("said %q, and nothing of gaps", errs.String())
	}
}
