package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/ptdecode/ptdecode/cmd/internal/chromium"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// bigTrace returns raw Intel PT of 8 GiB, mruby's again and again, in the file that
// PTDECODE_BIG names. It makes the file where there is none.
func bigTrace(t *testing.T, once string) string {
	t.Helper()
	path := os.Getenv("PTDECODE_BIG")
	if path == "" {
		t.Skip("PTDECODE_BIG is not set: no file for a trace of 8 GiB")
	}
	const size = 8 << 30
	if st, err := os.Stat(path); err == nil && st.Size() >= size {
		return path
	}
	b, err := os.ReadFile(once)
	if err != nil {
		t.Fatal(err)
	}
	b = bytes.Repeat(b, 64)
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for n := 0; n < size && err == nil; n += len(b) {
		_, err = f.Write(b)
	}
	if e := f.Close(); err != nil || e != nil {
		t.Fatal(err, e)
	}
	return path
}

// TestViewBig would catch a page of 8 GiB of trace that takes more memory than --memory says.
// It looks when the page is drawn, and when a lane is opened here and there. It logs how long
// the first picture took, from the start of the command on.
func TestViewBig(t *testing.T) {
	data := filepath.Join(testsize.Recordings(t), "pt-user/mruby")
	trace := bigTrace(t, filepath.Join(data, "cpu0.pt"))
	t.Cleanup(chromium.Stop)
	b := chromium.Open(t)

	began := time.Now()
	c := exec.Command(process, "view", "--http", "127.0.0.1:0", "--no-open", "-q", "--memory", "512MiB",
		"--pt", trace, "--kcore", filepath.Join(data, "text.core"), "--cpu-model", "6/94")
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Process.Signal(os.Interrupt); io.Copy(io.Discard, out); c.Wait() })
	url, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("the URL after %v", time.Since(began).Round(time.Millisecond))
	peak := func(when string) {
		t.Helper()
		text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", c.Process.Pid))
		if err != nil {
			t.Fatal(err)
		}
		m := regexp.MustCompile(`(?m)^VmHWM:\s+(\d+) kB`).FindSubmatch(text)
		if m == nil {
			t.Fatal("the system does not tell the peak of a process")
		}
		kib, _ := strconv.Atoi(string(m[1]))
		t.Logf("%s: %v after the start, peak %d MiB", when, time.Since(began).Round(time.Millisecond), kib>>10)
		if kib > 512<<10 {
			t.Errorf("%s: %d MiB at the peak, want 512 at most", when, kib>>10)
		}
	}
	b.Show(strings.TrimSpace(url))
	b.Wait("the first picture", "[...document.querySelectorAll('#lanes .lane .sure, #lanes .lane .rough')].some((p) => p.getAttribute('d'))")
	peak("first picture")
	for _, place := range []string{"", "#t=+0x100000000,+0x100100000", "#t=+0x1f0000000,+0x1f0100000"} {
		b.Show(strings.TrimSpace(url) + place)
		b.Wait("the page", "document.querySelector('#lanes .lane .body') !== null")
		b.Click("a lane", "document.querySelector('#lanes .lane .body')")
		b.Wait("instructions", "document.querySelectorAll('.steps tr.insn').length > 0")
		peak("instructions " + place)
	}
	time.Sleep(5 * time.Second)
	peak("five seconds on")
}
