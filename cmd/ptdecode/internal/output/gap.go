package output

import (
	"strconv"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// AppendGap appends a gap as a line of text without its end:
// "<stream>+0x<off>: <reason> at <ip>, <n> bytes of trace, time <t>: <what>".
// Where nothing was decoded before, there is no address. Where the stream's
// offsets are not those of a file, " (<file>+0x<off>)" follows the first.
func AppendGap(dst []byte, st *rows.Stream, g *event.Gap) []byte {
	dst = append(dst, st.Name...)
	dst = append(dst, "+0x"...)
	dst = strconv.AppendInt(dst, g.Off, 16)
	dst = append(appendPlace(dst, st, g.Off), ": "...)
	dst = append(dst, g.Reason.String()...)
	if g.IP != 0 || g.Reason != event.NoSync {
		dst = append(dst, " at "...)
		dst = appendHex16(dst, g.IP)
	}
	if n := g.End - g.Off; n > 0 {
		dst = append(dst, ", "...)
		dst = strconv.AppendInt(dst, n, 10)
		dst = append(dst, " bytes of trace"...)
	}
	if g.Time.Lo != 0 {
		dst = append(dst, ", time "...)
		dst = appendTime(dst, g.Time.Lo)
	}
	if g.What != "" {
		dst = append(dst, ": "...)
		dst = appendName(dst, g.What)
	}
	return dst
}

// appendPlace appends " (FILE+0xAT)", where the byte at off of st stands in its
// file; nothing where off says it.
func appendPlace(dst []byte, st *rows.Stream, off int64) []byte {
	if st.FileOff == nil {
		return dst
	}
	file, at, ok := st.FileOff(off)
	if !ok {
		return dst
	}
	dst = append(appendName(append(dst, " ("...), file), "+0x"...)
	return append(strconv.AppendInt(dst, at, 16), ')')
}
