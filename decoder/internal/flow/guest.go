package flow

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder/event"
)

// Virtual machines. What runs in one has the same addresses as the host and
// other code, and nothing is known here of that code. A PIP tells with its NR
// bit where a VM entry or exit went (Intel SDM, volume 3C, section
// "VMX-Specific Packets and VMCS Controls"). The branch next to the PIP carries
// it.

// guestSpace is the address space of all virtual machines: it has no text, in
// either half.
const guestSpace uint32 = math.MaxUint32

// GuestGap is what the gap of a stay in a virtual machine says.
const GuestGap = "code of a virtual machine"

// moves takes the address space that e states for what is executed from its
// address on. guests is Config.Guests.
func (t *thread) moves(e *event.Event, guests bool) {
	if e.Flags&event.FlagCR3 != 0 {
		t.context = e.Value
		t.guest = guests && e.Value2&1 != 0
		t.visited = t.visited || t.guest
	}
}

// overflows takes an overflow. If the segment has shown a virtual machine, an entry or
// exit may be among the packets that were lost. So where t goes on counts as its code
// until the trace says otherwise.
func (t *thread) overflows(e *event.Event) {
	t.guest = t.guest || t.visited && e.Flags&event.FlagCR3 == 0
}

// stays reports whether t is in a virtual machine and e does not say that it
// left.
func (t *thread) stays(e *event.Event) bool {
	return t.guest && e.Kind != event.End && (e.Flags&event.FlagCR3 == 0 || e.Value2&1 != 0)
}
