package decoder

import (
	"fmt"
)

// What of the files given belongs to another boot or another recording, as far as
// the records can tell.

// untimed tells of trace units that trace no timestamps while there are changes
// to text.
func (s *Session) untimed(pokes int) {
	for _, st := range s.rec.Streams {
		if pokes > 0 && !st.Timed() {
			s.rec.Warnf("have the trace unit trace timestamps (TRCCONFIGR.TS, ETMCR.TimestampEn)",
				"%s+0x0: trace ID %s: it has no timestamps: which of %d changes to text had come is settled by the flow alone, or ambiguous", st.File, st.ID, pokes)
		}
	}
}

// Foreign says how the image contradicts the journal as a whole; "" if it does
// not: then it is of another boot or another kernel.
func (s *Session) Foreign() string {
	p := s.Text().Placement()
	switch {
	case p.Foreign():
		return fmt.Sprintf("%d of the %d poked sites that it holds differ from every moment of the recording", p.Differ, p.Held)
	case p.Sites > 0 && p.Held == 0 && len(s.Text().Image().Ranges()) > 0:
		return fmt.Sprintf("it holds 0 of the %d poked sites", p.Sites)
	}
	return ""
}

// Kernel reports whether addr is the kernel's, whatever the address space.
func (s *Session) Kernel(addr uint64) bool { return addr >= s.kernel }
