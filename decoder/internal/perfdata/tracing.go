package perfdata

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
)

// Format is the format of a tracepoint's samples, as tracefs describes it: what their
// raw bytes hold. It differs from kernel to kernel, and that of a probe with its
// definition.
type Format struct {
	System, Name string
	ID           uint64 // Attr.Config of its events
	Fields       []Field
}

// Field is one field of a tracepoint's raw bytes.
type Field struct {
	Name   string
	Off    int // bytes
	Size   int // bytes
	Signed bool
}

// Has reports whether the format has the field.
func (f *Format) Has(name string) bool { return f.field(name) != nil }

// field returns the field of a name, nil if there is none.
func (f *Format) field(name string) *Field {
	for i := range f.Fields {
		if f.Fields[i].Name == name {
			return &f.Fields[i]
		}
	}
	return nil
}

// Int returns the number in the first field that is there of some names, out of the
// raw bytes of a sample. A signed one is extended to 64 bits. ok is false where no
// name is that of a field, where the bytes end before it, or where it is no number.
func (f *Format) Int(raw []byte, names ...string) (v uint64, ok bool) {
	for _, n := range names {
		x := f.field(n)
		if x == nil {
			continue
		}
		switch x.Size {
		case 1, 2, 4, 8:
		default:
			return 0, false
		}
		if x.Off < 0 || x.Off > len(raw)-x.Size {
			return 0, false
		}
		for i := x.Size - 1; i >= 0; i-- {
			v = v<<8 | uint64(raw[x.Off+i])
		}
		if rest := 64 - 8*x.Size; x.Signed {
			v = uint64(int64(v<<rest) >> rest)
		}
		return v, true
	}
	return 0, false
}

// Format returns the format of the tracepoint with an ID, nil where the recording
// does not have it.
func (r *Recording) Format(id uint64) *Format { return r.formats[id] }

// tracingMagic is how TRACING_DATA begins (tools/perf/util/trace-event-info.c,
// tracing_data_header, v6.12).
const tracingMagic = "\x17\x08\x44tracing"

// parseTracing reads TRACING_DATA as far as the formats go (trace-event-info.c,
// tracing_data_get). Strings end with a zero; a text is u64 length and bytes:
//
//	magic, string version, u8 byte order, u8 size of long, u32 size of a page
//	string "header_page", text, string "header_event", text
//	u32 number, so many texts: formats of ftrace
//	u32 systems; of each string name, u32 number, so many texts: its formats
func parseTracing(b []byte) (map[uint64]*Format, error) {
	formats := map[uint64]*Format{}
	err := tracingFormats(&cursor{b: b}, formats)
	return formats, err
}

// tracingFormats is parseTracing. It leaves c behind the formats.
func tracingFormats(c *cursor, formats map[uint64]*Format) error {
	if string(c.take(len(tracingMagic))) != tracingMagic {
		return fmt.Errorf("%d bytes that do not begin with its magic", len(c.b))
	}
	c.zeroed()
	if big := c.u8(); big != 0 && !c.short {
		return fmt.Errorf("byte order %d, only little-endian (0) is read", big)
	}
	c.u8()
	c.u32()
	for range 2 {
		c.zeroed()
		c.longText()
	}
	c.formats("ftrace", formats)
	for n := c.u32(); n > 0 && !c.short; n-- {
		c.formats(c.zeroed(), formats)
	}
	if c.short {
		return fmt.Errorf("%d bytes, need at least %d", len(c.b), c.need)
	}
	return nil
}

// zeroed takes a string that a zero byte ends.
func (c *cursor) zeroed() string {
	if i := bytes.IndexByte(c.b[c.off:], 0); i >= 0 && !c.short {
		return cstring(c.take(i + 1))
	}
	c.take(c.left() + 1) // it is not there
	return ""
}

// longText takes u64 length and as many bytes.
func (c *cursor) longText() []byte { return c.array(c.u64(), 1) }

// formats takes u32 number and as many formats of a system.
func (c *cursor) formats(system string, to map[uint64]*Format) {
	for n := c.u32(); n > 0 && !c.short; n-- {
		text := c.longText()
		if f := parseFormat(string(text)); f != nil {
			f.System = system
			to[f.ID] = f
		}
	}
}

// parseFormat reads a format's text; nil where it has no ID
// (kernel/trace/trace_events.c, f_show, v6.12):
//
//	name: NAME
//	ID: 1234
//	format:
//		field:unsigned short common_type;	offset:0;	size:2;	signed:0;
func parseFormat(text string) *Format {
	f, numbered := &Format{}, false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		switch key, rest, _ := strings.Cut(line, ":"); key {
		case "name":
			f.Name = strings.TrimSpace(rest)
		case "ID":
			id, err := strconv.ParseUint(strings.TrimSpace(rest), 10, 64)
			f.ID, numbered = id, err == nil
		case "field":
			if x, ok := parseField(line); ok {
				f.Fields = append(f.Fields, x)
			}
		}
	}
	if !numbered {
		return nil
	}
	return f
}

// parseField reads a line of a format: parts of KEY:VALUE, each with a semicolon
// behind it. The field's name is the last word of its declaration.
func parseField(line string) (x Field, ok bool) {
	x.Off, x.Size = -1, -1
	for part := range strings.SplitSeq(line, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), ":")
		n, err := strconv.ParseUint(value, 10, 24)
		switch {
		case key == "field":
			words := strings.Fields(value)
			if len(words) == 0 {
				return x, false
			}
			x.Name, _, _ = strings.Cut(strings.TrimLeft(words[len(words)-1], "*"), "[")
		case err != nil:
		case key == "offset":
			x.Off = int(n)
		case key == "size":
			x.Size = int(n)
		case key == "signed":
			x.Signed = n != 0
		}
	}
	return x, x.Name != "" && x.Off >= 0 && x.Size > 0
}

// tracing takes the TRACING_DATA at off of a file.
func (r *Recording) tracing(file string, off int64, b []byte) {
	formats, err := parseTracing(b)
	if err != nil {
		r.trouble(file, off, "TRACING_DATA: %v", err)
	}
	if r.formats == nil {
		r.formats = formats
	}
}
