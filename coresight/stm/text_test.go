package stm

import (
	"os"
	"strings"
	"testing"
)

// testCase is a line of testdata/packets/stm.txt: the half bytes of one
// packet, those after it, and its text.
type testCase struct {
	line         int
	digits, rest string
	text         string
	kind         Kind
}

const caseFile = "../../testdata/packets/stm.txt"

func readCases(t testing.TB) []testCase {
	t.Helper()
	data, err := os.ReadFile(caseFile)
	if err != nil {
		t.Fatal(err)
	}
	var cases []testCase
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		code, text, ok := strings.Cut(line, "\t")
		head, rest, ok2 := strings.Cut(code, "|")
		word, _, _ := strings.Cut(text, " ")
		k := Kind(0)
		for k < NumKinds && specs[k].text != word {
			k++
		}
		if !ok || !ok2 || strings.Trim(head+rest, "0123456789abcdef") != "" || k == NumKinds {
			t.Fatalf("%s:%d: %q: need digits|digits TAB text", caseFile, n, line)
		}
		cases = append(cases, testCase{n, head, rest, text, k})
	}
	return cases
}

// fromDigits returns the bytes of half bytes given as hex digits.
func fromDigits(digits string) []byte {
	var w writer
	w.digits(digits)
	return w.dst
}

// Catches, packet by packet and in both halves of a byte, a wrong length, a
// wrong field, a text that does not come back, and a kind that no case shows.
func TestCases(t *testing.T) {
	seen := map[Kind]bool{}
	for _, c := range readCases(t) {
		seen[c.kind] = true
		for half := range 2 {
			all := strings.Repeat("0", half) + c.digits + c.rest
			if len(all)%2 != 0 {
				if c.rest == "" && c.kind == Bad {
					continue // a half byte more would be part of it
				}
				all += "0"
			}
			buf := fromDigits(all)
			l := NewLexer(buf, 100)
			var p Packet
			for range half + 1 {
				l.Next(&p)
			}
			if p.Size() != int64(len(c.digits)) || p.Off != 100 || int(p.Half) != half {
				t.Errorf("%s:%d: %v: %d half bytes at %d and %d, want %d", caseFile, c.line, p, p.Size(), p.Off, p.Half, len(c.digits))
				continue
			}
			if text := string(AppendText(nil, p, buf[:p.End()-100])); text != c.text {
				t.Errorf("%s:%d: text %q, want %q", caseFile, c.line, text, c.text)
			}
			q, digits, err := ParseText(c.text)
			if err != nil || digits != c.digits {
				t.Errorf("%s:%d: %q gives %s, %v, want %s", caseFile, c.line, c.text, digits, err, c.digits)
			}
			if p.Off, p.Half = 0, 0; q != p && c.kind != Bad {
				t.Errorf("%s:%d: %q gives %+v, want %+v", caseFile, c.line, c.text, q, p)
			}
		}
	}
	for k := range NumKinds {
		if !seen[k] {
			t.Errorf("%s: no case of %v", caseFile, k)
		}
	}
}

// Catches text that is taken though no packet holds it.
func TestParseTextRefuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "empty line"},
		{"d128 1", `"d128": no packet has that name`},
		{"d8", "data is missing"},
		{"d8 x", `"x" is no number`},
		{"d8 0x100", "no packet holds that"},
		{"d8 1 2", `"2" is too much`},
		{"d4 0x10", "no packet holds that"},
		{"null 1", `"1" is too much`},
		{"version 2", "no packet holds that"},
		{"freq 0x100000000", "no packet holds that"},
		{"flag.ts", "timestamp is missing"},
		{"flag.ts ts", "timestamp is missing"},
		{"flag.ts ts x", `length "x" is no number`},
		{"flag.ts ts 1:", "missing behind its length"},
		{"flag.ts ts 1: x", `"x" is no number`},
		{"flag.ts ts 1: 0x10", "no packet holds that"},
		{"flag.ts ts 1", "missing behind its length"},
		{"flag.ts ts 0: 0", ""},
		{"flag.ts ts 13: 1", "no packet holds that"},
		{"flag.ts ts 15: 1", "no packet holds that"},
		{"flag.ts ts 17: 1", "no packet holds that"},
		{"bad", "need half bytes"},
		{"bad zz", "need half bytes"},
	} {
		_, _, err := ParseText(c.text)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("ParseText(%q): %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := Assemble("null\n# no more\nd8\n"); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("Assemble: %v, want the number of the line", err)
	}
}

// Catches a reason for bad bytes that is not told apart from another.
func TestBadIsExplained(t *testing.T) {
	for digits, want := range map[string]string{
		"f123": "BAD 4 half bytes: no packet starts so",
		"f0":   "BAD 2 half bytes: packet cut short",
		"6123": "BAD 4 half bytes: D32: packet cut short: have 4 half bytes, need 9",
		"ef":   "BAD 2 half bytes: FLAG_TS: reserved form",
		"8a53": "BAD 4 half bytes: D8MTS: packet cut short: have 4 half bytes, need 7",
	} {
		var p Packet
		NewLexer(fromDigits(digits), 0).Next(&p)
		if p.String() != want {
			t.Errorf("%s: %q, want %q", digits, p.String(), want)
		}
	}
}
