package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// serveView runs view until the test ends, and returns what its API answers.
func serveView(t *testing.T, args ...string) (get func(path string) []byte) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	out, in := io.Pipe()
	code := make(chan int, 1)
	a := &app{out: in, ui: newUI(in, io.Discard)}
	go func() {
		code <- a.execute(ctx, append([]string{"view", "--http", "127.0.0.1:0", "--no-open"}, args...))
	}()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	u, err := url.Parse(strings.TrimSpace(line))
	if err != nil || u.Query().Get("token") == "" {
		t.Fatalf("the first line is %q, want a URL with a token (%v)", line, err)
	}
	t.Cleanup(func() {
		stop()
		select {
		case c := <-code:
			if c != exitWhole {
				t.Errorf("exit code %d", c)
			}
		case <-time.After(10 * time.Second):
			t.Error("view does not end when it is interrupted")
		}
	})
	return func(path string) []byte {
		r, err := http.Get(fmt.Sprintf("http://%s/api/%s&token=%s", u.Host, path, u.Query().Get("token")))
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != http.StatusOK {
			t.Fatalf("%s: %d %s (%v)", path, r.StatusCode, b, err)
		}
		return b
	}
}

// TestViewStory would catch a poke's story in the page that differs from what pokes
// prints of it, and a command line below it that prints something else.
func TestViewStory(t *testing.T) {
	data := testsize.Recordings(t)
	for _, rec := range []string{"kernel-pokes-x86/tracepoints-coarse/perf.data", "kernel-pokes-x86/kprobes/perf.data"} {
		rec = filepath.Join(data, rec)
		get := serveView(t, rec)
		for _, n := range []string{"3", "20", "40"} {
			var got struct {
				Poke    any
				Command string
			}
			if err := json.Unmarshal(get("poke?n="+n), &got); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			if c := run(strings.Fields(got.Command)[1:], nil, &out, &errs); c != exitWhole && c != exitGaps {
				t.Fatalf("%s: exit code %d: %s", got.Command, c, &errs)
			}
			var want any
			if err := json.Unmarshal(out.Bytes(), &want); err != nil {
				t.Fatalf("%s: %v", got.Command, err)
			}
			if d := cmp.Diff(want, got.Poke); d != "" {
				t.Errorf("%s prints otherwise than the page shows (-want +got):\n%s", got.Command, d)
			}
		}
	}
}
