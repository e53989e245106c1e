package packettext

import (
	"slices"
	"strings"
	"testing"
)

// toy is a packet of a protocol that only this test has.
type toy struct {
	kind uint8
	n    Numbers
}

// The numbers of a toy.
const (
	inA uint8 = iota
	inB
	inC
	inSize
	inCount
	inFlags
)

var toyFields = []Field{
	{Name: "address", In: inA, Lo: 1, Width: 15, Shift: 1},
	{Name: "number", In: inB, Width: 8, Form: Dec},
	{Name: "flag", In: inA, Width: 1, Form: Word},
	{Name: "rest", In: inB, Lo: 8, Width: 4, Form: Named},
	{Name: "extra", In: inB, Lo: 12, Width: 4, Form: Number},
	{Name: "cycles", In: inB, Lo: 16, Width: 4, Form: Flagged, Flag: Flag{In: inFlags, Bit: 0, On: true}},
	{Name: "how", In: inB, Lo: 20, Width: 2, Form: OneOf, Words: []string{"", "fast", "slow"}},
	{Name: "id", In: inB, Lo: 24, Width: 32, Form: Sized, Flag: Flag{In: inFlags, Bit: 1, On: true}, Size: Size{In: inSize, Max: 4, Piece: 8}},
	{Name: "count", In: inC, Width: 32, Form: Count, Size: Size{In: inCount, Max: 4, Piece: 8}},
}

// toyCodec takes a packet for what Append and Parse make of each other: there are no
// bytes that could say otherwise, but that address 0xbad has none.
var toyCodec = Codec[toy]{
	Table: Table{
		{Name: "BAD", Text: "bad"},
		{Name: "Toy", Text: "toy", Fields: toyFields},
		{Name: "Letters", Text: "letters", Fields: []Field{
			{Name: "letters", In: inA, Width: 8, Form: Letters, Size: Size{In: inSize, Max: 8}, Words: []string{"n", "e", "-"}},
			{Name: "repeat", In: inB, Width: 8, Form: Usually, Usual: 5}}},
		{Name: "Sizes", Text: "sizes", Fields: []Field{
			{Name: "size", In: inC, Width: 1, Form: OneOf, Words: []string{"4", "8"}},
			{Name: "ts", In: inB, Width: 64, Form: Sized, Size: Size{In: inSize, Max: 2, Piece: 4, Zero: true}},
			{Name: "ip", In: inA, Width: 64, Form: Sized, Size: Size{Name: "form", In: inCount, Bits: []uint8{1: 16, 3: 48}, Bare: true}}}},
	},
	Packet: func(kind uint8, n *Numbers) (toy, error) { return toy{kind, *n}, nil },
	Encode: func(p *toy) []byte { return []byte{p.kind} },
	Lex: func(_ []byte, like *toy) toy {
		if like.n[inA] == 0xbac {
			return toy{}
		}
		return *like
	},
	Bad: func(n uint64) toy { return toy{n: Numbers{n}} },
}

// Catches a form whose text does not come back, and one that is printed where it
// should not be.
func TestText(t *testing.T) {
	for _, c := range []struct {
		p    toy
		text string
	}{
		{toy{1, Numbers{}}, "toy 0x0 0"},
		{toy{1, Numbers{inA: 0xffff, inB: 0xafff, inC: 300, inCount: 2}}, "toy 0xfffe 255 flag rest 0xf extra 10 count 2: 300"},
		{toy{1, Numbers{inA: 0x8000, inB: 7, inCount: 4}}, "toy 0x8000 7 count 4: 0"},
		{toy{1, Numbers{inB: 2<<20 | 9<<16, inFlags: 1}}, "toy 0x0 0 cycles 9 slow"},
		{toy{1, Numbers{inFlags: 3}}, "toy 0x0 0 cycles 0 id 0: 0x0"},
		{toy{1, Numbers{inB: 5 << 24, inFlags: 2, inSize: 4}}, "toy 0x0 0 id 4: 0x5"},
		{toy{2, Numbers{inA: 6, inSize: 4, inB: 5}}, "letters neen"},
		{toy{2, Numbers{}}, "letters - 0"},
		{toy{3, Numbers{}}, "sizes 4 ts 0"},
		{toy{3, Numbers{inC: 1, inB: 0xff, inSize: 2, inA: 0x123, inCount: 3}}, "sizes 8 ts 2: 0xff 3: 0x123"},
	} {
		if got := string(toyCodec.Table.Append(nil, c.p.kind, &c.p.n, nil)); got != c.text {
			t.Errorf("%v: %q, want %q", c.p, got, c.text)
		}
		p, raw, err := toyCodec.Parse(strings.ReplaceAll(c.text, " ", "  "))
		if err != nil || p != c.p || len(raw) != 1 {
			t.Errorf("%q: %v, %x, %v, want %v", c.text, p, raw, err, c.p)
		}
	}
	if got := string(toyCodec.Table.Append(nil, 0, new(Numbers), []byte{1, 0xab})); got != "bad 01ab" {
		t.Errorf("bytes that are no packet: %q", got)
	}
}

// Catches text that is taken though it does not fit its field.
func TestRefuses(t *testing.T) {
	for _, c := range [][2]string{
		{"", "empty line"}, {"toi", "no packet has that name"}, {"toy", "address is missing"},
		{"toy 0x1 0", "does not fit 15 bits from bit 1 up"}, {"toy 0x10000 0", "does not fit"}, {"toy 0xbac 0", "no packet holds that"},
		{"toy 0 256", "does not fit 8 bits"}, {"toy 0 x", "no number"}, {"toy 0 0 rest", "rest is missing"},
		{"toy 0 0 rest 16", "does not fit"}, {"toy 0 0 rest 0", "left out"}, {"toy 0 0 more", "too much"},
		{"toy 0 0 count", "need a size"}, {"toy 0 0 count 5: 0", "a size of 1 to 4"}, {"toy 0 0 count 1: 256", "does not fit a size of 1"},
		{"toy 0 0 count 1 25", "need a size and a value"}, {"toy 0 0 count 1: x", "no number"},
		{"letters", "need letters n or e, or -"}, {"letters nex", "need n or e"}, {"letters nnnnnnnnn", "9 letters, 8 at most"},
		{"sizes 5", "need 4 or 8"}, {"sizes 4", "ts is missing"}, {"sizes 4 ts 0 2: 1", "a size of 1, 3"}, {"sizes 4 ts 0 1: 0x10000", "does not fit"},
		{"bad", "two hex digits"}, {"bad abc", "two hex digits"},
	} {
		if _, _, err := toyCodec.Parse(c[0]); err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%q: %v, want %q", c[0], err, c[1])
		}
	}
}

// Catches comments and empty lines that are read, and an error that does not name
// its line.
func TestAssemble(t *testing.T) {
	if raw, err := toyCodec.Assemble([]byte{9}, "toy 0 0 # one\n\n# nothing\nletters -\nbad 01 02\n"); err != nil || !slices.Equal(raw, []byte{9, 1, 2, 1, 2}) {
		t.Errorf("%x, %v", raw, err)
	}
	if _, err := toyCodec.Assemble(nil, "toy 0 0\n\nnone\n"); err == nil || !strings.HasPrefix(err.Error(), "line 3: ") {
		t.Errorf("%v, want line 3 named", err)
	}
}

// Catches a column of a document's table that does not say what text is taken.
func TestUsage(t *testing.T) {
	for i, want := range []string{
		1: "toy ADDRESS NUMBER [flag] [rest REST] [extra EXTRA] [cycles CYCLES] [fast or slow] [id SIZE: ID] [count SIZE: COUNT]",
		2: "letters LETTERS [REPEAT]",
		3: "sizes SIZE ts SIZE[: TS] [FORM: IP]",
	} {
		if i > 0 && toyCodec.Table[i].Usage() != want {
			t.Errorf("%q, want %q", toyCodec.Table[i].Usage(), want)
		}
	}
}

// Catches a reason for bytes that are no packet that is not told apart from another.
func TestDump(t *testing.T) {
	for want, b := range map[string]Bad{
		"BAD 2 bytes: no packet starts so":                           {BadOpcode, 0, 2, 0, "bytes"},
		"BAD 2 bytes: Toy: reserved form":                            {BadForm, 1, 2, 0, "bytes"},
		"BAD 2 bytes: packet cut short":                              {BadCut, 0, 2, 4, "bytes"},
		"BAD 2 halves: Toy: packet cut short: have 2 halves, need 4": {BadCut, 1, 2, 4, "halves"},
		"BAD 2 halves: ?: packet cut short: have 2 halves, need 9":   {BadCut, 99, 2, 9, "halves"},
	} {
		if got := toyCodec.Table.Dump(b); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	n := Numbers{inB: 3}
	if got := string(toyCodec.Table.AppendDump(nil, 1, &n)) + string(toyCodec.Table.AppendDump(nil, 99, &n)); got != "Toy 0x0 3?" {
		t.Errorf("%q", got)
	}
}

// TestFields would catch a field of a packet that JSON lacks, or that has another number,
// name or form there than in the text.
func TestFields(t *testing.T) {
	for text, want := range map[string]string{
		"toy 0x0 0":                           `{"address":"0000000000000000","number":0}`,
		"toy 0x1234 7 flag rest 0x3 slow":     `{"address":"0000000000001234","number":7,"flag":true,"rest":3,"how":"slow"}`,
		"toy 0x2 0 cycles 0 id 4: 0xff":       `{"address":"0000000000000002","number":0,"cycles":0,"id_size":4,"id":255}`,
		"letters -":                           `{"letters":"-","repeat":5}`,
		"letters een 6":                       `{"letters":"een","repeat":6}`,
		"sizes 8 ts 2: 0x1f 3: 0xffff1200000": `{"size":"8","ts_size":2,"ts":"000000000000001f","form":3,"ip":"00000ffff1200000"}`,
	} {
		p, _, err := toyCodec.Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		if got := string(toyCodec.Table.AppendFields(nil, p.kind, &p.n)); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}
