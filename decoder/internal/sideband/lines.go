package sideband

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/badfile"
)

// MaxLine bounds a line of the event stream, bytes.
const MaxLine = 4 << 20

// Reader reads an event stream: JSON Lines, one object a line.
type Reader struct {
	b      *bufio.Reader
	name   string
	line   int
	off    int64             // of the line being read, bytes
	at     int64             // of the event returned last, bytes
	fields map[string]int    // by name: what every line may have first, then those of Fields in their order
	to     []any             // by field: pointers into event
	keys   []string          // by field: its name in quotes, and a colon
	behind []int             // by field, and for the begin of a line: the field that came behind it
	words  map[string]string // types and the like read so far, each held once
	last   []string          // by field: the word that it had last
	room   []byte            // where the next bytes of events go
	whole  []byte            // the line being read, where it is longer than b's buffer
	event  Record            // being read
	err    error
}

// NewReader returns a reader of r; name is for errors.
func NewReader(r io.Reader, name string) *Reader {
	er := &Reader{b: bufio.NewReaderSize(r, 1<<16), name: name, fields: map[string]int{}, words: map[string]string{}}
	names := []string{headType: "type", headTime: "time", headCPU: "cpu"}
	er.to = []any{headType: &er.event.Type, headTime: &er.event.Time, headCPU: &er.event.CPU}
	v := reflect.ValueOf(&er.event.Fields).Elem()
	for i := range v.NumField() {
		names = append(names, fieldName(v.Type().Field(i)))
		er.to = append(er.to, v.Field(i).Addr().Interface())
	}
	for i, name := range names {
		er.fields[name] = i
		er.keys = append(er.keys, `"`+name+`":`)
	}
	er.behind, er.last = make([]int, len(names)+1), make([]string, len(names))
	return er
}

// fieldName returns the name that a field has in the stream.
func fieldName(f reflect.StructField) string {
	n, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return n
}

// Read returns the next event, io.EOF behind the last. It is lent until the next call.
// Empty lines are passed over. A *badfile.Error names the line; after any error every
// call returns it again.
func (r *Reader) Read() (*Record, error) {
	for r.err == nil {
		line, err := r.readLine()
		if err != nil {
			r.err = err
			break
		}
		if len(bytes.TrimSpace(line)) > 0 {
			err := r.parse(line)
			if err == nil {
				r.at = r.off
				r.off += int64(len(line))
				return &r.event, nil
			}
			r.err = &badfile.Error{File: r.name, Off: r.off, What: fmt.Sprintf("line %d", r.line), Err: err}
		}
		r.off += int64(len(line))
	}
	return nil, r.err
}

// Offset returns where the line of the event that was returned last begins, bytes.
func (r *Reader) Offset() int64 { return r.at }

// readLine returns the next line with its end. It is lent until the next call.
func (r *Reader) readLine() ([]byte, error) {
	r.line++
	whole := r.whole[:0]
	for {
		part, err := r.b.ReadSlice('\n')
		if len(whole)+len(part) > MaxLine {
			return nil, &badfile.Error{File: r.name, Off: r.off, What: fmt.Sprintf("line %d: over %d bytes", r.line, MaxLine)}
		}
		switch {
		case err == nil && len(whole) == 0:
			return part, nil
		case err == nil || err == io.EOF && len(whole)+len(part) > 0:
			r.whole = append(whole, part...)
			return r.whole, nil
		case err != bufio.ErrBufferFull:
			return nil, err
		}
		whole = append(whole, part...)
	}
}

// clear makes r.event empty.
func (r *Reader) clear() {
	r.event = Record{} // in place: with a field set, it would be made elsewhere and copied
	r.event.CPU = -1
}

// parse reads one object into r.event.
func (r *Reader) parse(line []byte) error {
	r.clear()
	if !r.parsePlain(line) {
		r.clear()
		if err := r.parseAny(line); err != nil {
			return err
		}
	}
	return r.event.check()
}

// parseAny reads any object into r.event, which is empty. It says what is wrong with
// what is none.
func (r *Reader) parseAny(line []byte) error {
	var all map[string]json.RawMessage
	if err := json.Unmarshal(line, &all); err != nil {
		if wrong := (*json.UnmarshalTypeError)(nil); errors.As(err, &wrong) {
			return fmt.Errorf("want one JSON object, in braces")
		}
		return fmt.Errorf("want one JSON object: %w", err)
	}
	for _, k := range slices.Sorted(maps.Keys(all)) {
		raw := all[k]
		i, known := r.fields[k]
		if !known {
			if r.event.Extra == nil {
				r.event.Extra = map[string]json.RawMessage{}
			}
			r.event.Extra[k] = raw
			continue
		}
		if string(raw) == "null" {
			return fmt.Errorf("field %q: null; leave it out", k)
		}
		if err := json.Unmarshal(raw, r.to[i]); err != nil {
			return fmt.Errorf("field %q: %s", k, shortened(needed(err)))
		}
		r.event.Timed = r.event.Timed || i == headTime
	}
	return nil
}

// needed returns what encoding/json says of a value, and what is wanted where it says that in words
// of Go.
func needed(err error) string {
	var wrong *json.UnmarshalTypeError
	if !errors.As(err, &wrong) {
		return err.Error()
	}
	in := ""
	if wrong.Field != "" {
		in = fmt.Sprintf("%q: ", wrong.Field)
	}
	switch k := wrong.Type.Kind(); k {
	case reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return in + fmt.Sprintf("want a whole number from 0 to %d", uint64(math.MaxUint64)>>(64-wrong.Type.Bits()))
	case reflect.Int, reflect.Int32, reflect.Int64:
		most := int64(math.MaxInt64) >> (64 - wrong.Type.Bits())
		return in + fmt.Sprintf("want a whole number from %d to %d", -most-1, most)
	case reflect.Bool:
		return in + "want true or false"
	case reflect.Slice:
		return in + "want a list, in brackets"
	case reflect.Struct, reflect.Map:
		return in + "want an object, in braces"
	default:
		return in + "want text in quotes"
	}
}

// shortened returns what encoding/json says, which may quote the whole of a value, without
// the middle where that is long.
func shortened(s string) string {
	const most, end = 200, 100 // bytes
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-end]+" ... "+s[len(s)-end:], "?")
}

// check reports what an event that was read cannot be.
func (e *Record) check() error {
	switch {
	case e.Type == "":
		return fmt.Errorf("no field \"type\"")
	case e.CPU < -1 || e.CPU > math.MaxInt32:
		return fmt.Errorf("field \"cpu\": %d", e.CPU)
	case e.Type == TypeStream && e.Version > Version:
		return fmt.Errorf("version %d of the stream, know %d: read it with a newer ptdecode", e.Version, Version)
	}
	return nil
}

// Writer writes an event stream.
type Writer struct {
	b   *bufio.Writer
	err error
}

// NewWriter returns a writer to w that has written the first line.
func NewWriter(w io.Writer) *Writer {
	ew := &Writer{b: bufio.NewWriterSize(w, 1<<16)}
	ew.Write(&Record{Type: TypeStream, CPU: -1, Fields: Fields{Version: Version}})
	return ew
}

// Write writes one line. The first error is kept and returned from then on.
func (w *Writer) Write(e *Record) error {
	if w.err != nil {
		return w.err
	}
	line, err := Append(w.b.AvailableBuffer(), e)
	if err == nil {
		_, err = w.b.Write(line)
	}
	w.err = err
	return err
}

// Flush writes what is buffered.
func (w *Writer) Flush() error {
	if w.err == nil {
		w.err = w.b.Flush()
	}
	return w.err
}

// Append appends the event's line, with its end, to dst.
func Append(dst []byte, e *Record) ([]byte, error) {
	head := struct {
		Type string  `json:"type"`
		Time *uint64 `json:"time,omitzero"`
		CPU  *int    `json:"cpu,omitzero"`
	}{Type: e.Type}
	if e.Timed {
		head.Time = &e.Time
	}
	if e.CPU >= 0 {
		head.CPU = &e.CPU
	}
	b, err := marshal(head)
	if err != nil {
		return dst, err
	}
	dst = append(dst, b[:len(b)-1]...)
	if b, err = marshal(e.Fields); err != nil {
		return dst, err
	}
	if len(b) > 2 {
		dst = append(append(dst, ','), b[1:len(b)-1]...)
	}
	for _, k := range slices.Sorted(maps.Keys(e.Extra)) {
		name, err := marshal(k)
		if err != nil {
			return dst, err
		}
		dst = append(append(append(dst, ','), name...), ':')
		var c bytes.Buffer
		if err := json.Compact(&c, e.Extra[k]); err != nil {
			return dst, fmt.Errorf("event stream: field %q: %w", k, err)
		}
		dst = append(dst, c.Bytes()...)
	}
	return append(dst, '}', '\n'), nil
}

// marshal is json.Marshal without the escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'}), nil
}
