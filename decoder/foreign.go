package decoder

import (
	"fmt"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/stream"
	"github.com/ptdecode/ptdecode/kcore"
)

// What of the files given belongs to another boot, another CPU or another
// recording, as far as the records can tell.

// anchor is where the kernel lay in the boot that was recorded: a symbol and
// its address.
type anchor struct {
	name string
	addr uint64
	text kcore.Range // the kernel's mapping
}

// kernelMap is what perf calls the kernel's own mapping; the name of a symbol
// follows, whose address the record's page offset is
// (tools/perf/util/synthetic-events.c, __perf_event__synthesize_kernel_mmap, v6.12).
const kernelMap = "[kernel.kallsyms]"

// anchored takes what a mapping says of where the kernel lay.
func (f *facts) anchored(e *kcore.StreamEvent) {
	if name, ok := strings.CutPrefix(string(e.File), kernelMap); ok && name != "" && e.PgOff != 0 {
		f.anchor = anchor{name, uint64(e.PgOff), kcore.Range{Addr: uint64(e.Addr), Len: e.Len}}
	}
}

// otherBoot warns of symbols whose kernel lay elsewhere.
func (f *facts) otherBoot(syms *kcore.Kallsyms, path string) {
	if syms == nil || f.anchor.name == "" {
		return
	}
	if addr, ok := syms.Addr(f.anchor.name); ok && addr != f.anchor.addr {
		f.warnf("give the copy of /proc/kallsyms that was made in the same boot with --kallsyms FILE; perf record --kcore keeps one beside the trace",
			"%s+0x0: kallsyms: %s at %#x, the recording has it at %#x: it is of another boot or another kernel", path, f.anchor.name, addr, f.anchor.addr)
	}
}

// elsewhere says how img cannot be of the boot that was recorded: it has text of
// a kernel, and none of it where the kernel lay; "" if it can.
func (f *facts) elsewhere(img *kcore.Image) string {
	k := f.anchor.text
	some := false
	for _, r := range img.Ranges() {
		if r.Addr-k.Addr < k.Len || k.Addr-r.Addr < r.Len {
			return ""
		}
		some = some || r.Addr >= f.kernelFrom(nil)
	}
	if k.Len == 0 || !some {
		return ""
	}
	return fmt.Sprintf("it holds 0 bytes of 0x%x from %#x on, where the recording has the kernel", k.Len, k.Addr)
}

// otherTrace warns of a file of raw trace that is not as long as the AUX
// records of its CPU say.
func (f *facts) otherTrace(st *stream.Stream) {
	want := f.auxSize[st.CPU]
	if f.meta.Snapshot || want == 0 || near(st.Size, want) {
		return
	}
	hint := "give the trace of the recording that the events are of"
	what := fmt.Sprintf("%s+0x0: trace: %d bytes, the AUX records of CPU %d say %d", st.File, st.Size, st.CPU, want)
	for cpu, n := range f.auxSize {
		if cpu != st.CPU && near(st.Size, n) {
			what += fmt.Sprintf(", and %d of CPU %d", n, cpu)
			hint = fmt.Sprintf("is it CPU %d's? --pt %d:%s", cpu, cpu, st.File)
			break
		}
	}
	f.warnf(hint, "%s", what)
}

// near reports whether a trace of n bytes may be the size bytes that AUX
// records tell of, with padding or without.
func near(n int64, size uint64) bool { return uint64(n) <= size+7 && uint64(n)+7 >= size }

// untimed tells of trace units that trace no timestamps while there are changes
// to text.
func (f *facts) untimed(pokes int) {
	for _, st := range f.streams {
		if pokes > 0 && !st.Timed() {
			f.warnf("have the trace unit trace timestamps (TRCCONFIGR.TS, ETMCR.TimestampEn)",
				"%s+0x0: trace ID %s: it has no timestamps: which of %d changes to text had come is settled by the flow alone, or ambiguous", st.File, st.ID, pokes)
		}
	}
}
