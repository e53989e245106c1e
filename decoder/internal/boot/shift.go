package boot

import (
	"fmt"

	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// mostTargets bounds the targets that shift looks at.
const mostTargets = 1 << 14

// shift returns by how much boot moved a kernel of which no kallsyms tells, and how
// that is known. The recording's own record of the kernel says it. Else it is so that most
// targets that the trace states are starts of functions.
func shift(from *Source, k *buildtime.Kernel, linked uint64) (by uint64, how string) {
	if from.Loaded != 0 {
		return from.Loaded - linked, "by the recording's record of the kernel"
	}
	targets := stream.StatedTargets(from.Streams, mostTargets, 1<<63)
	by, best, second := k.Place(targets)
	return by, fmt.Sprintf("by the trace: %d of %d targets are starts of functions there, %d at the next best place", best, len(targets), second)
}
