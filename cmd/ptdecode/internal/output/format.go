package output

import (
	"fmt"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/rows"
)

// Format is one way to write flow. A new one is a file with its encoder, or
// its sink, and a line of the table formats.
type Format struct {
	Name    string
	Flag    string // the flag that asks for it; "": --output Name does
	InPlace bool   // gaps and trace events are always among its rows
	Bounds  bool   // it writes upper bounds of times, too
	NoRows  bool   // it never writes rows
	apart   bool   // what it writes of a row depends on that row alone

	// fromFlow makes a sink that needs no rows, of the streams with the indices
	// only. It returns nil if o asks for rows.
	fromFlow func(o *Options, only []int, out lines, c *Counter) Sink
	// fromRows makes the encoder of a format that has rows.
	fromRows func(names *rows.Names, fields []Field, look *Look) encoder
	// defaults returns the fields of a row at a level; nil: those of text.
	defaults func(rows.Level) []Field
}

// encoder writes rows: what it appends to dst is written.
type encoder interface {
	// begin appends what stands in front of all rows.
	begin(dst []byte) []byte
	// row appends a row.
	row(dst []byte, r *rows.Row) []byte
	// end appends what stands behind all rows.
	end(dst []byte) []byte
}

// formats is the table of formats.
var formats = [...]Format{
	{Name: "text", apart: true, fromFlow: newAddresses, fromRows: newText},
	{Name: "jsonl", apart: true, InPlace: true, Bounds: true, fromRows: newJSON, defaults: objectFields},
	{Name: "tsv", apart: true, fromRows: newTSV, defaults: tsvFields},
	{Name: "none", NoRows: true, fromFlow: newNone},
	{Name: "digest", Flag: "digest", NoRows: true, fromFlow: newDigest},
	{Name: "digest-part", Flag: "digest", NoRows: true, fromFlow: newDigestPart},
	{Name: "runs", Flag: "runs", NoRows: true, fromFlow: newRuns},
	{Name: "runs-digest", Flag: "runs", NoRows: true, fromFlow: newRunsDigest},
}

// FormatNamed returns the format of a name, nil if there is none.
func FormatNamed(name string) *Format {
	for i := range formats {
		if formats[i].Name == name {
			return &formats[i]
		}
	}
	return nil
}

// ParseFormat returns the format that --output names.
func ParseFormat(name string) (*Format, error) {
	if f := FormatNamed(name); f != nil && f.Flag == "" {
		return f, nil
	}
	names := FormatNames()
	n := len(names) - 1
	return nil, fmt.Errorf("output %q: need %s or %s", name, strings.Join(names[:n], ", "), names[n])
}

// FormatNames returns the names that --output takes.
func FormatNames() (names []string) {
	for _, f := range formats {
		if f.Flag == "" {
			names = append(names, f.Name)
		}
	}
	return names
}

// rowFields is an encoder's fields of a row and where their values come from. A
// format that has only rows begins and ends with it.
type rowFields struct {
	names  *rows.Names
	fields []Field
	look   *Look
}

func (rowFields) begin(dst []byte) []byte { return dst }
func (rowFields) end(dst []byte) []byte   { return dst }
