package decoder

import (
	"fmt"

	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// mostTargets bounds the targets that bootShift looks at.
const mostTargets = 1 << 14

// bootShift returns by how much boot moved a kernel of which no kallsyms tells, and how
// that is known. The recording's own record of the kernel says it. Else it is so that most
// targets that the trace states are starts of functions.
func bootShift(s *Session, k *buildtime.Kernel, linked uint64) (shift uint64, how string) {
	if r := s.rec.Kernel; r.Addr != 0 && (r.Symbol == "_text" || r.Symbol == "_stext") {
		return r.Addr - linked, "by the recording's record of the kernel"
	}
	targets := stream.StatedTargets(s.streams, mostTargets, 1<<63)
	shift, best, second := k.Place(targets)
	return shift, fmt.Sprintf("by the trace: %d of %d targets are starts of functions there, %d at the next best place", best, len(targets), second)
}
