package recording

import (
	"cmp"

	"github.com/ptdecode/ptdecode/decoder/internal/perfdata"
	"github.com/ptdecode/ptdecode/decoder/internal/process"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// takeSimpleperf takes what only a recording by Android's simpleperf says: symbols of the
// kernel and of programs, looked up on the device.
func takeSimpleperf(f *facts, m *perfdata.Simpleperf) {
	f.branchList = m.BranchList
	if m.Kallsyms != "" && f.Beside.Kallsyms == "" && f.early == nil {
		f.Beside.Kallsyms = f.Name + ":KERNEL_SYMBOL"
		e := &earlyKallsyms{path: f.Beside.Kallsyms, done: make(chan struct{})}
		e.syms, e.err = symbols.ParseKallsyms(m.Kallsyms, e.path)
		close(e.done)
		f.early = e
	}
	const elf = 2
	for i := range m.Files {
		x := &m.Files[i]
		if x.Kind != elf || !x.HasOff || x.Off+1 == 0 { // all ones: not known
			continue
		}
		list := make([]process.Symbol, 0, len(x.Symbols))
		for _, y := range x.Symbols {
			list = append(list, process.Symbol{Off: y.Vaddr - x.MinVaddr + x.Off, Len: uint64(y.Len), Name: y.Name})
		}
		f.Processes.Spaces.Symbols(x.Path, list)
	}
}

// simpleperfMeta returns the device and the recorder as simpleperf names them, "" for
// other recordings.
func simpleperfMeta(m *perfdata.Simpleperf) (device, recorder string) {
	if v := m.Meta["simpleperf_version"]; v != "" {
		recorder = "simpleperf " + v
	}
	return cmp.Or(m.Meta["product_props"], m.Meta["android_build_fingerprint"]), recorder
}
