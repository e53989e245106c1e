package output

import (
	"strconv"

	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/cmd/internal/terminal"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// AppendGap appends a gap as a line of text without its end:
// "<stream>+0x<off>: <reason> at <ip>, <n> bytes of trace, time <t>: <what>".
// The address is missing if nothing was decoded before the gap. If the stream's
// offsets are not those of a file, " (<file>+0x<off>)" follows the offset.
func AppendGap(dst []byte, st *rows.Stream, g *event.Gap) []byte {
	dst = append(dst, st.Name...)
	dst = append(dst, "+0x"...)
	dst = strconv.AppendInt(dst, g.Off, 16)
	dst = append(appendPlace(dst, st, g.Off), ": "...)
	dst = append(dst, g.Reason.String()...)
	if g.IP != 0 {
		dst = append(dst, " at "...)
		dst = appendHex16(dst, g.IP)
	}
	if n := g.End - g.Off; n > 0 {
		dst = append(dst, ", "...)
		dst = append(dst, plural.Count(n, "byte")+" of trace"...)
	}
	if g.Time.Lo != 0 {
		dst = append(dst, ", time "...)
		dst = appendTime(dst, g.Time.Lo)
	}
	if g.What != "" {
		dst = append(dst, ": "...)
		dst = terminal.AppendPlain(dst, g.What)
	}
	return dst
}

// appendPlace appends " (FILE+0xAT)": where the byte at off of st stands in its
// file. It appends nothing if off is that place.
func appendPlace(dst []byte, st *rows.Stream, off int64) []byte {
	if file, at, ok := st.Place(off); ok {
		dst = append(terminal.AppendPlain(append(dst, " ("...), file), "+0x"...)
		dst = append(strconv.AppendInt(dst, at, 16), ')')
	}
	return dst
}
