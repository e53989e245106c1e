package decoder

import (
	"fmt"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
)

// Where a kernel of x86-64 may lie: KASLR moves it by a multiple of
// CONFIG_PHYSICAL_ALIGN, at least 2 MiB, within 1 GiB (arch/x86/boot/compressed/kaslr.c,
// KERNEL_IMAGE_SIZE; v6.1).
const (
	kaslrStep = 2 << 20
	kaslrSize = 1 << 30
)

// bootShift returns by how much boot moved a kernel of which no kallsyms tells, and how
// that is known. The recording's own record of the kernel says it. Else it is so that most
// targets that the trace states are starts of functions.
func bootShift(s *Session, k *buildtime.Kernel, linked uint64) (shift uint64, how string) {
	if r := s.rec.Kernel; r.Addr != 0 && (r.Symbol == "_text" || r.Symbol == "_stext") {
		return r.Addr - linked, "by the recording's record of the kernel"
	}
	starts := map[uint64]bool{}
	for _, a := range k.Functions() {
		starts[a] = true
	}
	targets := statedTargets(s)
	best, second := 0, 0
	for d := uint64(0); d < kaslrSize; d += kaslrStep {
		n := 0
		for t := range targets {
			if starts[t-d] {
				n++
			}
		}
		if n > best {
			best, second, shift = n, best, d
		} else if n > second {
			second = n
		}
	}
	return shift, fmt.Sprintf("by the trace: %d of %d targets are starts of functions there, %d at the next best place", best, len(targets), second)
}

// mostTargets bounds the targets that bootShift looks at.
const mostTargets = 1 << 14

// statedTargets returns addresses of the kernel to which the trace says that an indirect
// branch went.
func statedTargets(s *Session) map[uint64]bool {
	set := map[uint64]bool{}
	for _, st := range s.streams {
		if !st.Executes() {
			continue
		}
		d := st.Decoder(false)
		for g := range st.Segments() {
			if len(set) >= mostTargets {
				return set
			}
			n := g.End - g.Off
			if !st.CutShort(&g) {
				n += st.Protocol.Margin
			}
			g.Buf = st.Data.Bytes(g.Off, n)
			d.Reset(g)
			for e := (event.Event{}); d.Next(&e); {
				if e.Kind == event.Target && e.IP >= 1<<63 {
					set[e.IP] = true
				}
			}
		}
	}
	return set
}
