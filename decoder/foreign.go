package decoder

import (
	"fmt"

	"github.com/ptdecode/ptdecode/kcore/image"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// What of the files given belongs to another boot or another recording, as far as
// the records can tell.

// otherBoot warns of symbols whose kernel lay elsewhere.
func (s *Session) otherBoot(syms *symbols.Kallsyms, path string) {
	if syms == nil || s.rec.Kernel.Symbol == "" {
		return
	}
	if addr, ok := syms.Addr(s.rec.Kernel.Symbol); ok && addr != s.rec.Kernel.Addr {
		s.rec.Warnf("give the copy of /proc/kallsyms that was made in the same boot with --kallsyms FILE; perf record --kcore keeps one beside the trace",
			"%s+0x0: kallsyms: %s at %#x, the recording has it at %#x: it is of another boot or another kernel", path, s.rec.Kernel.Symbol, addr, s.rec.Kernel.Addr)
	}
}

// elsewhere says how img cannot be of the boot that was recorded: it has text of
// a kernel, and none of it where the kernel lay; "" if it can.
func (s *Session) elsewhere(img *image.Image) string {
	k := s.rec.Kernel.Code
	some := false
	for _, r := range img.Ranges() {
		if r.Addr-k.Addr < k.Len || k.Addr-r.Addr < r.Len {
			return ""
		}
		some = some || r.Addr >= s.kernelFrom(nil)
	}
	if k.Len == 0 || !some {
		return ""
	}
	return fmt.Sprintf("it holds 0 bytes of 0x%x from %#x on, where the recording has the kernel", k.Len, k.Addr)
}

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
