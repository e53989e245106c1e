package etmv4

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
)

// testCase is a line of testdata/packets/etmv4.txt: the trace unit, the bytes
// of one packet, those after it, and its text.
type testCase struct {
	line        int
	unit        string
	config      coresight.Config
	bytes, rest []byte
	text        string
	kind        Kind
}

const caseFile = "../../testdata/packets/etmv4.txt"

func readCases(t testing.TB) []testCase {
	t.Helper()
	data, err := os.ReadFile(caseFile)
	if err != nil {
		t.Fatal(err)
	}
	var cases []testCase
	unit := ""
	n := 0
	for line := range strings.Lines(string(data)) {
		n++
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		if name, ok := strings.CutPrefix(line, "@"); ok {
			unit = name
			continue
		}
		c, ok := testConfigs[unit]
		code, text, ok1 := strings.Cut(line, "\t")
		head, rest, ok2 := strings.Cut(code, "|")
		b, err1 := hex.DecodeString(head)
		r, err2 := hex.DecodeString(rest)
		word, _, _ := strings.Cut(text, " ")
		k := Kind(0)
		for k < NumKinds && specs[k].text != word {
			k++
		}
		if !ok || !ok1 || !ok2 || err1 != nil || err2 != nil || k == NumKinds {
			t.Fatalf("%s:%d: %q: need hex|hex TAB text, and a unit before", caseFile, n, line)
		}
		cases = append(cases, testCase{n, unit, c, b, r, text, k})
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
		NewLexer(c.config, append(bytes.Clone(c.bytes), c.rest...), 0).Next(&p)
		if p.Size() != int64(len(c.bytes)) {
			t.Errorf("%s:%d: %v: %d bytes, want %d", caseFile, c.line, p, p.Size(), len(c.bytes))
		}
		if text := string(AppendText(nil, p, c.bytes)); text != c.text {
			t.Errorf("%s:%d: text %q, want %q", caseFile, c.line, text, c.text)
		}
		q, raw, err := ParseText(c.config, c.text)
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
		{"atoms e", `"atoms": no packet has that name`},
		{"atom.f1 x", `atom 'x'`},
		{"atom.f1", "need 1 to 24 atoms"},
		{"atom.f1 ee", "no packet of this trace unit holds that"},
		{"atom.f6 " + strings.Repeat("e", 25), "need 1 to 24 atoms"},
		{"atom.f6 eee", "no packet of this trace unit holds that"},
		{"addr.short 3: 0x4", "no packet of this trace unit holds that"},
		{"addr.short 1: 0x200", "no packet of this trace unit holds that"},
		{"addr.short 1: 0x2", "no packet of this trace unit holds that"},
		{"addr.short 0x2", "need its size"},
		{"addr.32 0x100000000", "no packet of this trace unit holds that"},
		{"addr.32 0x1000 is1 reserved 0x2", "no packet of this trace unit holds that"},
		{"addr.match 3", "no packet of this trace unit holds that"},
		{"addr.match 4", "does not fit"},
		{"addr.64", "address is missing"},
		{"addr.64 here", `"here" is no number`},
		{"timestamp 1: 0x80", "no packet of this trace unit holds that"},
		{"timestamp 10: 0x80", "no size in bytes"},
		{"eret", "no packet of this trace unit holds that"},
		{"context 0 vmid 1: 0x1", "no packet of this trace unit holds that"},
		{"cycle.f1 1 commit 2", "no packet of this trace unit holds that"},
		{"event 0x0", "no packet of this trace unit holds that"},
		{"on 1", `"1" is too much`},
		{"bad 0", "two hex digits"},
		{"bad zz", "two hex digits"},
	} {
		if _, _, err := ParseText(testConfigs["ete1.3"], c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ParseText(%q): %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := Assemble(testConfigs["ete1.3"], nil, "async # sync\n\n nonsense\n"); err == nil || !strings.HasPrefix(err.Error(), "line 3: ") {
		t.Errorf("Assemble: %v, want line 3 named", err)
	}
}

// Catches a dump that names kinds otherwise than the manual, or hides why
// bytes are bad.
func TestString(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"\x9d\x22\x1a\x0c\x00\x00\x00\x00\x00", "Target Address 64-bit 0xc3488"},
		{"\xfe", "Atom format 3 nee"},
		{"\x07", "BAD 1 bytes: no packet of this trace unit starts so"},
		{"\x01\x80\x00", "BAD 3 bytes: Trace Info: reserved form"},
		{"\x9a\x00", "BAD 2 bytes: Target Address 32-bit: packet cut short: have 2 bytes, need 5"},
		{"\x00", "BAD 1 bytes: packet cut short"},
	} {
		var p Packet
		if NewLexer(testConfigs["ete1.3"], []byte(c.code), 0).Next(&p); p.String() != c.want {
			t.Errorf("%x: %q, want %q", c.code, p, c.want)
		}
	}
	if s := (Packet{Kind: NumKinds}).String() + NumKinds.String(); s != "??" {
		t.Errorf("beyond the kinds: %q, want ??", s)
	}
}
