package output

import (
	"strconv"

	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// appendLine appends file:line, "-" if the file is not known.
func appendLine(dst []byte, f *symbols.Frame) []byte {
	if f.File == "" {
		return append(dst, '-')
	}
	return strconv.AppendInt(append(terminal.AppendPlain(dst, f.File), ':'), int64(f.Line), 10)
}

// exactLine is appendLine for objects: the file's name is as it is.
func exactLine(f *symbols.Frame) string { return f.File + ":" + strconv.Itoa(f.Line) }

// sourceField appends the line that r was made of, or what was inlined there.
func (t *textEncoder) sourceField(dst []byte, r *rows.Row, f Field) []byte {
	frames := t.names.Lines(r)
	if f == SrcLine {
		if len(frames) == 0 {
			return append(dst, '-')
		}
		return appendLine(dst, &frames[0])
	}
	if len(frames) < 2 {
		return append(dst, '-')
	}
	for i := range frames[:len(frames)-1] {
		if i > 0 {
			dst = append(dst, " < "...)
		}
		dst = append(terminal.AppendPlain(dst, frames[i].Sym), '@')
		dst = appendLine(dst, &frames[i+1])
	}
	return dst
}

// sourceKeys appends the same as keys.
func (j *jsonEncoder) sourceKeys(dst []byte, r *rows.Row, f Field) []byte {
	frames := j.names.Lines(r)
	if f == SrcLine {
		if len(frames) == 0 || frames[0].File == "" {
			return dst
		}
		return appendJSON(key(dst, "srcline"), exactLine(&frames[0]))
	}
	if len(frames) < 2 {
		return dst
	}
	dst = append(key(dst, "inlines"), '[')
	for i := range frames[:len(frames)-1] {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = appendJSON(append(dst, `{"sym":`...), frames[i].Sym)
		if at := &frames[i+1]; at.File != "" {
			dst = appendJSON(append(dst, `,"from":`...), exactLine(at))
		}
		dst = append(dst, '}')
	}
	return append(dst, ']')
}
