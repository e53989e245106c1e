package boot

import (
	"fmt"

	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// mostTargets bounds the targets that shift looks at.
const mostTargets = 1 << 14

// shift returns by how much boot moved a kernel of which no kallsyms tells, and how
// that is known. The recording's own record of the kernel says it. Else it is so that most
// targets that the trace states are starts of functions. It says both.
func shift(from *Source, k *buildtime.Kernel, linked uint64) (by uint64, how string) {
	targets := stream.StatedTargets(from.Streams, mostTargets, 1<<63)
	by, best, second := k.Place(targets)
	are := "are starts of functions"
	if k.Mode() == isa.ModeA64 {
		are += ", or behind calls,"
	}
	are = fmt.Sprintf("%d of %d targets %s there, %d at the next best place", best, len(targets), are, second)
	tells := "by the trace: " + are
	if from.Loaded == 0 {
		return by, tells
	}
	const why = "by the recording's record of the kernel"
	told := k.Shift(linked, from.Loaded)
	if told == by && best > 0 {
		return told, why + ", and " + tells
	}
	return told, fmt.Sprintf("%s (by the trace alone it would be %#x: %s)", why, by, are)
}
