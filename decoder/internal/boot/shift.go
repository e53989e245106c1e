package boot

import (
	"errors"
	"fmt"

	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// mostTargets bounds the targets that shift looks at.
const mostTargets = 1 << 14

// ErrPlace is in the chain of Open's error where nothing tells where the kernel ran.
var ErrPlace = errors.New("where boot put the kernel is not known")

// shift returns by how much boot moved a kernel of which no kallsyms tells, and how
// that is known. The recording's own record of the kernel says it. Else it is so that most
// targets that the trace states are starts of functions, if these are clearly more than at
// other places. It says both.
func shift(from *Source, k *buildtime.Kernel, linked uint64) (by uint64, how string, err error) {
	targets := stream.StatedTargets(from.Streams, mostTargets, 1<<63)
	p := k.Place(targets)
	are := "are starts of functions"
	if k.Mode() == isa.ModeA64 {
		are += ", or behind calls,"
	}
	are = fmt.Sprintf("%d of %d targets %s there, %d at the next best place", p.Best, len(targets), are, p.Second)
	tells := "by the trace: " + are
	if from.Loaded == 0 || from.Symbol != "_text" && from.Symbol != "_stext" {
		if !p.Clear() {
			return 0, "", fmt.Errorf("%w: at the best place, %s; %d of %d are in its code", ErrPlace, are, p.Inside, p.Of)
		}
		return p.Shift, tells, nil
	}
	const why = "by the recording's record of the kernel"
	told := k.Shift(linked, from.Loaded)
	if told == p.Shift && p.Best > 0 {
		return told, why + ", and " + tells, nil
	}
	return told, fmt.Sprintf("%s (by the trace alone it would be %#x: %s)", why, p.Shift, are), nil
}
