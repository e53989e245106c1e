// Command sbom writes which modules went into builds of this module: a bill of materials
// in SPDX 2.3's JSON form (spdx.github.io/spdx-spec/v2.3). It reads what the Go tool wrote
// into each binary, so it lists what was linked, not what go.mod allows.
//
//	go run ./cmd/internal/sbom -version v1.2.3 -time 1700000000 BINARY...
package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

func main() {
	version := flag.String("version", "", "the `VERSION` of the release")
	unix := flag.Int64("time", 0, "the time of the release, in `SECONDS` since 1970")
	flag.Parse()
	if err := run(os.Stdout, *version, time.Unix(*unix, 0).UTC(), flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// run reads the binaries and writes their bill of materials.
func run(w io.Writer, version string, at time.Time, binaries []string) error {
	if version == "" || len(binaries) == 0 {
		return fmt.Errorf("give -version and the binaries of the release")
	}
	var builds []*debug.BuildInfo
	for _, name := range binaries {
		info, err := buildinfo.ReadFile(name)
		if err != nil {
			return fmt.Errorf("%s: %w; is it a binary that the Go tool built?", name, err)
		}
		builds = append(builds, info)
	}
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(bill(version, at, builds))
}

// document is an SPDX document, the parts of it that are used.
type document struct {
	Version       string         `json:"spdxVersion"`
	License       string         `json:"dataLicense"`
	ID            string         `json:"SPDXID"`
	Name          string         `json:"name"`
	Namespace     string         `json:"documentNamespace"`
	Creation      creation       `json:"creationInfo"`
	Packages      []part         `json:"packages"`
	Relationships []relationship `json:"relationships"`
}

type creation struct {
	Created  string   `json:"created"`
	Creators []string `json:"creators"`
}

// part is a package in SPDX's sense: a module, or Go's own library.
type part struct {
	ID       string `json:"SPDXID"`
	Name     string `json:"name"`
	Version  string `json:"versionInfo"`
	Download string `json:"downloadLocation"`
	Analyzed bool   `json:"filesAnalyzed"`
	Comment  string `json:"comment,omitempty"`
	Refs     []ref  `json:"externalRefs"`
}

type ref struct {
	Category string `json:"referenceCategory"`
	Type     string `json:"referenceType"`
	Locator  string `json:"referenceLocator"`
}

type relationship struct {
	From string `json:"spdxElementId"`
	Kind string `json:"relationshipType"`
	To   string `json:"relatedSpdxElement"`
}

// bill returns the document for builds, each part once and in the order of names.
func bill(version string, at time.Time, builds []*debug.BuildInfo) document {
	root := builds[0].Main.Path
	var parts []part
	for _, b := range builds {
		parts = append(parts, module("std", strings.TrimPrefix(b.GoVersion, "go"), ""))
		for _, m := range b.Deps {
			if m.Replace != nil {
				m = m.Replace
			}
			parts = append(parts, module(m.Path, m.Version, m.Sum))
		}
	}
	slices.SortFunc(parts, func(a, b part) int { return strings.Compare(a.ID, b.ID) })
	parts = slices.CompactFunc(parts, func(a, b part) bool { return a.ID == b.ID })
	self := module(root, version, "")
	doc := document{
		Version: "SPDX-2.3", License: "CC0-1.0", ID: "SPDXRef-DOCUMENT", Name: "ptdecode " + version,
		Creation: creation{at.Format(time.RFC3339), []string{"Tool: ptdecode-sbom"}},
		Packages: append([]part{self}, parts...),
	}
	doc.Relationships = []relationship{{doc.ID, "DESCRIBES", self.ID}}
	sum := sha256.New()
	for _, p := range doc.Packages {
		fmt.Fprintln(sum, p.ID, p.Comment)
		if p.ID != self.ID {
			doc.Relationships = append(doc.Relationships, relationship{self.ID, "DEPENDS_ON", p.ID})
		}
	}
	doc.Namespace = fmt.Sprintf("https://%s/sbom/%s-%x", root, version, sum.Sum(nil)[:8])
	return doc
}

// module returns the part that is a module.
func module(path, version, sum string) part {
	p := part{
		ID: "SPDXRef-" + identifier(path+"-"+version), Name: path, Version: version, Download: "NOASSERTION",
		Refs: []ref{{"PACKAGE-MANAGER", "purl", "pkg:golang/" + path + "@" + strings.ReplaceAll(version, "+", "%2B")}},
	}
	if sum != "" {
		p.Comment = "go.sum: " + sum
	}
	return p
}

// identifier replaces what an SPDX identifier may not have: all but letters, digits, "." and "-".
func identifier(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == '.' {
			return r
		}
		return '-'
	}, s)
}
