package profile

import (
	"context"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"github.com/ptdecode/ptdecode/cmd/internal/loopback"
)

// TestPages would catch pages of pprof that lack what the profile has, that browsers may not
// draw, and that answer whoever does not know the token.
func TestPages(t *testing.T) {
	inner, outer := &profile.Function{ID: 1, Name: "inner_one"}, &profile.Function{ID: 2, Name: "outer_one"}
	at := []*profile.Location{{ID: 1, Address: 16, Line: []profile.Line{{Function: inner}}}, {ID: 2, Address: 32, Line: []profile.Line{{Function: outer}}}}
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "instructions", Unit: "count"}}, Function: []*profile.Function{inner, outer}, Location: at,
		Sample: []*profile.Sample{{Location: at, Value: []int64{7654}}},
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, w := io.Pipe()
	ended := make(chan error)
	go func() {
		ended <- pages(p, func(h http.Handler) error { return loopback.Show(ctx, w, "127.0.0.1:0", false, h) }, t.Logf)
	}()
	line := make([]byte, 200)
	n, err := r.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(string(line[:n]))
	get := func(url string) (int, string, string) {
		res, err := http.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(b), res.Header.Get("Content-Security-Policy")
	}
	for _, page := range []string{"", "flamegraph", "top", "peek"} {
		code, body, policy := get(url + page)
		if code != http.StatusOK || !strings.Contains(body, "inner_one") || !strings.Contains(body, "outer_one") || !strings.Contains(policy, "script-src 'unsafe-inline'") {
			t.Errorf("%q: %d, %d bytes, policy %s", page, code, len(body), policy)
		}
	}
	base, _, _ := strings.Cut(url[len("http://"):], "/")
	if code, _, _ := get("http://" + base + "/" + strings.Repeat("0", 32) + "/top"); code != http.StatusNotFound {
		t.Errorf("without the token: %d, want 404", code)
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
