package itm

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// testCase is a line of testdata/packets/itm.txt: the bytes of one packet,
// those after it, and its text.
type testCase struct {
	line        int
	bytes, rest []byte
	text        string
	kind        Kind
}

const caseFile = "../../testdata/packets/itm.txt"

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
		b, err1 := hex.DecodeString(head)
		r, err2 := hex.DecodeString(rest)
		word, _, _ := strings.Cut(text, " ")
		k := Kind(0)
		for k < NumKinds && specs[k].text != word {
			k++
		}
		if !ok || !ok2 || err1 != nil || err2 != nil || k == NumKinds {
			t.Fatalf("%s:%d: %q: need hex|hex TAB text", caseFile, n, line)
		}
		cases = append(cases, testCase{n, b, r, text, k})
	}
	return cases
}

// Catches, packet by packet, a wrong length, a wrong field, a text that does
// not come back, and a kind that no case shows.
func TestCases(t *testing.T) {
	seen := map[Kind]bool{}
	for _, c := range readCases(t) {
		seen[c.kind] = true
		var p Packet
		NewLexer(append(bytes.Clone(c.bytes), c.rest...), 0).Next(&p)
		if p.Size() != int64(len(c.bytes)) {
			t.Errorf("%s:%d: %v: %d bytes, want %d", caseFile, c.line, p, p.Size(), len(c.bytes))
		}
		if text := string(AppendText(nil, p, c.bytes)); text != c.text {
			t.Errorf("%s:%d: text %q, want %q", caseFile, c.line, text, c.text)
		}
		q, raw, err := ParseText(c.text)
		if err != nil || !bytes.Equal(raw, c.bytes) {
			t.Errorf("%s:%d: %q gives %x, %v, want %x", caseFile, c.line, c.text, raw, err, c.bytes)
		}
		if q != p && c.kind != Bad {
			t.Errorf("%s:%d: %q gives %+v, want %+v", caseFile, c.line, c.text, q, p)
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
		{"swat 1 1 1", `"swat": no packet has that name`},
		{"swit 32 1 1", "does not fit"},
		{"swit 1", "bytes is missing"},
		{"swit 1 3 0", "no packet holds that"},
		{"swit 1 1 0x100", "no packet holds that"},
		{"dwt 1 4 0x100000000", "does not fit"},
		{"sync 4", "no packet holds that"},
		{"sync 1000000000", "at most"},
		{"overflow 1", `"1" is too much`},
		{"lts1 0x10000000", "does not fit"},
		{"lts1 300 length 1", "no packet holds that"},
		{"lts1 1 length 5", "no packet holds that"},
		{"lts1 1 length 0", "no packet holds that"},
		{"lts2 0", "no packet holds that"},
		{"lts2 7", "no packet holds that"},
		{"gts1 0x4000000", "no packet holds that"},
		{"gts1 1 clkch length 3", "no packet holds that"},
		{"gts2 1 length 7", "no packet holds that"},
		{"ext 8 0", "does not fit"},
		{"ext 1 1 length 0", "no packet holds that"},
		{"ext 1 x", `"x" is no number`},
		{"bad", "two hex digits"},
		{"bad 0", "two hex digits"},
	} {
		if _, _, err := ParseText(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ParseText(%q): %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := Assemble(nil, "overflow\n# no more\nlts2\n"); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("Assemble: %v, want the number of the line", err)
	}
}

// Catches a reason for bad bytes that is not told apart from another.
func TestBadIsExplained(t *testing.T) {
	for code, want := range map[string]string{
		"\x80":     "BAD 1 bytes: no packet starts so",
		"\x03\x01": "BAD 2 bytes: SWIT: packet cut short: have 2 bytes, need 5",
		"\x00\x01": "BAD 2 bytes: SYNC: reserved form",
		"\xc0\x80": "BAD 2 bytes: LTS1: packet cut short: have 2 bytes, need 3",
	} {
		var p Packet
		NewLexer([]byte(code), 0).Next(&p)
		if p.String() != want {
			t.Errorf("%x: %q, want %q", code, p.String(), want)
		}
	}
}
