package main

import (
	"strings"
	"testing"
)

// TestReport would catch a failure that is not shown or not counted, a test
// that is skipped without a word, and noise of tests that passed.
func TestReport(t *testing.T) {
	const passed = `{"Action":"run","Package":"m/a","Test":"TestA"}
{"Action":"output","Package":"m/a","Test":"TestA","Output":"=== RUN   TestA\n"}
{"Action":"output","Package":"m/a","Test":"TestA","Output":"    a_test.go:1: noise\n"}
{"Action":"output","Package":"m/a","Test":"TestA","Output":"--- PASS: TestA (0.00s)\n"}
{"Action":"pass","Package":"m/a","Test":"TestA"}
{"Action":"output","Package":"m/a","Output":"PASS\n"}
{"Action":"output","Package":"m/a","Output":"ok  \tm/a\t0.1s\n"}
{"Action":"pass","Package":"m/a"}
`
	skip := func(name, why string) string {
		return `{"Action":"output","Package":"m/a","Test":"` + name + `","Output":"    a_test.go:1: ` + why + `\n"}
{"Action":"skip","Package":"m/a","Test":"` + name + `"}
`
	}
	for _, c := range []struct {
		what, in, want string
		ok             bool
	}{
		{"a package that passed", passed, "ok  \tm/a\t0.1s\n", true},
		{"tests that want recordings",
			skip("TestB", "PTDECODE_DATA is not set") + skip("TestC", "PTDECODE_DATA is not set") + passed,
			"ok  \tm/a\t0.1s\n2 tests " + noRecordings + ": a 2\n", true},
		{"a test that wants something else", skip("TestB", "no perf here") + passed,
			"ok  \tm/a\t0.1s\n1 test did not run: no perf here: TestB\n", true},
		{"a test in its small form", strings.ReplaceAll(passed, "noise", "small form: PTDECODE_FULL is not set"),
			"ok  \tm/a\t0.1s\n1 test " + smallForm + ": TestA\n", true},
		{"a failure", `{"Action":"output","Package":"m/a","Test":"TestB","Output":"    a_test.go:1: wrong\n"}
{"Action":"output","Package":"m/a","Test":"TestB","Output":"--- FAIL: TestB (0.00s)\n"}
{"Action":"fail","Package":"m/a","Test":"TestB"}
{"Action":"output","Package":"m/a","Output":"FAIL\tm/a\t0.1s\n"}
{"Action":"fail","Package":"m/a"}
` + passed, "    a_test.go:1: wrong\n--- FAIL: TestB (0.00s)\nFAIL\tm/a\t0.1s\nok  \tm/a\t0.1s\n", false},
		{"a test that breaks off", `{"Action":"output","Package":"m/a","Test":"TestB","Output":"fatal error: stack\n"}
{"Action":"output","Package":"m/a","Output":"FAIL\tm/a\t0.1s\n"}
{"Action":"fail","Package":"m/a"}
`, "fatal error: stack\nFAIL\tm/a\t0.1s\n", false},
		{"what does not build", `{"ImportPath":"m/a","Action":"build-output","Output":"a.go:1: undefined\n"}
{"Action":"output","Package":"m/a","Output":"FAIL\tm/a [build failed]\n"}
{"Action":"fail","Package":"m/a"}
`, "a.go:1: undefined\nFAIL\tm/a [build failed]\n", false},
	} {
		var out strings.Builder
		ok, err := report(strings.NewReader(c.in), &out)
		if err != nil || ok != c.ok || out.String() != c.want {
			t.Errorf("%s: %v, %v, printed\n%swant %v and\n%s", c.what, ok, err, out.String(), c.ok, c.want)
		}
	}
	if _, err := report(strings.NewReader(""), &strings.Builder{}); err == nil {
		t.Error("nothing was tested, and that is no error")
	}
}
