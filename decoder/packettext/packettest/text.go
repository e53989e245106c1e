package packettest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// packet is a pointer to a packet of any protocol.
type packet[P any] interface {
	*P
	Size() int64
	End() int64
	Append(dst []byte) []byte
	AppendText(dst, raw []byte) []byte
	String() string
}

// Case is a line of a file of testdata/packets: the bytes of one packet, those
// after it, and its text.
type Case struct {
	At          string // file:line
	Unit        string // the trace unit, of files that have several
	Bytes, Rest []byte // where packets consist of half bytes, one in each
	Text        string
	Kind        uint8
}

// Cases returns the cases of a file. halves says that packets consist of half
// bytes.
func Cases(tb testing.TB, file string, t packettext.Table, halves bool) (cases []Case) {
	tb.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		tb.Fatal(err)
	}
	unit, n := "", 0
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
		c := Case{At: fmt.Sprintf("%s:%d", file, n), Unit: unit}
		code, text, ok := strings.Cut(line, "\t")
		head, rest, ok2 := strings.Cut(code, "|")
		var err1, err2 error
		c.Bytes, err1 = unhex(head, halves)
		c.Rest, err2 = unhex(rest, halves)
		word, _, _ := strings.Cut(text, " ")
		for int(c.Kind) < len(t) && t[c.Kind].Text != word {
			c.Kind++
		}
		if !ok || !ok2 || err1 != nil || err2 != nil || int(c.Kind) == len(t) {
			tb.Fatalf("%s: %q: need hex|hex TAB text", c.At, line)
		}
		c.Text = text
		cases = append(cases, c)
	}
	return cases
}

// unhex reads hex digits: bytes, or half bytes, each in a byte of its own.
func unhex(digits string, halves bool) ([]byte, error) {
	if !halves {
		return hex.DecodeString(digits)
	}
	spread := strings.Builder{}
	for _, d := range digits {
		spread.WriteByte('0')
		spread.WriteRune(d)
	}
	return hex.DecodeString(spread.String())
}

// CheckCases fails the test where a packet has a wrong length or a wrong field,
// where its text does not come back, and where no case shows a kind. codecOf returns
// the text form of the trace unit that sends a case.
func CheckCases[P comparable, PP packet[P]](t *testing.T, cases []Case, codecOf func(c *Case) *packettext.Codec[P]) {
	t.Helper()
	seen := map[uint8]bool{}
	var kinds packettext.Table
	for i := range cases {
		c := &cases[i]
		seen[c.Kind] = true
		codec := codecOf(c)
		kinds = codec.Table
		like, _, err := codec.Parse(c.Text)
		if err != nil {
			t.Errorf("%s: %v", c.At, err)
		}
		p := codec.Lex(slices.Concat(c.Bytes, c.Rest), &like)
		CheckPacket[P, PP](t, c, p)
		CheckText(t, c, p, codec)
	}
	AllSeen(t, kinds, seen)
}

// CheckPacket fails the test where p, read from a case's bytes, has another length or
// text.
func CheckPacket[P comparable, PP packet[P]](t *testing.T, c *Case, p P) {
	t.Helper()
	if PP(&p).Size() != int64(len(c.Bytes)) {
		t.Errorf("%s: %v: size %d, want %d", c.At, PP(&p), PP(&p).Size(), len(c.Bytes))
	}
	if text := string(PP(&p).AppendText(nil, c.Bytes)); text != c.Text {
		t.Errorf("%s: text %q, want %q", c.At, text, c.Text)
	}
}

// AllSeen fails the test where a kind was not seen.
func AllSeen(t *testing.T, kinds packettext.Table, seen map[uint8]bool) {
	t.Helper()
	for k := range kinds {
		if !seen[uint8(k)] {
			t.Errorf("no case of %s", kinds[k].Name)
		}
	}
}

// CheckText fails the test where the text of a case gives other bytes, or another
// packet than p.
func CheckText[P comparable](t *testing.T, c *Case, p P, codec *packettext.Codec[P]) {
	t.Helper()
	q, raw, err := codec.Parse(c.Text)
	if err != nil || !bytes.Equal(raw, c.Bytes) {
		t.Errorf("%s: %q gives %x, %v, want %x", c.At, c.Text, raw, err, c.Bytes)
	}
	if q != p && c.Kind != 0 {
		t.Errorf("%s: %q gives %+v, want %+v", c.At, c.Text, q, p)
	}
}

// Refuses fails the test where a text is taken that no packet holds, or refused for
// another reason. Each of list is a text and what the error says; "": it is taken.
func Refuses[P comparable](t *testing.T, codec *packettext.Codec[P], list [][2]string) {
	t.Helper()
	for _, c := range list {
		_, _, err := codec.Parse(c[0])
		if c[1] == "" && err != nil || c[1] != "" && (err == nil || !strings.Contains(err.Error(), c[1])) {
			t.Errorf("Parse(%q): %v, want %q", c[0], err, c[1])
		}
	}
	_, err := codec.Assemble(nil, codec.Table[1].Text+" # no more\n\n nonsense\n")
	if err == nil || !strings.HasPrefix(err.Error(), "line 3: ") && !strings.HasPrefix(err.Error(), "line 1: ") {
		t.Errorf("Assemble: %v, want the line named", err)
	}
}

// Dumps fails the test where packets are dumped otherwise: each of list is the bytes
// of a packet and its dump. lex reads the packet. beyond is a packet and a kind
// that are none.
func Dumps[P comparable, PP packet[P]](t *testing.T, lex func(code string) P, list [][2]string, beyond P, kind fmt.Stringer) {
	t.Helper()
	for _, c := range list {
		if p := lex(c[0]); PP(&p).String() != c[1] {
			t.Errorf("%x: %q, want %q", c[0], PP(&p), c[1])
		}
	}
	if s := PP(&beyond).String() + kind.String(); s != "??" {
		t.Errorf("beyond the kinds: %q, want ??", s)
	}
}

// DocAgrees fails the test where a document lacks the table, or shows an example
// that is not the text form.
func DocAgrees(t *testing.T, file, table string, assemble func(text string) ([]byte, error)) {
	t.Helper()
	doc, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(doc), table) {
		t.Errorf("%s does not hold the table of spec.go, which is\n%s", file, table)
	}
	_, rest, ok := strings.Cut(string(doc), "```\n")
	example, _, ok2 := strings.Cut(rest, "```")
	if _, err := assemble(example); err != nil || !ok || !ok2 {
		t.Errorf("%s: example: %v (found: %v)", file, err, ok && ok2)
	}
}
