package decoder

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// oneFile is a recording by perf of the trace and of the breakpoints of a57-hwbp-jump. The
// trace is the window's, the records are perf's own. What it changes is how perf, its options
// or the kernel may have it.
type oneFile struct {
	name    string
	variant string                  // of the window; "": fine
	id      func(cpu uint64) uint64 // TRCTRACEIDR; nil: as the frames have it
	hwID    func(cpu uint64) uint64 // of AUX_OUTPUT_HW_ID; nil: there are none
	raw     bool                    // each CPU has a buffer, without frames
	aux     uint64                  // flags of AUX records
	pieces  int                     // bytes in each AUXTRACE; 0: all
	regs    uint64                  // which of them samples of breakpoints have; 0: x0, x1, lr
	chain   int                     // addresses of the call chains that they have; 0: they have none
	pipe    bool                    // as perf writes into a pipe
	late    bool                    // AUX records come behind the trace
}

// record makes the file.
func (o *oneFile) record(t *testing.T, root string) string {
	t.Helper()
	dir := filepath.Join(root, "a57-hwbp-jump", o.variant)
	trace, err := os.ReadFile(filepath.Join(dir, "cstrace.bin"))
	if err != nil {
		t.Fatal(err)
	}
	ini, err := os.ReadFile(filepath.Join(dir, "etm_0.ini"))
	if err != nil {
		t.Fatal(err)
	}
	var config uint64
	_, at, _ := strings.Cut(string(ini), "TRCCONFIGR(0x004)=")
	if _, err := fmt.Sscanf(at, "0x%x", &config); err != nil {
		t.Fatal(err)
	}
	const (
		pmu, id, timeConv, tid = 9, 900, 79, 77
		end                    = 17263200000 // ns: behind the window
		zero                   = 1<<64 - 86527760
	)
	w := &perfWriter{}
	priv := bin(uint64(1), uint64(pmu)<<32|2, uint64(0))
	for cpu := range uint64(2) {
		traceID := 0x10 + cpu
		if o.id != nil {
			traceID = o.id(cpu)
		}
		priv = bin(priv, uint64(0x4040404040404040), cpu, uint64(8), config, traceID, uint64(0x28000ea1), uint64(0x4100f423), uint64(0x488), uint64(0), uint64(0xcc), uint64(1))
	}
	w.record(70, uint32(3), uint32(0), priv)
	w.record(timeConv, uint64(0), uint64(1), uint64(zero), uint64(0), uint64(1<<57-1), uint64(1|1<<8))
	w.take(t, filepath.Join(root, "perf", "hwbp.data"), timeConv)
	if o.regs != 0 {
		w.widen(o.regs, o.chain)
	}
	w.event(pmu, 0, 0, id)
	for cpu := range uint64(2) {
		if o.hwID != nil {
			w.record(21, o.hwID(cpu), w.who(tid, 1000, uint32(cpu), id))
		}
	}
	buffers := [][]byte{trace}
	if o.raw {
		d := coresight.Deframer{}
		d.Write(trace)
		d.Close()
		buffers = make([][]byte, 2)
		for _, s := range d.Streams() {
			buffers[s.ID-0x10] = s.Data
		}
	}
	for cpu, data := range buffers {
		told := len(data)
		data = append(data, make([]byte, -len(data)&7)...)
		aux := func() { w.record(11, uint64(0), uint64(told), o.aux, w.who(tid, end, uint32(cpu), id)) }
		if !o.late {
			aux()
		}
		n := o.pieces
		if n == 0 {
			n = len(data)
		}
		for off := 0; off < len(data); off += n {
			part := data[off:min(off+n, len(data))]
			w.record(71, uint64(len(part)), uint64(off), uint64(1), uint32(cpu), int32(-1), uint32(cpu), uint32(0))
			w.records = append(w.records, part...)
		}
		if o.late {
			aux()
		}
	}
	if o.pipe {
		return folder(t)("perf.data", string(w.pipe()))
	}
	return w.write(t)
}

// TestOneFile would catch a recording by perf of the trace and of the breakpoints that
// does not decode whole, however perf or the kernel have it: one file, one call.
func TestOneFile(t *testing.T) {
	root := armRoot(t)
	const noID = 1 << 31 // of TRCTRACEIDR: AUX_OUTPUT_HW_ID says it
	from := func(first uint64) func(uint64) uint64 { return func(cpu uint64) uint64 { return first + cpu } }
	for i, o := range []oneFile{
		{name: "fine"},
		{name: "coarse-rs", variant: "coarse-rs"},
		{name: "trace IDs from records", id: from(noID | 0x10), hwID: from(0x10)},
		{name: "trace IDs from records alone", id: from(0), hwID: from(0x10)},
		{name: "trace IDs from records, one sink", id: from(noID | 0x20), hwID: from(1<<56 | 0x5a<<8 | 0x10)},
		{name: "a sink each", raw: true, aux: auxRaw, id: from(noID | 0x10), hwID: func(cpu uint64) uint64 { return 1<<56 | (0x5a+cpu)<<8 | 0x10 }},
		{name: "raw", raw: true, aux: auxRaw},
		{name: "raw, and no record says so", raw: true},
		{name: "pieces", pieces: 64 << 10},
		{name: "pieces, records behind", pieces: 1 << 20, late: true},
		{name: "pipe", pipe: true},
		{name: "pipe, raw, pieces", pipe: true, raw: true, aux: auxRaw, pieces: 128 << 10},
		{name: "all registers", regs: 1<<33 - 1},
		{name: "all registers and call chains", regs: 1<<33 - 1, chain: 3},
	} {
		if i > 0 && !testsize.Full(t) {
			continue
		}
		if o.variant == "" {
			o.variant = "fine"
		}
		t.Run(o.name, func(t *testing.T) {
			s := opened(t, hwbp(root, o.record(t, root)))
			for _, warning := range s.Warnings() {
				if warning.Damage {
					t.Error(warning.What)
				}
			}
			got := flowed(t, s, newSums())
			if len(s.Streams()) != 2 {
				t.Fatalf("%d streams", len(s.Streams()))
			}
			for _, st := range s.Streams() {
				want := armGoldens(t, root)["a57-hwbp-jump"][o.variant][fmt.Sprintf("1%d", st.CPU)]
				got.check(t, st.Index, want.Instructions, want.SHA256)
			}
		})
	}
}

// TestUnknownHWID would catch trace that is given to CPUs by the old rule, though records of a
// version to come say whose it is.
func TestUnknownHWID(t *testing.T) {
	root := armRoot(t)
	o := oneFile{variant: "fine", hwID: func(cpu uint64) uint64 { return 1<<60 | 0x11 - cpu }}
	s := opened(t, hwbp(root, o.record(t, root)))
	told := false
	for _, x := range s.Warnings() {
		told = told || strings.Contains(x.What, "trace IDs 10, 11")
	}
	if n := len(s.Streams()); n != 0 || !told {
		t.Errorf("%d streams, %v", n, s.Warnings())
	}
}

// TestHiddenSymbols would catch breakpoints of which nobody can say where they were set, in
// silence: the copy of /proc/kallsyms has no addresses.
func TestHiddenSymbols(t *testing.T) {
	w := &perfWriter{}
	w.breakpoint(0xffff800080f48fd0, 1<<30|3, 1)
	put := folder(t)
	s := opened(t, Config{Recording: put("perf.data", string(w.bytes())), Kallsyms: put("kallsyms", "0000000000000000 T _text\n0000000000000000 t __aarch64_insn_write\n")})
	for _, x := range s.Warnings() {
		if strings.Contains(x.What, "where they were set is not known") {
			return
		}
	}
	t.Errorf("%v", s.Warnings())
}

// widen gives samples of breakpoints more registers and call chains of so many addresses.
func (w *perfWriter) widen(regs uint64, chain int) {
	const callchain, had = 1 << 5, 1<<30 | 3 // lr, x1, x0
	for _, a := range w.attrs {
		if binary.LittleEndian.Uint32(a) == 5 {
			copy(a[96:], bin(regs))
			if chain > 0 {
				copy(a[24:], bin(binary.LittleEndian.Uint64(a[24:])|callchain))
			}
		}
	}
	old := w.records
	w.records = nil
	for len(old) > 0 {
		n := binary.LittleEndian.Uint16(old[6:])
		r := old[:n]
		if old = old[n:]; binary.LittleEndian.Uint32(r) == 9 && n > 64 {
			const head = 8 + 8 + 8 + 8 + 8 + 8 // header, identifier, IP, TID, time, CPU
			b := bin(r[8:head])
			if chain > 0 {
				b = bin(b, uint64(chain), make([]uint64, chain))
			}
			b = bin(b, r[head:head+8]) // ABI
			have := r[head+8:]
			for i := range 64 {
				switch v := uint64(0xdead0000 + i); {
				case regs>>i&1 == 0:
				case had>>i&1 != 0:
					b, have = bin(b, have[:8]), have[8:]
				default:
					b = bin(b, v)
				}
			}
			r = bin(uint32(9), binary.LittleEndian.Uint16(r[4:]), uint16(8+len(b)), b)
		}
		w.records = append(w.records, r...)
	}
}
