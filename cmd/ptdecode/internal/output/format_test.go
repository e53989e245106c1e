package output

import (
	"bytes"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// sumFormat is a format as one more file would bring it: it has a head, rows,
// and a foot that depends on them.
type sumFormat struct{ insns int }

func newSum(*rows.Names, []Field, *Look) encoder { return &sumFormat{} }

func (*sumFormat) begin(dst []byte) []byte { return append(dst, "<rows>\n"...) }

func (f *sumFormat) row(dst []byte, r *rows.Row) []byte {
	f.insns += r.N
	return append(appendHex16(dst, r.IP), '\n')
}

func (f *sumFormat) end(dst []byte) []byte {
	return append(strconv.AppendInt(append(dst, "<sum "...), int64(f.insns), 10), ">\n"...)
}

// TestNewFormat would catch a new format that needs more than an encoder and a
// line of the table. Its head, its rows and its foot must come out once and in
// order: forwards, backwards, and where only the last rows are wanted.
func TestNewFormat(t *testing.T) {
	line := Format{Name: "sum", fromRows: newSum}
	block := decoder.Block{Addr: 0x1000, End: 0x1008, N: 2, Lens: []byte{4, 4}}
	for _, x := range []struct {
		o    rows.Options
		want string
	}{
		{rows.Options{}, "<rows>\n0000000000001000\n0000000000001004\n<sum 2>\n"},
		{rows.Options{Reverse: true}, "<rows>\n0000000000001004\n0000000000001000\n<sum 2>\n"},
		{rows.Options{Last: 1}, "<rows>\n0000000000001004\n<sum 1>\n"},
	} {
		var out bytes.Buffer
		sink, _, _ := New(nobody{}, []rows.Stream{{Name: "cpu0"}}, nil, &out, Options{Format: &line, Fields: line.Defaults(0), Options: x.o})
		b := decoder.Batch{Stamps: []decoder.Stamp{{}}, Ranges: []decoder.BatchRange{{Block: &block, N: 2}}}
		if err := sink.Flow(&b); err != nil && err != rows.ErrEnough {
			t.Fatal(err)
		}
		if err := sink.Close(); err != nil {
			t.Fatal(err)
		}
		if out.String() != x.want {
			t.Errorf("%+v:\n%swant\n%s", x.o, out.String(), x.want)
		}
	}
}

// TestFormatNames would catch a format that --output does not find, one that it
// takes though a flag of its own asks for it, and one without a way to write.
func TestFormatNames(t *testing.T) {
	for i := range formats {
		f := &formats[i]
		got, err := ParseFormat(f.Name)
		if f.Flag == "" && got != f || f.Flag != "" && err == nil || FormatNamed(f.Name) != f {
			t.Errorf("ParseFormat(%q) = %v, %v", f.Name, got, err)
		}
		if f.fromRows == nil && (f.fromFlow == nil || !f.NoRows) {
			t.Errorf("%s writes nothing", f.Name)
		}
	}
	if _, err := ParseFormat("xml"); err == nil || !strings.HasSuffix(err.Error(), "need text, jsonl, tsv or none") {
		t.Errorf("the error for a format that there is not: %v", err)
	}
}
