// Testreport reads what go test -json writes, and prints what go test prints.
// At the end it says which tests did not run, or only in their small form, and
// why. It exits 1 where a package failed, or where none was tested.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
)

func main() {
	ok, err := report(os.Stdin, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testreport:", err)
	}
	if err != nil || !ok {
		os.Exit(1)
	}
}

// line is one line of go test -json (go doc test2json).
type line struct {
	Action, Package, Test, Output string
}

// test names one test.
type test struct{ pkg, name string }

// tests is what the lines have said so far.
type tests struct {
	output      map[test][]string // of what has not ended yet
	reasons     map[string][]test // why each test was skipped, or ran small
	tested, bad int               // packages
}

// Tests are counted together where they want the same: recordings, or the full form.
const (
	noRecordings = "did not run for want of recordings (PTDECODE_DATA names their folder)"
	smallForm    = "ran in their small form (make test-full runs them whole)"
)

// report copies the outcome of r's tests to w, and reports whether all is well.
func report(r io.Reader, w io.Writer) (ok bool, err error) {
	out := bufio.NewWriter(w)
	defer out.Flush()
	all := &tests{output: map[test][]string{}, reasons: map[string][]test{}}
	in := bufio.NewScanner(r)
	in.Buffer(nil, 1<<26) // bytes: a test may print a long line
	for in.Scan() {
		var l line
		if json.Unmarshal(in.Bytes(), &l) != nil {
			fmt.Fprintln(out, in.Text())
			continue
		}
		all.read(&l, out)
		if l.Test == "" {
			out.Flush()
		}
	}
	all.print(out)
	if all.tested == 0 && in.Err() == nil {
		return false, fmt.Errorf("no package was tested")
	}
	return all.bad == 0, in.Err()
}

// read takes one line in.
func (a *tests) read(l *line, out io.Writer) {
	key := test{l.Package, l.Test}
	switch l.Action {
	case "build-output":
		fmt.Fprint(out, l.Output)
	case "output":
		if !frame.MatchString(l.Output) {
			a.output[key] = append(a.output[key], l.Output)
		}
	case "pass", "skip":
		said := a.output[key]
		switch {
		case l.Test == "": // a package's last line has its time
			fmt.Fprint(out, last(said))
			a.tested++
		case l.Action == "skip":
			why := reason(said)
			a.reasons[why] = append(a.reasons[why], key)
		case strings.Contains(strings.Join(said, ""), "PTDECODE_FULL"):
			a.reasons[smallForm] = append(a.reasons[smallForm], key)
		}
		delete(a.output, key)
	case "fail":
		if l.Test == "" {
			a.tested++
			a.bad++
			a.unfinished(l.Package, out)
		}
		fmt.Fprint(out, strings.Join(a.output[key], ""))
		delete(a.output, key)
	}
}

// unfinished prints what the tests of a package said that broke off: of a
// panic, or where time was up.
func (a *tests) unfinished(pkg string, out io.Writer) {
	var names []string
	for t := range a.output {
		if t.pkg == pkg && t.name != "" {
			names = append(names, t.name)
		}
	}
	slices.Sort(names)
	for _, n := range names {
		fmt.Fprint(out, strings.Join(a.output[test{pkg, n}], ""))
		delete(a.output, test{pkg, n})
	}
}

// frame is a line that go test prints around each test.
var frame = regexp.MustCompile(`^(=== (RUN|PAUSE|CONT|NAME) |\s*--- (PASS|SKIP): |PASS\n$)`)

// place is where a test's message comes from.
var place = regexp.MustCompile(`(?m)^\s*\w+\.go:\d+: `)

// reason is why a test that said this was skipped.
func reason(said []string) string {
	text := strings.Join(said, "")
	switch {
	case strings.Contains(text, "PTDECODE_DATA"):
		return noRecordings
	case strings.Contains(text, "PTDECODE_FULL"):
		return smallForm
	}
	first, _, _ := strings.Cut(strings.TrimSpace(place.ReplaceAllString(text, "")), "\n")
	return "did not run: " + first
}

// last returns the last line that was said.
func last(said []string) string {
	if len(said) == 0 {
		return ""
	}
	return said[len(said)-1]
}

// print says what did not run, or not whole.
func (a *tests) print(out io.Writer) {
	for _, why := range slices.Sorted(maps.Keys(a.reasons)) {
		ran := a.reasons[why]
		byPackage := map[string]int{}
		for _, t := range ran {
			byPackage[t.pkg[strings.LastIndex(t.pkg, "/")+1:]]++
		}
		var where []string
		for _, p := range slices.Sorted(maps.Keys(byPackage)) {
			where = append(where, fmt.Sprintf("%s %d", p, byPackage[p]))
		}
		noun := "tests"
		if len(ran) == 1 {
			noun, where = "test", []string{ran[0].name}
		}
		fmt.Fprintf(out, "%d %s %s: %s\n", len(ran), noun, why, strings.Join(where, ", "))
	}
}
