package etmv3

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// testCase is a line of testdata/packets/etmv3.txt: the bytes of one packet,
// those after it, its text, and the format of trace that it is of.
type testCase struct {
	line        int
	bytes, rest []byte
	text        string
	form        Format
}

const caseFile = "../../testdata/packets/etmv3.txt"

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
		p, _, err3 := ParseText(text)
		if !ok || !ok2 || err1 != nil || err2 != nil || err3 != nil {
			t.Fatalf("%s:%d: %q: need hex|hex TAB text: %v %v %v", caseFile, n, line, err1, err2, err3)
		}
		cases = append(cases, testCase{n, b, r, text, p.format()})
	}
	return cases
}

// Catches, packet by packet, a wrong length, a wrong field, a text that does
// not come back, and a kind that no case shows.
func TestCases(t *testing.T) {
	seen := map[Kind]bool{}
	for _, c := range readCases(t) {
		var p Packet
		NewLexer(c.form, append(bytes.Clone(c.bytes), c.rest...), 0).Next(&p)
		seen[p.Kind] = true
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
		if q != p && p.Kind != Bad {
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
		{"bransh 1: 0x1", `"bransh": no packet has that name`},
		{"branch 6: 0x0", "a size of 1 to 5"},
		{"branch 0x10", "need a size and a value"},
		{"branch 1: 0x1", "no packet holds that"},
		{"branch 5: 0x10", "no packet holds that"},
		{"branch 2: 0x10 exception 1: 0x2", "no packet holds that"},
		{"branch 5: 0x480000000 exception 2: 0x2", "no packet holds that"},
		{"pheader", "format is missing"},
		{"pheader 1", "need letters"},
		{"pheader 1 ne", "no packet holds that"},
		{"pheader 2 e", "no packet holds that"},
		{"pheader 3 ee cycles 1", "no packet holds that"},
		{"pheader 3 e cycles 9", "no packet holds that"},
		{"pheader 3 e", "no packet holds that"},
		{"pheader 4 e cycles 1", "no packet holds that"},
		{"pheader 5 e", "no packet holds that"},
		{"pheader 1 eeeeeeeeeeeeeeeee", "17 atoms, 16 at most"},
		{"cyclecount", "no packet holds that"},
		{"cyclecount cycles 1: 128", "does not fit a size of 1"},
		{"isync 0x1 0x0", "does not fit 31 bits"},
		{"isync 0x0 0x0 cycles 1: 1", "no packet holds that"},
		{"isync 0x0 0x0 second 1: 0x2", "no packet holds that"},
		{"isync 0x0", "info is missing"},
		{"contextid context 3: 0x1", "need 1, 2 or 4"},
		{"timestamp 1: 0x80", "no packet holds that"},
		{"data value 3: 0x1", "no packet holds that"},
		{"data address 1: 0x1", "no packet holds that"},
		{"ooo 0 value 1: 0x1", "no packet holds that"},
		{"placeholder 4", "does not fit 2 bits"},
		{"eret 1", `"1" is too much`},
		{"bad", "two hex digits"},
	} {
		if _, _, err := ParseText(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ParseText(%q): %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := Assemble(nil, "async 5 # sync\n\n nonsense\n"); err == nil || !strings.HasPrefix(err.Error(), "line 3: ") {
		t.Errorf("Assemble: %v, want line 3 named", err)
	}
}

// Catches a dump that names kinds otherwise than the manual, means another
// address than was sent, or hides why bytes are bad.
func TestString(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"\x08\x61\x58\x05\x00\x80", "I-sync 0x80000558 0x61 (debug exit)"},
		{"\x08\x1e\xfd\x26\x05\xc0", "I-sync 0xc00526fc thumb 0x1e (periodic, ns, alt, hyp, jazelle)"},
		{"\x94", "P-header 1 eeeee"},
		{"\x2f", "Branch address 1: 0x2e"},
		{"\xd7\xba\x86\xdb\x0d", "Branch address 5: 0xdb619d56 (arm 0xb6c33aac)"},
		{"\x81\x80\x80\x80\x48\x22", "Branch address 5: 0x480000000 exception 1: 0x22 (arm 0x0, exception 1, cancel)"},
		{"\x8d\x80\x80\x80\x4f\x9d\x20", "Branch address 5: 0x4f000000c exception 2: 0x209d (arm 0xe0000018, exception 14, ns, hyp)"},
		{"\x81\x80\x80\x80\xc8", "Branch address 5: 0xc80000000 (arm 0x0, exception 14, cancel)"},
		{"\x10", "BAD 1 bytes: no packet starts so"},
		{"\x02", "BAD 1 bytes: Normal data: reserved form"},
		{"\x00\x00", "BAD 2 bytes: zeros, cut short"},
		{"\x08\x00", "BAD 2 bytes: I-sync: packet cut short: have 2 bytes, need 6"},
	} {
		var p Packet
		if NewLexer(Format{}, []byte(c.code), 0).Next(&p); p.String() != c.want {
			t.Errorf("%x: %q, want %q", c.code, p, c.want)
		}
	}
	if s := (Packet{Kind: NumKinds}).String() + NumKinds.String(); s != "??" {
		t.Errorf("beyond the kinds: %q, want ??", s)
	}
}
