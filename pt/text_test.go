package pt

import (
	"bytes"
	"encoding/hex"
	"os"
	"strings"
	"testing"
)

// testCase is a line of testdata/packets/pt.txt: the bytes of one packet, those
// after it, and its text.
type testCase struct {
	line        int
	bytes, rest []byte
	text        string
	kind        Kind
}

const caseFile = "../testdata/packets/pt.txt"

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
		l := NewLexer(append(bytes.Clone(c.bytes), c.rest...), 0)
		var p Packet
		if c.kind == BIP {
			l.block(uint8(len(c.bytes) - 1))
		}
		l.Next(&p)
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
		{"tipp 1: 0x1", `"tipp": no packet has that name`},
		{"tip 1: 0x10000", "does not fit the 2 bytes of IPBytes 1"},
		{"tip 5: 0x1", "need IPBytes"},
		{"tip 7: 0x1", "need IPBytes"},
		{"tip 0x1", "need IPBytes"},
		{"tip 2:", "address is missing"},
		{"tnt", "no packet holds that"},
		{"tnt ttttttt", "no packet holds that"},
		{"tnt tx", `result 'x'`},
		{"tnt.long " + strings.Repeat("t", 48), "48 results"},
		{"mtc", "ctc is missing"},
		{"mtc 0x100", "does not fit"},
		{"mtc 1 2", `"2" is too much`},
		{"mtc one", `"one" is no number`},
		{"vmcs 0x1001", "does not fit"},
		{"pip 0x10", "does not fit"},
		{"ptw 5 0x1", "need 4 or 8"},
		{"ptw 4 0x100000000", "no packet holds that"},
		{"bip 3 1 0x1", "size: 3, need 4 or 8"},
		{"mode 0 0x1", "no packet holds that"},
		{"cyc 1 length 1", "no packet holds that"},
		{"trig 0x1 icnt 5", "no packet holds that"},
		{"pad 8", "no packet holds that"},
		{"pad 0", "need 1 at least"},
		{"bad 0", "two hex digits"},
		{"bad zz", "no byte"},
	} {
		if _, _, err := ParseText(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("ParseText(%q): %v, want %q", c.text, err, c.want)
		}
	}
	if _, err := Assemble(nil, "psb # sync\n\n nonsense\n"); err == nil || !strings.HasPrefix(err.Error(), "line 3: ") {
		t.Errorf("Assemble: %v, want line 3 named", err)
	}
}

// Catches a dump that names kinds otherwise than the manual, or hides why
// bytes are bad.
func TestString(t *testing.T) {
	for _, c := range []struct{ code, want string }{
		{"\x71\x10\x00\x40\x00\x00\x00", "TIP.PGE 3: 0x400010"},
		{"\x01", "TIP.PGD"},
		{"\x99\x05", "MODE.Exec l if"},
		{"\x02\xe2", "EXSTOP ip"},
		{"\x16", "TNT ntt"},
		{"\x05", "BAD 1 bytes: no packet starts so"},
		{"\xad\x00", "BAD 2 bytes: TIP: reserved form"},
		{"\x41\x00", "BAD 2 bytes: TIP.PGD: packet cut short: have 2 bytes, need 5"},
		{"\x02", "BAD 1 bytes: packet cut short"},
	} {
		var p Packet
		if NewLexer([]byte(c.code), 0).Next(&p); p.String() != c.want {
			t.Errorf("%x: %q, want %q", c.code, p, c.want)
		}
	}
	if s := (Packet{Kind: NumKinds}).String() + NumKinds.String(); s != "??" {
		t.Errorf("beyond the kinds: %q, want ??", s)
	}
}
