package main

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/pt"
)

// scriptTrace is the command "trace IN OUT": the bytes of packets in text form.
func scriptTrace(s *script, args []string) {
	b, err := pt.Assemble(nil, s.read(args[0]))
	s.check(err)
	s.check(os.WriteFile(args[1], b, 0o666))
}

// scriptBytes is the command "bytes IN OUT": the bytes of hex; what follows a #
// is passed over.
func scriptBytes(s *script, args []string) {
	var b []byte
	for line := range strings.Lines(s.read(args[0])) {
		line, _, _ = strings.Cut(line, "#")
		x, err := hex.DecodeString(strings.Join(strings.Fields(line), ""))
		s.check(err)
		b = append(b, x...)
	}
	s.check(os.WriteFile(args[1], b, 0o666))
}

// scriptCut is the command "cut IN N OUT": the first N bytes.
func scriptCut(s *script, args []string) {
	n, err := strconv.Atoi(args[1])
	s.check(err)
	s.check(os.WriteFile(args[2], []byte(s.read(args[0])[:n]), 0o666))
}

// scriptJSON is the command "json FILE": every line is a JSON object with a type.
func scriptJSON(s *script, args []string) {
	for line := range strings.Lines(s.read(args[0])) {
		var o struct{ Type string }
		if err := json.Unmarshal([]byte(line), &o); err != nil || o.Type == "" {
			s.fatal("%q: %v", line, err)
		}
	}
}

// scriptTail is the command "tail IN N OUT": the last N lines.
func scriptTail(s *script, args []string) {
	n, err := strconv.Atoi(args[1])
	s.check(err)
	lines := strings.SplitAfter(s.read(args[0]), "\n")
	s.check(os.WriteFile(args[2], []byte(strings.Join(lines[max(0, len(lines)-1-n):], "")), 0o666))
}

// scriptGoldens is the command "goldens FILE RECORDING": the file's lines
// "CPU INSTRUCTIONS SHA256" are what the reference decoder made of it.
func scriptGoldens(s *script, args []string) {
	b, err := os.ReadFile(filepath.Join(s.env["DATA"], args[1], "golden.json"))
	s.check(err)
	type sum struct {
		Instructions uint64 `json:"instructions"`
		SHA          string `json:"ips_sha256"`
	}
	var g struct {
		sum
		CPUs map[string]sum `json:"cpus"`
	}
	s.check(json.Unmarshal(b, &g))
	if g.CPUs == nil {
		g.CPUs = map[string]sum{"0": g.sum}
	}
	var want []string
	for cpu, u := range g.CPUs {
		want = append(want, fmt.Sprintf("%s %d %s", cpu, u.Instructions, u.SHA))
	}
	slices.Sort(want)
	if got := strings.TrimSpace(s.read(args[0])); got != strings.Join(want, "\n") {
		s.fatal("digests of %s:\n%s\nwant\n%s", args[1], got, strings.Join(want, "\n"))
	}
}
