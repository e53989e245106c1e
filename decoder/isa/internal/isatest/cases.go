package isatest

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Case is an instruction, and what an instruction set must make of it.
type Case struct {
	Mode isa.Mode
	Code string // hexadecimal digits, perhaps with spaces between
	Want isa.Insn
	Text string // as Format prints it; "-": nothing is said of that
}

// flags are the flags by name, bit 0 first.
var flags = []string{"rep", "zero-call", "conditional", "ptwrite", "tx", "nop", "interwork"}

// Cases reads a file of the tested package's testdata, without .txt: "cases", which
// says what the columns are, or another like it.
func Cases(t testing.TB, name string) (all []Case) {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if line[0] == '#' {
			continue
		}
		col := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(col) < 6 {
			t.Fatalf("%q: %d columns, need 6", line, len(col))
		}
		c := Case{Code: col[1], Text: col[5]}
		c.Mode = named(t, isa.NumModes, col[0])
		c.Want.Class = named(t, isa.NumClasses, col[2])
		for name := range strings.SplitSeq(col[3], ",") {
			if name == "-" {
				continue
			}
			bit := slices.Index(flags, name)
			if bit < 0 {
				t.Fatalf("%q: no flag %s", line, name)
			}
			c.Want.Flags |= 1 << bit
		}
		if col[4] != "-" {
			if c.Want.Target, err = strconv.ParseUint(col[4], 16, 64); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
		}
		all = append(all, c)
	}
	return all
}

// named returns the value below end that is called name.
func named[T interface {
	~uint8
	String() string
}](t testing.TB, end T, name string) (v T) {
	t.Helper()
	for v = range end {
		if v.String() == name {
			return v
		}
	}
	t.Fatalf("nothing is called %s", name)
	return v
}

// Word returns the code as a number.
func (c *Case) Word(t testing.TB) uint32 {
	t.Helper()
	w, err := strconv.ParseUint(c.Code, 16, 32)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(w)
}

// Check fails where d reads code, the case's as it lies in memory at addr, otherwise
// than the case says, or format prints it otherwise.
func (c *Case) Check(t *testing.T, d isa.Decoder, format Printer, code []byte, addr uint64) {
	t.Helper()
	var in isa.Insn
	if s := d.Decode(&in, append(slices.Clip(code), 0xff, 0xff), addr, c.Mode); s != isa.OK || in != c.Want {
		t.Errorf("%s %s %s: status %d, %+v, want %+v", c.Mode, c.Code, c.Text, s, in, c.Want)
	}
	if got := format(code, addr, c.Mode, nil); c.Text != "-" && got != c.Text {
		t.Errorf("%s %s: %q, want %q", c.Mode, c.Code, got, c.Text)
	}
}
