package shard

import (
	"bufio"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/cmd/internal/wholefile"
)

// A part's file is a line that says what it is a part of, what the call wrote, and a line that
// says how much that is, with its CRC-32. So a file that was cut short or changed is told from
// a whole one. That there are gaps in it stands behind that.
const (
	firstLine = "# ptdecode part %s of %s %s\n" // number, kind, call
	lastLine  = "# ptdecode end of part %s: %d bytes, CRC-32 %08x%s\n"
	withGaps  = ", incomplete"
)

// Head says what a part is of. Parts are joined if they are equal in Kind and Call.
type Head struct {
	Kind string // how parts are joined: "text", "jsonl", "digest"
	Call string // a word that stands for what was asked, and of which recording
}

// Part is a part's file that is being written.
type Part struct {
	spec Spec
	w    *bufio.Writer
	n    int64
	sum  uint32   // CRC-32 of them, IEEE
	file *os.File // nil: the caller's writer
	name string

	// Incomplete says that there are gaps in what the part holds, or that the recording is damaged.
	Incomplete bool
}

// NewPart begins part number p. It goes to w, or with dir to a file in that directory,
// which appears under its name when it is whole.
func NewPart(p Spec, h Head, w io.Writer, dir string) (*Part, error) {
	x := &Part{spec: p}
	if dir != "" {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return nil, err
		}
		f, err := os.CreateTemp(dir, ".part-*")
		if err != nil {
			return nil, err
		}
		x.file, x.name, w = f, filepath.Join(dir, p.Name()), f
	}
	x.w = bufio.NewWriterSize(w, 64<<10)
	_, err := fmt.Fprintf(x.w, firstLine, p, h.Kind, h.Call)
	return x, err
}

// Write adds to what the part holds.
func (x *Part) Write(b []byte) (int, error) {
	n, err := x.w.Write(b)
	x.n, x.sum = x.n+int64(n), crc32.Update(x.sum, crc32.IEEETable, b[:n])
	return n, err
}

// Close ends the part. Where the work failed, its file is removed.
func (x *Part) Close(failed error) error {
	err := failed
	if err == nil {
		more := ""
		if x.Incomplete {
			more = withGaps
		}
		_, err = fmt.Fprintf(x.w, "\n"+lastLine, x.spec, x.n, x.sum, more)
	}
	if e := x.w.Flush(); err == nil {
		err = e
	}
	if x.file == nil {
		return err
	}
	return wholefile.Keep(x.file, x.name, errors.Join(err, x.file.Chmod(0o644)))
}

// opened is a part's file that is read.
type opened struct {
	Head
	Spec
	path string
	body *io.SectionReader
	file *os.File

	incomplete bool // Part.Incomplete
}

// open reads what a part's file says of itself, and checks that it is whole.
func open(path string) (o *opened, err error) {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: it is a directory, a pipe or a device, and parts are files", path) // opening a pipe may wait for ever
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	o = &opened{path: path, file: f}
	if err := o.read(); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return o, nil
}

// errNoPart is what is wrong with a file of another kind.
var errNoPart = errors.New("it is no part: the first line does not say so")

// maxLine is more than the first and the last line of a part take, bytes.
const maxLine = 512

func (o *opened) read() error {
	st, err := o.file.Stat()
	if err != nil {
		return err
	}
	head := make([]byte, min(maxLine, st.Size()))
	if _, err := o.file.ReadAt(head, 0); err != nil {
		return err
	}
	line, _, ok := strings.Cut(string(head), "\n")
	w := strings.Fields(line)
	if !ok || len(w) != 7 || strings.Join(w[:3], " ") != "# ptdecode part" || w[4] != "of" {
		return errNoPart
	}
	if o.Spec, err = Parse(w[3], func(string) string { return "" }); err != nil {
		return errNoPart
	}
	o.Kind, o.Call = w[5], w[6]
	tail := make([]byte, min(maxLine, st.Size()))
	if _, err := o.file.ReadAt(tail, st.Size()-int64(len(tail))); err != nil {
		return err
	}
	t := strings.TrimSuffix(string(tail), "\n")
	last := t[strings.LastIndexByte(t, '\n')+1:]
	size, ok := strings.CutPrefix(last, fmt.Sprintf("# ptdecode end of part %s: ", o.Spec))
	size, sum, _ := strings.Cut(size, " bytes, CRC-32 ")
	sum, o.incomplete = strings.CutSuffix(sum, withGaps)
	n, err := strconv.ParseInt(size, 10, 64)
	from := int64(len(line)) + 1
	if whole := from + n + 1 + int64(len(last)) + 1; !ok || err != nil || whole != st.Size() {
		return errors.New("it is cut short: run its shard again")
	}
	o.body = io.NewSectionReader(o.file, from, n)
	h := crc32.NewIEEE()
	if _, err := io.Copy(h, o.body); err != nil {
		return err
	}
	if fmt.Sprintf("%08x", h.Sum32()) != sum {
		return errors.New("it was changed after it was written: run its shard again")
	}
	_, err = o.body.Seek(0, io.SeekStart)
	return err
}
