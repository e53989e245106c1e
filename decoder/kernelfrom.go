package decoder

import (
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// Where 32-bit kernels lie. CONFIG_PAGE_OFFSET is a multiple of 256 MiB, and the
// kernel lies within the first of them behind it. Its modules lie in the 16 MiB
// before it, which is where user programs end (Linux, arch/arm/Kconfig, VMSPLIT_*;
// arch/arm/include/asm/memory.h, TASK_SIZE; v6.12).
const (
	pageOffsetUnit    = 1 << 28
	moduleSpace       = 1 << 24
	pageOffsetDefault = 0xc0000000
)

// kernelFrom returns the lowest address that is the kernel's in the address
// space of every program. perf's record of the kernel's mapping tells, else a
// symbol; else a core that only knows 32 bits has a kernel at the default.
func (s *Session) kernelFrom(syms *symbols.Table) uint64 {
	at := s.rec.Kernel.Addr
	if at == 0 && syms != nil {
		for _, name := range []string{"_text", "_stext"} {
			if y, ok := syms.Find(name); ok && at == 0 {
				at = y.Addr
			}
		}
	}
	if at == 0 {
		for _, st := range s.rec.Streams {
			if st.Narrow() {
				at = pageOffsetDefault
			}
		}
	}
	if at < pageOffsetUnit || at>>32 != 0 {
		return isa.UpperHalf
	}
	return at&^(pageOffsetUnit-1) - moduleSpace
}

// Kernel reports whether addr is the kernel's, whatever the address space.
func (s *Session) Kernel(addr uint64) bool { return addr >= s.kernel }
