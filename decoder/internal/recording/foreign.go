package recording

import (
	"fmt"
	"strings"

	"github.com/ptdecode/ptdecode/decoder/internal/sideband"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// Where the kernel lay, and trace that is not the recording's.

// Kernel is where the kernel lay in the boot that was recorded: a symbol and its
// address.
type Kernel struct {
	Symbol string // "": not known
	Addr   uint64
	Code   image.Range // the kernel's mapping
}

// kernelMap is what perf calls the kernel's own mapping; the name of a symbol
// follows, whose address the record's page offset is
// (tools/perf/util/synthetic-events.c, __perf_event__synthesize_kernel_mmap, v6.12).
const kernelMap = "[kernel.kallsyms]"

// anchored takes what a mapping says of where the kernel lay.
func (f *facts) anchored(e *sideband.Record) {
	if name, ok := strings.CutPrefix(string(e.File), kernelMap); ok && name != "" && e.PgOff != 0 {
		f.Kernel = Kernel{name, uint64(e.PgOff), image.Range{Addr: uint64(e.Addr), Len: e.Len}}
	}
}

// otherTrace warns of a file of raw trace that is not as long as the AUX
// records of its CPU say.
func (f *facts) otherTrace(st *stream.Stream) {
	want := f.auxSize[st.CPU]
	if f.Meta.Snapshot || want == 0 || near(st.Size, want) {
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
	f.Warnf(hint, "%s", what)
}

// near reports whether a trace of n bytes may be the size bytes that AUX
// records tell of, with padding or without.
func near(n int64, size uint64) bool { return uint64(n) <= size+7 && uint64(n)+7 >= size }
