package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The scripts of testdata/script are txtar archives: a comment that is a list
// of commands, then files. They are a small part of the language of
// github.com/rogpeppe/go-internal/testscript, run in this process:
//
//	ptdecode ARGS       run the command; "! ptdecode" must not exit 0, "? ptdecode" may
//	code N              the last exit code is N
//	stdin FILE          what the next ptdecode reads
//	stdout RE, stderr RE, grep RE FILE    a line matches; "!": none does
//	cmp A B             the files are alike; stdout and stderr name the last output
//	lines FILE N                the file has N lines
//	cp A B, env K=V, skip WHY
//	trace, bytes, cut, reversed, goldens, json, tail: see scriptCommands
//
// Words may stand in single quotes; outside of them $K is replaced; [data] or
// [!data] in front of a command makes it conditional on there being recordings.

// With -update, "cmp stdout FILE" (or stderr) writes FILE in the archive.

var update = flag.Bool("update", false, "write the expected outputs of scripts")

// script is one running script.
type script struct {
	t         *testing.T
	dir       string
	env       map[string]string
	out, errs []byte
	code      int
	stdin     []byte
	where     string
	updates   map[string]string // with -update: files to be rewritten
}

// TestScripts runs the scripts of testdata/script: a verb or a flag each. What
// each would catch stands in its first comment.
func TestScripts(t *testing.T) {
	files, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatal("no scripts", err)
	}
	for i, f := range files {
		if files[i], err = filepath.Abs(f); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) {
			b, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			s := &script{t: t, dir: t.TempDir(), env: map[string]string{"DATA": os.Getenv("PTDECODE_DATA")}, updates: map[string]string{}}
			t.Chdir(s.dir)
			commands, archive := splitArchive(string(b))
			for name, text := range archive {
				s.check(os.MkdirAll(filepath.Dir(name), 0o777))
				s.check(os.WriteFile(name, []byte(text), 0o666))
			}
			for n, line := range strings.Split(commands, "\n") {
				s.where = fmt.Sprintf("%s:%d: %s", filepath.Base(f), n+1, line)
				s.do(line)
			}
			for name, text := range s.updates {
				b = replaceFile(b, name, text)
			}
			if len(s.updates) > 0 {
				s.check(os.WriteFile(f, b, 0o666))
			}
		})
	}
}

// splitArchive parses a txtar archive.
func splitArchive(text string) (comment string, files map[string]string) {
	files = map[string]string{}
	name := ""
	var b strings.Builder
	end := func() {
		if name == "" {
			comment = b.String()
		} else {
			files[name] = b.String()
		}
		b.Reset()
	}
	for line := range strings.Lines(text) {
		if l := strings.TrimRight(line, "\n"); strings.HasPrefix(l, "-- ") && strings.HasSuffix(l, " --") && len(l) > 6 {
			end()
			name = strings.TrimSpace(l[3 : len(l)-3])
			continue
		}
		b.WriteString(line)
	}
	end()
	return comment, files
}

// replaceFile gives a file of an archive another text.
func replaceFile(archive []byte, name, text string) []byte {
	head := "\n-- " + name + " --\n"
	before, rest, _ := strings.Cut(string(archive), head)
	after := ""
	if i := strings.Index("\n"+rest, "\n-- "); i >= 0 {
		after = rest[i:]
	}
	return []byte(before + head + text + after)
}

// words splits a line, outside of single quotes replacing $K.
func (s *script) words(line string) (out []string) {
	for line = strings.TrimSpace(line); line != "" && line[0] != '#'; line = strings.TrimLeft(line, " \t") {
		w := ""
		for line != "" && line[0] != ' ' && line[0] != '\t' {
			if line[0] == '\'' {
				in, rest, ok := strings.Cut(line[1:], "'")
				if !ok {
					s.fatal("a quote is not closed")
				}
				w, line = w+in, rest
				continue
			}
			n := strings.IndexAny(line, "' \t")
			if n < 0 {
				n = len(line)
			}
			w, line = w+os.Expand(line[:n], func(k string) string { return s.env[k] }), line[n:]
		}
		out = append(out, w)
	}
	return out
}

// do runs one line.
func (s *script) do(line string) {
	s.t.Helper()
	w := s.words(line)
	if len(w) > 0 && (w[0] == "[data]" || w[0] == "[!data]") {
		if (s.env["DATA"] != "") != (w[0] == "[data]") {
			return
		}
		w = w[1:]
	}
	if len(w) == 0 {
		return
	}
	how := ""
	if w[0] == "!" || w[0] == "?" {
		how, w = w[0], w[1:]
	}
	switch cmd, args := w[0], w[1:]; cmd {
	case "ptdecode":
		var out, errs bytes.Buffer
		s.code = run(args, bytes.NewReader(s.stdin), &out, &errs)
		s.out, s.errs, s.stdin = out.Bytes(), errs.Bytes(), nil
		if how != "?" && (s.code != 0) != (how == "!") {
			s.fatal("exit code %d", s.code)
		}
	case "stdout", "stderr", "grep":
		s.matches(cmd, args, how == "!")
	default:
		f := scriptCommands()[cmd]
		if f == nil {
			s.fatal("no such command")
		}
		f(s, args)
	}
}

// matches searches lines for a regular expression.
func (s *script) matches(cmd string, args []string, none bool) {
	s.t.Helper()
	file := cmd
	if cmd == "grep" && len(args) == 2 {
		file, args = args[1], args[:1]
	}
	if len(args) != 1 {
		s.fatal("need one expression")
	}
	re, err := regexp.Compile("(?m)" + args[0])
	s.check(err)
	if re.MatchString(s.read(file)) == none {
		s.fatal("a line matches: %v", none)
	}
}

// read returns a file's text; stdout and stderr are the last output.
func (s *script) read(name string) string {
	s.t.Helper()
	switch name {
	case "stdout":
		return string(s.out)
	case "stderr":
		return string(s.errs)
	}
	b, err := os.ReadFile(name)
	s.check(err)
	return string(b)
}

func (s *script) check(err error) {
	s.t.Helper()
	if err != nil {
		s.fatal("%v", err)
	}
}

func (s *script) fatal(format string, args ...any) {
	s.t.Helper()
	show := func(b []byte) []byte { return b[:min(len(b), 2000)] }
	s.t.Fatalf("%s: %s\nexit code %d, stdout:\n%s\nstderr:\n%s", s.where, fmt.Sprintf(format, args...), s.code, show(s.out), show(s.errs))
}

// scriptCommands returns the commands but for those that do knows itself.
func scriptCommands() map[string]func(*script, []string) {
	return map[string]func(*script, []string){
		"skip":  func(s *script, a []string) { s.t.Skip(strings.Join(a, " ")) },
		"stdin": func(s *script, a []string) { s.stdin = []byte(s.read(a[0])) },
		"cp":    func(s *script, a []string) { s.check(os.WriteFile(a[1], []byte(s.read(a[0])), 0o666)) },
		"env": func(s *script, a []string) {
			k, v, _ := strings.Cut(a[0], "=")
			s.env[k] = v
		},
		"lines": func(s *script, a []string) {
			if n := strings.Count(s.read(a[0]), "\n"); strconv.Itoa(n) != a[1] {
				s.fatal("%d lines in %s, want %s", n, a[0], a[1])
			}
		},
		"code": func(s *script, a []string) {
			if strconv.Itoa(s.code) != a[0] {
				s.fatal("exit code %d, want %s", s.code, a[0])
			}
		},
		"cmp": func(s *script, a []string) {
			if got, want := s.read(a[0]), s.read(a[1]); got != want {
				if *update && (a[0] == "stdout" || a[0] == "stderr") {
					s.updates[a[1]] = got
					return
				}
				s.fatal("%s is\n%s\nwant\n%s", a[0], got[:min(len(got), 4000)], want[:min(len(want), 4000)])
			}
		},
		"reversed": func(s *script, a []string) {
			got := strings.Split(strings.TrimSuffix(s.read(a[0]), "\n"), "\n")
			slices.Reverse(got)
			want := strings.Split(strings.TrimSuffix(s.read(a[1]), "\n"), "\n")
			if i := firstDifference(got, want); i >= 0 {
				s.fatal("line %d of %s, read backwards, differs; lines: %d, %d", i+1, a[0], len(got), len(want))
			}
		},
		"trace": scriptTrace, "bytes": scriptBytes, "cut": scriptCut, "goldens": scriptGoldens, "perf": scriptPerf,
		"json": scriptJSON, "tail": scriptTail,
	}
}

// firstDifference returns the index of the first line that is not the same, or -1.
func firstDifference(a, b []string) int {
	for i := range max(len(a), len(b)) {
		if i >= len(a) || i >= len(b) || a[i] != b[i] {
			return i
		}
	}
	return -1
}
