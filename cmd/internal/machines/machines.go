// Package machines tells which machine a stream is of: the recorded host, or a virtual machine
// that ran on it. It tells which CPU of that machine, too.
package machines

import (
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
)

// CPU returns the number of the CPU that a stream of s traces: of a snapshot the number at the
// end of its core's name, as 0 of cpu_0. It is -1 where there is none.
func CPU(s *decoder.Session, st *decoder.Stream) int {
	if s.Meta().Kind != decoder.KindSnapshot {
		return int(st.CPU)
	}
	name, _, _ := strings.Cut(st.Core, " (")
	n, err := strconv.ParseInt(name[strings.LastIndexByte(name, '_')+1:], 10, 32)
	if err != nil || !strings.Contains(name, "_") {
		return -1
	}
	return int(n)
}

// Of returns the session of a guest of s. The guest of a stream is Stream.Guest. Where s has no such guest, as with 0, it
// returns s.
func Of(s *decoder.Session, guest int32) *decoder.Session {
	for _, g := range decoder.Guests(s) {
		if g.Meta().Guest == guest {
			return g
		}
	}
	return s
}
