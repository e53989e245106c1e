package recording

import (
	"cmp"
	"fmt"

	"github.com/ptdecode/ptdecode/decoder/internal/plural"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore/image"
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

// KernelFrom returns the lowest address that is the kernel's in the address
// space of every program. perf's record of the kernel's mapping tells, else a
// symbol; else a core that only knows 32 bits has a kernel at the default.
func (r *Recording) KernelFrom(syms *symbols.Table) uint64 {
	at := r.Kernel.Addr
	if at == 0 && syms != nil {
		for _, name := range []string{"_text", "_stext"} {
			if y, ok := syms.Find(name); ok && at == 0 {
				at = y.Addr
			}
		}
	}
	if at == 0 {
		for _, st := range r.Streams {
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

// OtherBoot warns of symbols whose kernel lay elsewhere.
func (r *Recording) OtherBoot(syms *symbols.Kallsyms, path string) {
	if syms == nil || r.Kernel.Symbol == "" {
		return
	}
	if addr, ok := syms.Addr(r.Kernel.Symbol); ok && addr != r.Kernel.Addr {
		r.Warnf("give the copy of /proc/kallsyms that was made in the same boot with --kallsyms FILE; perf record --kcore keeps one beside the trace",
			"%s+0x0: kallsyms: %s at %#x, the recording has it at %#x: it is of another boot or another kernel", path, r.Kernel.Symbol, addr, r.Kernel.Addr)
	}
}

// Elsewhere says how img cannot be of the boot that was recorded: it has text of
// a kernel, and none of it where the kernel lay; "" if it can.
func (r *Recording) Elsewhere(img *image.Image) string {
	k := r.Kernel.Code
	some := false
	for _, x := range img.Ranges() {
		if x.Addr-k.Addr < k.Len || k.Addr-x.Addr < x.Len {
			return ""
		}
		some = some || x.Addr >= r.KernelFrom(nil)
	}
	if k.Len == 0 || !some {
		return ""
	}
	return fmt.Sprintf("it holds 0 bytes of 0x%x from %#x on, where the recording has the kernel", k.Len, k.Addr)
}

// Untimed tells of trace units that trace no timestamps while there are changes
// to text.
func (r *Recording) Untimed(pokes int) {
	for _, st := range r.Streams {
		if pokes > 0 && !st.Timed() {
			r.Warnf("have the trace unit trace timestamps (TRCCONFIGR.TS, ETMCR.TimestampEn)",
				"%s+0x0: trace ID %s: it has no timestamps: %s to text had come is settled by the flow alone, or ambiguous", st.File, st.ID, plural.Word(pokes, "whether the change", fmt.Sprintf("which of %d changes", pokes)))
		}
	}
}

// What to do about code that does not fit the recorded changes.
const (
	hintForeign = "give the copy of /proc/kcore that was made in the same boot with --kcore FILE; perf record --kcore keeps one beside the trace"
	hintNoSites = "give the copy of /proc/kcore that was made in the same boot with --kcore FILE, or the code there with --text FILE@ADDR"
	hintNoDump  = "dump the memory there whole, or give the code with --text FILE@ADDR; or else the changes told with --events are of another run"
	hintDumped  = "the dumps, or --text, must hold the old bytes or the new ones of the changes told with --events: correct these, or dump the memory of that run"
)

// TellForeign says that the kernel's code and the recorded changes are not of one boot. why says
// how they contradict each other, "" if they do not. The code is that of kcore, of the files
// code, or of the snapshot called snapshot; none of it lies where code changed, if none is set.
func (r *Recording) TellForeign(why, kcore, code, snapshot string, none bool) {
	if why == "" {
		return
	}
	name, hint, is := cmp.Or(kcore, code), hintForeign, "it is of another boot or another kernel"
	dumped := name == "" && r.Meta.Kind == KindSnapshot
	if dumped {
		name, hint, is = snapshot, hintDumped, "its memory and the events are not of one run"
	}
	if none && kcore == "" { // parts of a memory may lie elsewhere
		if hint, is = hintNoSites, "no code given lies there"; dumped {
			hint, is = hintNoDump, "no dump lies there"
		}
	}
	r.Warnf(hint, "%s+0x0: image: %s: %s", name, why, is)
	r.Warnings[len(r.Warnings)-1].Image = true
}
