package main

import (
	"bytes"
	"encoding/json"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestBill would catch a module of one platform that the bill lacks, one that it has twice,
// and an identifier that SPDX does not allow.
func TestBill(t *testing.T) {
	a := &debug.Module{Path: "example.com/a_b", Version: "v0.1.0", Sum: "h1:a"}
	b := &debug.Module{Path: "example.com/b", Version: "v0.2.0+incompatible", Sum: "h1:b"}
	main := debug.Module{Path: "example.com/m"}
	doc := bill("v1", time.Unix(0, 0).UTC(), []*debug.BuildInfo{
		{GoVersion: "go1.26.0", Main: main, Deps: []*debug.Module{a}},
		{GoVersion: "go1.26.0", Main: main, Deps: []*debug.Module{a, b}},
	})
	var got []string
	for _, p := range doc.Packages {
		got = append(got, p.ID)
	}
	want := []string{"SPDXRef-example.com-m-v1", "SPDXRef-example.com-a-b-v0.1.0", "SPDXRef-example.com-b-v0.2.0-incompatible", "SPDXRef-std-1.26.0"}
	if !slices.Equal(got, want) {
		t.Errorf("packages %q, want %q", got, want)
	}
	if got := doc.Packages[2].Refs[0].Locator; got != "pkg:golang/example.com/b@v0.2.0%2Bincompatible" {
		t.Errorf("locator %s", got)
	}
	if len(doc.Relationships) != 4 || doc.Creation.Created != "1970-01-01T00:00:00Z" {
		t.Errorf("%d relationships, created %s", len(doc.Relationships), doc.Creation.Created)
	}
}

// TestRun would catch a binary that is not read, and output that is no JSON. The binary is
// this test.
func TestRun(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := run(&out, "v1", time.Unix(0, 0).UTC(), []string{self}); err != nil {
		t.Fatal(err)
	}
	var doc document
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil || len(doc.Packages) < 2 {
		t.Errorf("%d packages, %v", len(doc.Packages), err)
	}
	if err := run(&out, "v1", time.Unix(0, 0).UTC(), []string{"main.go"}); err == nil || !strings.Contains(err.Error(), "main.go") {
		t.Errorf("a file that is no binary: %v", err)
	}
}
