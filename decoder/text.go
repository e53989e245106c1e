package decoder

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/process"
	"github.com/ptdecode/ptdecode/kcore"
)

// textView gives the walker the kernel's text in time and the text of the
// address spaces of user programs.
type textView struct {
	*kcore.Text
	users *process.Spaces
	given bool // the call gives code besides the kernel's
	holes bool // the image is a kcore: where nothing was mapped it holds zeros
}

// Fetch copies the text at addr as of epoch at (flow.Text). Where a program's file is
// not there, or nothing says what it had mapped, what the call gives at the address is
// its text.
func (v textView) Fetch(dst []byte, space uint32, addr uint64, at event.Epoch) (int, event.Span) {
	if space != 0 {
		if n := v.users.Fetch(dst, space, addr); n > 0 || !v.given {
			return n, event.EveryEpoch
		}
	}
	if v.holes {
		return v.Text.FetchMapped(dst, addr, at)
	}
	return v.Text.Fetch(dst, addr, at)
}

// Between appends the pokes in [lo, hi) that change the n bytes at addr, and
// the marks between which records were lost that may have told of another (flow.Text).
func (v textView) Between(dst []int, addr uint64, n int, lo, hi event.Epoch) []int {
	start := len(dst)
	dst = v.Text.Between(addr, n, lo, hi, dst)
	if k := len(dst); len(v.Text.Losses()) > 0 {
		if dst = v.Text.Marks(addr, n, lo, hi, dst); len(dst) > k {
			slices.Sort(dst[start:])
		}
	}
	return dst
}

// Poke returns what the walker needs of poke i (flow.Text).
func (v textView) Poke(i int) flow.Poke {
	p, is := v.Text.Poke(i), v.Text.Journal().Traits(i)
	from, until := v.Text.Journal().InProgress(i)
	return flow.Poke{
		Addr:    p.Addr,
		Len:     int(p.Range().Len),
		Time:    p.Time,
		Begin:   p.Begin,
		From:    from,
		Until:   until,
		Trap:    v.Text.TrapProves(i),
		Appears: len(p.Old) == 0 && v.Text.NothingBeside(i),
		Goes:    len(p.New) == 0 && v.Text.NothingBeside(i),
		Window:  is.TrapStands,
		DoesNew: is.EmulatesNew,
		Guarded: is.Guarded,
		Mark:    p.Mark(),
		Free:    is.Live,
		Unsafe:  is.Unsafe,
	}
}

// Code copies the machine code at addr, in an address space as of epoch at, to dst, up to
// the first byte that is not known. It returns how many bytes it copied.
func (s *Session) Code(dst []byte, space uint32, addr uint64, at event.Epoch) int {
	v := s.code.Load().text
	v.holes = false // as the image has it
	n, _ := v.Fetch(dst, space, addr, at)
	return n
}

// EpochAt returns the epoch of a moment, ns: the one at which every poke is made that is
// complete by then, and no other.
func (s *Session) EpochAt(time uint64) event.Epoch {
	lo, _ := s.Text().Epochs(event.Time{Lo: time, Hi: time})
	return lo
}
