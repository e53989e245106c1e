package boot

import (
	"bytes"

	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/pt"
)

// leaky are models of Intel's family 6 whose buffers the kernel clears by VERW when it leaves,
// by default (arch/x86/kernel/cpu/common.c, cpu_vuln_blacklist, v6.1.140: MMIO or SRBDS). Models
// of which newer steppings do without are left out.
var leaky = map[uint16]bool{
	0x3c: true, 0x3f: true, 0x45: true, 0x46: true, // Haswell
	0x3d: true, 0x47: true, 0x4f: true, 0x56: true, // Broadwell
	0x4e: true, 0x5e: true, // Skylake
}

// verw is VERW of a word at an address relative to RIP, without the address.
var verw = []byte{0x0f, 0x00, 0x2d}

// verwSize is how long that instruction is, bytes.
const verwSize = 7

// guessByCPU sets choices of which neither the trace nor a record tells anything, as the CPU's
// model makes likely. They stay in doubt. It takes the kernel to clear buffers on a CPU that
// needs it, unless it does not mitigate Spectre v2 either.
func (b *Kernel) guessByCPU(m pt.Model) {
	spectre := b.state.Get(feature(featRSBSwitch))
	if b.mode != isa.Mode64 || m.Family != 6 || !leaky[m.Model] || spectre != buildtime.Present {
		return
	}
	for _, c := range b.kernel.Choices() {
		if b.settled[c] != "" || c.Kind != buildtime.Feature && c.Kind != buildtime.Key {
			continue
		}
		for _, g := range b.kernel.Of(c) {
			if b.skipsVERW(g, b.state) {
				b.state = b.state.With(c, 1-b.state.Get(c))
				b.apply(b.kernel.Of(c), b.state)
				break
			}
		}
	}
}

// skipsVERW reports whether g is a short jump past a lone VERW.
func (b *Kernel) skipsVERW(g *buildtime.Group, s buildtime.State) bool {
	const jump = 2
	at := g.Addr + b.shift
	return len(g.Built) == jump && b.holds(at, jump+verwSize) && !b.overlaps(g) &&
		bytes.Equal(g.Code(s), []byte{0xeb, verwSize}) && bytes.HasPrefix(b.code[at+jump-b.text:], verw)
}
