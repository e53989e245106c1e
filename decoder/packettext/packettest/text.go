package packettest

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
)

// textCase is a line of a file of testdata/packets: the bytes of one packet, those
// after it, and its text.
type textCase struct {
	At          string // file:line
	Unit        string // the trace unit, of files that have several
	Bytes, Rest []byte // where packets consist of half bytes, one in each
	Text        string
	Kind        uint8
}

// Cases returns the cases of the protocol's file.
func (x *Packets[P, PP]) Cases(tb testing.TB) (cases []textCase) {
	tb.Helper()
	file, table := x.file(tb, "testdata/packets/"+x.Name+".txt"), x.Codec(0).Table
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
		c := textCase{At: fmt.Sprintf("%s:%d", file, n), Unit: unit}
		code, text, ok := strings.Cut(line, "\t")
		head, rest, ok2 := strings.Cut(code, "|")
		var err1, err2 error
		c.Bytes, err1 = unhex(head, x.halves())
		c.Rest, err2 = unhex(rest, x.halves())
		word, _, _ := strings.Cut(text, " ")
		for int(c.Kind) < len(table) && table[c.Kind].Text != word {
			c.Kind++
		}
		if !ok || !ok2 || err1 != nil || err2 != nil || int(c.Kind) == len(table) {
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

// checkCases fails the test where a packet has a wrong length or a wrong field, and
// where its text does not come back.
func (x *Packets[P, PP]) checkCases(t *testing.T) {
	cases := x.Cases(t)
	for i := range cases {
		c := &cases[i]
		format := x.formatOf(t, c)
		codec := x.Codec(format)
		like, _, err := codec.Parse(c.Text)
		if err != nil {
			t.Errorf("%s: %v", c.At, err)
		}
		p := codec.Lex(slices.Concat(c.Bytes, c.Rest), &like)
		if PP(&p).Size() != int64(len(c.Bytes)) {
			t.Errorf("%s: %v: size %d, want %d", c.At, PP(&p), PP(&p).Size(), len(c.Bytes))
		}
		if text := string(PP(&p).AppendText(nil, c.Bytes)); text != c.Text {
			t.Errorf("%s: text %q, want %q", c.At, text, c.Text)
		}
		if b := PP(&p).AppendFields(nil); !json.Valid(b) {
			t.Errorf("%s: fields %s are no JSON", c.At, b)
		}
		x.TextGives(t, c, p)
	}
	x.AllShown(t, cases)
}

// AllShown fails the test where none of cases shows a kind.
func (x *Packets[P, PP]) AllShown(t *testing.T, cases []textCase) {
	t.Helper()
	for k, row := range x.Codec(0).Table {
		if !slices.ContainsFunc(cases, func(c textCase) bool { return int(c.Kind) == k }) {
			t.Errorf("no case of %s", row.Name)
		}
	}
}

// TextGives fails the test where the text of a case gives other bytes, or another
// packet than p.
func (x *Packets[P, PP]) TextGives(t *testing.T, c *textCase, p P) {
	t.Helper()
	q, raw, err := x.Codec(x.formatOf(t, c)).Parse(c.Text)
	if err != nil || !bytes.Equal(raw, c.Bytes) {
		t.Errorf("%s: %q gives %x, %v, want %x", c.At, c.Text, raw, err, c.Bytes)
	}
	if q != p && c.Kind != 0 {
		t.Errorf("%s: %q gives %+v, want %+v", c.At, c.Text, q, p)
	}
}

// refuses fails the test where a text is taken that no packet holds, or refused for
// another reason.
func (x *Packets[P, PP]) refuses(t *testing.T) {
	codec := x.Codec(x.Formats - 1)
	digits := "two hex digits"
	if x.halves() {
		digits = "need half bytes"
	}
	unknown := codec.Table[1].Text + "x"
	lines := x.Refused + " => empty line\nbad => " + digits + "\nbad zz => " + digits + "\n" +
		unknown + " 1 => \"" + unknown + "\": no packet has that name\n"
	for line := range strings.Lines(lines) {
		text, want, wrong := strings.Cut(strings.Trim(line, "\t\n"), " => ")
		if text == "" && !wrong {
			continue
		}
		if _, _, err := codec.Parse(text); wrong != (err != nil) || wrong && !strings.Contains(err.Error(), want) {
			t.Errorf("Parse(%q): %v, want %q", text, err, want)
		}
	}
	_, err := codec.Assemble(nil, codec.Table[1].Text+" # no more\n\n nonsense\n")
	if err == nil || !strings.HasPrefix(err.Error(), "line 3: ") && !strings.HasPrefix(err.Error(), "line 1: ") {
		t.Errorf("Assemble: %v, want the line named", err)
	}
}

// dumps fails the test where packets are dumped otherwise.
func (x *Packets[P, PP]) dumps(t *testing.T) {
	for _, c := range x.Dumped {
		var p P
		if x.Lex(x.Formats-1, []byte(c[0]), 0).Next(&p); PP(&p).String() != c[1] {
			t.Errorf("%x: %q, want %q", c[0], PP(&p), c[1])
		}
	}
	beyond := x.Odd(len(x.Codec(0).Table), 0)
	if s := PP(&beyond).String() + x.NoKind.String(); s != "??" {
		t.Errorf("beyond the kinds: %q, want ??", s)
	}
}
