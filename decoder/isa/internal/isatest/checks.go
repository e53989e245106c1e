package isatest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Printer is Format of an instruction set.
type Printer func(code []byte, addr uint64, m isa.Mode, sym func(uint64) (string, uint64)) string

// Checker returns a check of p: code, as an instruction at 0x1000 in mode m, must
// be printed as line. It knows Symbol.
func (p Printer) Checker(t *testing.T) func(code []byte, m isa.Mode, line string) {
	return func(code []byte, m isa.Mode, line string) {
		t.Helper()
		if got := p(code, 0x1000, m, Symbol); got != line {
			t.Errorf("%v % x: %q, want %q", m, code, got, line)
		}
	}
}

// CheckTarget fails where line, which prints a direct branch at addr, does not
// end with its target.
func CheckTarget(t *testing.T, line string, addr, target uint64) {
	t.Helper()
	if !strings.HasSuffix(line, fmt.Sprintf(" %#x", target)) {
		t.Fatalf("at %#x: target %#x, printed %q", addr, target, line)
	}
}

// CheckAllocs fails where d allocates in reading code at addr in mode m.
func CheckAllocs(t *testing.T, d isa.Decoder, code []byte, addr uint64, m isa.Mode) {
	t.Helper()
	var in isa.Insn
	if n := testing.AllocsPerRun(100, func() { d.Decode(&in, code, addr, m) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// CheckPage fails where a page of docs/formats does not list forms, or lists
// others. rows are the forms as its table has them, each of which begins with
// a value in backquotes.
func CheckPage(t *testing.T, page string, rows []string) {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join("../../../docs/formats", page))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]int{}
	for line := range strings.Lines(string(doc)) {
		if strings.HasPrefix(line, "| `") {
			listed[strings.TrimSpace(line)]++
		}
	}
	for _, row := range rows {
		if listed[row] == 0 {
			t.Errorf("docs/formats/%s lacks\n%s", page, row)
		}
		listed[row]--
	}
	for row, n := range listed {
		if n > 0 {
			t.Errorf("docs/formats/%s has a row that is no form:\n%s", page, row)
		}
	}
}

// Wrong counts what a comparison finds wrong.
type Wrong int

// Add counts one more, and reports it by t where it is of the first 40.
func (w *Wrong) Add(t testing.TB, format string, args ...any) {
	t.Helper()
	if *w++; *w <= 40 {
		t.Errorf(format, args...)
	}
}

// CheckFile compares one file, and fails where that raises seen, the number of
// instructions compared, by none.
func CheckFile(t *testing.T, file string, seen *int, compare func()) {
	t.Helper()
	before := *seen
	compare()
	t.Logf("%9d %s", *seen-before, filepath.Base(file))
	if *seen == before {
		t.Errorf("%s: no code in it", file)
	}
}

// Random gives words, always the same.
type Random uint32

// Next returns the next one.
func (x *Random) Next() uint32 {
	*x = *x*1664525 + 1013904223
	return uint32(*x ^ *x>>16)
}
