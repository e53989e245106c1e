package tables

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// files is a file for each table chosen, in a directory. They appear under their names when all are
// whole.
type files struct {
	dir  string
	ext  string
	none bool // nothing is kept
	list [len(Tables)]*os.File
	out  [len(Tables)]*bufio.Writer
}

// newFiles begins the files. Those that an earlier call left there are replaced.
// Where dir is os.DevNull they are that, all of them.
func newFiles(dir, ext string, c Choice) (*files, error) {
	f := &files{dir: dir, ext: ext, none: dir == os.DevNull}
	if err := os.MkdirAll(dir, 0o755); err != nil && !f.none {
		return nil, err
	}
	for i := range Tables {
		if !c[i] {
			continue
		}
		x, err := f.create()
		if err != nil {
			return nil, errors.Join(err, f.end(err))
		}
		f.list[i], f.out[i] = x, bufio.NewWriterSize(x, 64<<10)
	}
	return f, nil
}

// create begins a file.
func (f *files) create() (*os.File, error) {
	if f.none {
		return os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	}
	return os.CreateTemp(f.dir, ".ptdecode-*")
}

// end ends all files. Where err is set they are removed.
func (f *files) end(err error) error {
	for i, x := range f.list {
		if x == nil {
			continue
		}
		err = errors.Join(err, f.out[i].Flush())
		if !f.none {
			err = errors.Join(err, x.Chmod(0o644))
		}
		err = errors.Join(err, x.Close())
	}
	for i, x := range f.list {
		switch {
		case x == nil || f.none:
		case err != nil:
			os.Remove(x.Name())
		default:
			err = os.Rename(x.Name(), filepath.Join(f.dir, Tables[i].Name+f.ext))
		}
	}
	return err
}

// csv writes a file of comma-separated values for each table (RFC 4180), with a line of
// names. Addresses are 0x and hex digits, times are ns.
type csv struct {
	*files
	err error
	buf []byte
}

// NewCSV returns an Encoder that writes NAME.csv in dir for each table chosen.
func NewCSV(dir string, of Choice) (Encoder, error) {
	f, err := newFiles(dir, ".csv", of)
	if err != nil {
		return nil, err
	}
	for i := range Tables {
		if !of[i] {
			continue
		}
		for j, c := range Tables[i].Columns {
			if j > 0 {
				f.out[i].WriteByte(',')
			}
			f.out[i].WriteString(c.Name)
		}
		f.out[i].WriteByte('\n')
	}
	return &csv{files: f}, nil
}

// Row writes a row.
func (c *csv) Row(table int, row []Value) error {
	b := c.buf[:0]
	for i := range row {
		if i > 0 {
			b = append(b, ',')
		}
		switch v := &row[i]; Tables[table].Columns[i].Kind {
		case Addr:
			b = strconv.AppendUint(append(b, "0x"...), v.N, 16)
		case Text:
			b = quoted(b, v.S)
		default:
			b = strconv.AppendInt(b, int64(v.N), 10)
		}
	}
	c.buf = append(b, '\n')
	_, err := c.out[table].Write(c.buf)
	if c.err == nil {
		c.err = err
	}
	return err
}

// quoted appends s as RFC 4180 has it.
func quoted(b []byte, s string) []byte {
	if !strings.ContainsAny(s, "\",\r\n") {
		return append(b, s...)
	}
	return append(append(append(b, '"'), strings.ReplaceAll(s, `"`, `""`)...), '"')
}

// Close ends the files.
func (c *csv) Close(err error) error {
	if err == nil {
		err = c.err
	}
	return c.end(err)
}

// script writes SQL for sqlite3: one transaction that makes the tables and fills them, one
// behind the other. Addresses are text, 0x and 16 hex digits, since SQLite's numbers are
// signed.
type script struct {
	w     *bufio.Writer
	fills [len(Tables)]*statements
	files [len(Tables)]*os.File // what fills a table, until all that is before it is there
}

// statements are what fills a table.
type statements struct {
	w     *bufio.Writer
	table int // of the statement that is open; -1: none
	n     int // its rows
	buf   []byte
}

// rowsPerInsert is how many rows a statement has at most.
const rowsPerInsert = 200

// NewSQL returns an Encoder that writes statements to w.
func NewSQL(w io.Writer, of Choice) (Encoder, error) {
	s := &script{w: bufio.NewWriterSize(w, 64<<10)}
	s.w.WriteString("BEGIN;\n")
	for i := range Tables {
		if !of[i] {
			continue
		}
		s.w.WriteString("CREATE TABLE " + Tables[i].Name + " (")
		for j, c := range Tables[i].Columns {
			if j > 0 {
				s.w.WriteString(", ")
			}
			s.w.WriteString(`"` + c.Name + `" ` + [...]string{Time: "INTEGER", Int: "INTEGER", Addr: "TEXT", Text: "TEXT"}[c.Kind])
		}
		s.w.WriteString(");\n")
		f, err := os.CreateTemp("", ".ptdecode-*")
		if err != nil {
			return nil, errors.Join(err, s.remove())
		}
		s.files[i], s.fills[i] = f, &statements{w: bufio.NewWriterSize(f, 64<<10), table: -1}
	}
	return s, nil
}

// Row writes a row.
func (s *script) Row(table int, row []Value) error { return s.fills[table].add(table, row) }

// remove removes the files.
func (s *script) remove() (err error) {
	for _, f := range s.files {
		if f != nil {
			err = errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
	}
	return err
}

// add writes a row.
func (s *statements) add(table int, row []Value) error {
	b := s.buf[:0]
	switch {
	case s.table == table && s.n < rowsPerInsert:
		b = append(b, ",\n("...)
	case s.table >= 0:
		b = append(b, ";\n"...)
		fallthrough
	default:
		b = append(append(append(b, "INSERT INTO "...), Tables[table].Name...), " VALUES\n("...)
		s.table, s.n = table, 0
	}
	s.n++
	for i := range row {
		if i > 0 {
			b = append(b, ',')
		}
		switch v := &row[i]; Tables[table].Columns[i].Kind {
		case Addr:
			hex := strconv.FormatUint(v.N, 16)
			b = append(append(append(append(b, "'0x"...), strings.Repeat("0", 16-len(hex))...), hex...), '\'')
		case Text:
			b = append(append(append(b, '\''), strings.ReplaceAll(strings.ReplaceAll(v.S, "\x00", ""), "'", "''")...), '\'')
		default:
			b = strconv.AppendInt(b, int64(v.N), 10)
		}
	}
	s.buf = append(b, ')')
	_, err := s.w.Write(s.buf)
	return err
}

// Close ends the transaction. Where rows are missing it is taken back, and sqlite3 ends with
// an error.
func (s *script) Close(err error) error {
	for i, f := range s.files {
		if f == nil || err != nil {
			continue
		}
		x := s.fills[i]
		if x.table >= 0 {
			x.w.WriteString(";\n")
		}
		if err = x.w.Flush(); err == nil {
			_, err = f.Seek(0, io.SeekStart)
		}
		if err == nil {
			_, err = s.w.ReadFrom(f)
		}
	}
	if err != nil {
		s.w.WriteString("ROLLBACK;\nSELECT 1 FROM \"ptdecode ended early: rows are missing\";\n")
		_ = s.w.Flush()
		_ = s.remove()
		return err
	}
	s.w.WriteString("COMMIT;\n")
	return errors.Join(s.w.Flush(), s.remove())
}
