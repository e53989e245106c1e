package decoder

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// The flags of AUX records (include/uapi/linux/perf_event.h, v6.12).
const (
	auxTruncated = 0x01
	auxOverwrite = 0x02
	auxPartial   = 0x04
	auxCollision = 0x08
	auxRaw       = 0x0100
)

// device is a recording by perf of a simulated machine whose trace units are ETEs,
// each with a buffer of its own (TRBE). What it changes is how such a recording differs
// from machine to machine.
type device struct {
	name    string
	version uint64               // of AUXTRACE_INFO; 0: 1
	cpus    func(i int) int      // a simulated CPU's number; nil: i
	id      func(cpu int) uint64 // TRCTRACEIDR; nil: 0x10 + 2 × CPU
	hwIDs   bool                 // AUX_OUTPUT_HW_ID records
	cut     int                  // bytes in each AUX record; 0: all in one
	holes   bool                 // an AUX record for every other segment; no trace of the others, and nothing says so
	flags   uint64               // of AUX records, besides raw
	pad     int                  // bytes of Ignore before each AUX record's trace
	told    bool                 // AUX records tell of the padding
	drop    int                  // bytes that are missing at the beginning
	thread  bool                 // one area, of a thread
	ring    int                  // size of a buffer that is overwritten, bytes; 0: none is
	syncs   string               // comes before each sync point of the trace units
	frames  bool                 // one sink for all CPUs, which CPU 0 empties
	apart   bool                 // frames, and a CPU's alone in each AUX record
	old     bool                 // blocks are called those of ETMv4s, without TRCDEVARCH
	least   int                  // percent of the instructions that are claimed
}

// number is that of a simulated CPU.
func (d *device) number(i int) int {
	if d.cpus != nil {
		return d.cpus(i)
	}
	return i
}

// withoutTrace is what a thread's trace units have in common.
func withoutTrace(v coresight.ETMv4Registers) coresight.ETMv4Registers {
	v.TRACEIDR = 0
	return v
}

// inFrames is what a sink holds that all CPUs' trace units share.
func inFrames(t *testing.T, r *sim.Run) []byte {
	t.Helper()
	f := coresight.Formatter{}
	more := true
	for off, n := 0, 1; more; off, n = off+n, 1+(n*7)%40 {
		more = false
		for i := range r.CPUs {
			if trace := r.CPUs[i].Trace; off < len(trace) {
				more = true
				if err := f.Write(uint8(0x10+2*i), trace[off:min(off+n, len(trace))]); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	f.Flush()
	return f.Bytes()
}

// record makes the file.
func (d *device) record(t *testing.T, r *sim.Run) Config {
	t.Helper()
	const pmu, id, tid = 9, 900, 77
	w := &perfWriter{}
	put := folder(t)
	version := max(d.version, 1)
	snapshot := uint64(0)
	if d.ring > 0 {
		snapshot = 1
	}
	priv := bin(version, uint64(pmu)<<32|uint64(len(r.CPUs)), snapshot)
	for i := range r.CPUs {
		cpu, v := d.number(i), &r.CPUs[i].Source.V4
		trace := uint64(0x10 + 2*cpu)
		if d.id != nil {
			trace = d.id(cpu)
		}
		magic, last := uint64(0x5050505050505050), []uint64{uint64(v.DEVARCH), ^uint64(0)}
		if d.old {
			magic, last = 0x4040404040404040, nil
		}
		b := bin(magic, uint64(cpu), uint64(7+len(last)), uint64(v.CONFIGR), trace, uint64(v.IDR0), uint64(v.IDR1), uint64(v.IDR2), uint64(v.IDR8), uint64(0xcc), last)
		priv = bin(priv, b)
	}
	w.event(pmu, 0, 0, id)
	w.record(70, uint32(3), uint32(0), priv)
	type area struct {
		data []byte
		cpu  int32
	}
	var areas []area
	time := uint64(1000)
	sources := slices.Clone(r.CPUs)
	for i := range sources {
		c := &sources[i]
		for k := len(c.StartOff) - 1; k >= 0; k-- {
			c.Trace = slices.Insert(slices.Clone(c.Trace), int(c.StartOff[k]), []byte(d.syncs)...)
		}
	}
	if d.frames {
		sources = []sim.CPU{{Trace: inFrames(t, r)}}
	}
	for i := range sources {
		cpu, trace := d.number(i), sources[i].Trace[d.drop:]
		if d.hwIDs {
			w.record(21, uint64(0x31+i)|uint64(0x5a+i)<<8|1<<56, w.who(tid, time, uint32(cpu), id))
		}
		if len(areas) == 0 || !d.thread {
			areas = append(areas, area{cpu: int32(cpu)})
		}
		a := &areas[len(areas)-1]
		for _, part := range d.parts(&sources[i], trace) {
			if d.apart {
				part = inFrames(t, &sim.Run{CPUs: append(make([]sim.CPU, i), sim.CPU{Trace: part})})
			}
			ignore := make([]byte, d.pad)
			for k := range ignore {
				ignore[k] = 0x70
			}
			from := len(a.data) + len(ignore)
			if d.told {
				from = len(a.data)
			}
			a.data = bin(a.data, ignore, part)
			time += 1000
			flags, at := d.flags|auxRaw, from
			if d.frames || d.apart {
				flags = d.flags
			}
			if d.ring > 0 {
				flags, at = flags|auxOverwrite, len(a.data)
			}
			w.record(11, uint64(at), uint64(len(a.data)-from), flags, w.who(tid, time, uint32(cpu), id))
		}
	}
	for i, a := range areas {
		who, thread := a.cpu, int32(-1)
		if d.thread {
			who, thread = -1, tid
		}
		off := 0
		if d.ring > 0 {
			off = max(0, len(a.data)-d.ring)
		}
		data := a.data[off:]
		data = append(data, make([]byte, -len(data)&7)...)
		w.record(71, uint64(len(data)), uint64(off), uint64(1), uint32(i), thread, uint32(who), uint32(0))
		w.records = append(w.records, data...)
	}
	c := Config{Recording: put("perf.data", string(w.bytes()))}
	for i, p := range r.Start {
		c.Code = append(c.Code, CodeFile{Path: put(fmt.Sprintf("code%d", i), string(p.Bytes)), Addr: p.Addr})
	}
	return c
}

// parts cuts trace, c's, into what an AUX record tells of each.
func (d *device) parts(c *sim.CPU, trace []byte) (list [][]byte) {
	if d.holes {
		ends := append(slices.Clone(c.StartOff), int64(len(trace)))
		for k := 0; k+1 < len(ends); k += 2 {
			list = append(list, trace[ends[k]:ends[k+1]])
		}
		return list
	}
	n := d.cut
	if n == 0 {
		n = max(len(trace), 1)
	}
	return slices.Collect(slices.Chunk(trace, n))
}

// TestDevices would catch a recording of ETEs, each with a buffer of its own, of which
// what did not run is claimed, or of which too little is.
func TestDevices(t *testing.T) {
	for _, d := range []device{
		{name: "plain", least: 95},
		{name: "version 2", version: 2, least: 95},
		{name: "IDs from records", hwIDs: true, id: func(int) uint64 { return 1<<31 | 0x10 }, least: 95},
		{name: "more CPUs than there are trace IDs", cpus: func(i int) int { return 48 + i }, least: 95},
		{name: "CPU 56", cpus: func(i int) int { return 56 + i }, least: 95},
		{name: "CPU 128", cpus: func(i int) int { return 128 + i }, least: 95},
		{name: "trace ID 0", id: func(int) uint64 { return 0 }, least: 95},
		{name: "cut", cut: 997},
		{name: "cut, truncated", cut: 997, flags: auxTruncated},
		{name: "cut, collision", cut: 997, flags: auxCollision},
		{name: "cut, partial", cut: 997, flags: auxPartial},
		{name: "holes between sync points", holes: true},
		{name: "holes between sync points, thread", holes: true, thread: true},
		{name: "padded", pad: 61, least: 95},
		{name: "padded, told", pad: 61, told: true, least: 95},
		{name: "cut, padded", pad: 61, cut: 997},
		{name: "begins inside of a packet", drop: 7},
		{name: "two sync points in a row", syncs: "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80", least: 95},
		{name: "padding before sync points", syncs: "\x70\x70\x70\x70\x70", least: 95},
		{name: "two sync points in a row, cut", syncs: "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80", cut: 700},
		{name: "thread", thread: true, least: 95},
		{name: "blocks of an older recorder", old: true, least: 95},
		{name: "frames", frames: true, least: 95},
		{name: "frames apart", apart: true, least: 95},
		{name: "frames apart, thread", apart: true, thread: true, least: 95},
		{name: "frames apart, thread, cut", apart: true, thread: true, cut: 997},
		{name: "frames apart, thread, holes between sync points", apart: true, thread: true, holes: true},
		{name: "frames, cut", frames: true, cut: 1024},
		{name: "frames, cut, truncated", frames: true, cut: 2048, flags: auxTruncated},
		{name: "frames, begin inside of a packet", frames: true, drop: 16},
		{name: "frames, ring, cut", frames: true, ring: 2048, cut: 512},
		{name: "ring", ring: 1024},
		{name: "ring, cut", ring: 1024, cut: 512},
		{name: "ring, not filled", ring: 1 << 20, least: 95},
		{name: "ring, cut, padded", ring: 1024, cut: 333, pad: 13},
		{name: "thread, cut", thread: true, cut: 997},
		{name: "thread, cut, padded", thread: true, cut: 997, pad: 28},
	} {
		t.Run(d.name, func(t *testing.T) {
			var all tally
			known := 0
			for seed := range uint64(testsize.Of(t, 8, 24)) {
				c := sim.DrawA64(seed).WithETM()
				c.Work, c.OVF = 0, 0
				r := sim.SimulateA64(c)
				if r.CPUs[0].Source.Protocol != coresight.ETE {
					continue
				}
				s := opened(t, d.record(t, r))
				for _, x := range s.Warnings() {
					if x.Damage && !strings.Contains(x.What, "without a trace ID") {
						t.Errorf("seed %d: %s", seed, x.What)
					}
				}
				got := decodeWith(t, r, s, Query{Jobs: 1})
				for _, st := range s.Streams() {
					var want []sim.Retired
					var lost []sim.Lost
					unit := s.rec.Streams[st.Index].Unit.(coresight.Config)
					for i := range r.CPUs {
						if st.CPU == int32(d.number(i)) || d.thread && withoutTrace(unit.V4) == withoutTrace(r.CPUs[i].Source.V4) {
							for _, l := range r.CPUs[i].Lost {
								lost = append(lost, sim.Lost{From: len(want) + l.From, To: len(want) + l.To})
							}
							want = append(want, r.CPUs[i].Insns...)
						}
					}
					told, msg := all.judge(got[st.Index], want, lost, func(*step, *sim.Retired) bool { return true })
					if msg != "" {
						t.Errorf("seed %d, CPU %d: %s", seed, st.CPU, msg)
					}
					for _, ok := range told {
						if ok {
							known++
						}
					}
				}
				for i := range r.CPUs {
					all.insns += len(r.CPUs[i].Insns)
				}
			}
			t.Logf("%d of %d, %d claims, %d wrong, %d gaps", known, all.insns, all.claims, all.wrong, all.gaps)
			if known*100 < all.insns*d.least {
				t.Errorf("%d of %d instructions claimed, want %d%%", known, all.insns, d.least)
			}
		})
	}
}

// TestDeviceKernel would catch a recording by perf of ETEs with a buffer each that does not
// decode as the trace itself does. The trace is of a real kernel that changes itself, and each
// AUX record tells of a buffer that was full and padded.
func TestDeviceKernel(t *testing.T) {
	root := armRoot(t)
	for _, window := range []string{"a57-jump", "max-jump"} {
		t.Run(window, func(t *testing.T) {
			dir := filepath.Join(root, window, "ete-raw")
			file := func(name string) string {
				b, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil {
					t.Fatal(err)
				}
				return string(b)
			}
			reg := func(ini, name string) (v uint64) {
				_, at, _ := strings.Cut(ini, name)
				_, at, _ = strings.Cut(at, "=")
				if _, err := fmt.Sscanf(at, "0x%x", &v); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				return v
			}
			const pmu, id, end = 9, 900, 1 << 60
			w := &perfWriter{}
			priv := bin(uint64(1), uint64(pmu)<<32|2, uint64(0))
			for cpu := range uint64(2) {
				ini := file(fmt.Sprintf("etm_%d.ini", cpu))
				priv = bin(priv, uint64(0x5050505050505050), cpu, uint64(9))
				for _, name := range []string{"TRCCONFIGR(", "TRCTRACEIDR(", "TRCIDR0(", "TRCIDR1(", "TRCIDR2(", "TRCIDR8(", "TRCAUTHSTATUS(", "TRCDEVARCH("} {
					priv = bin(priv, reg(ini, name))
				}
				priv = bin(priv, uint64(1))
			}
			w.record(70, uint32(3), uint32(0), priv)
			w.record(79, uint64(0), uint64(1), uint64(0), uint64(0), uint64(1<<57-1), uint64(1|1<<8))
			w.event(pmu, 0, 0, id)
			for cpu := range uint32(2) {
				pad := strings.Repeat("\x70", 48)
				trace := pad + file(fmt.Sprintf("cpu%d.bin", cpu)) + pad
				w.record(11, uint64(48), uint64(len(trace)-96), uint64(auxRaw), w.who(0, end, cpu, id))
				trace += strings.Repeat("\x00", -len(trace)&7)
				w.record(71, uint64(len(trace)), uint64(0), uint64(1), cpu, int32(-1), cpu, uint32(0))
				w.records = append(w.records, trace...)
			}
			core := file("cpu_0.ini")
			text := file(strings.TrimSpace(strings.SplitN(core[strings.Index(core, "file=")+5:], "\n", 2)[0]))
			put := folder(t)
			if strings.HasPrefix(text, "../") { // a link, kept as a file
				text = file(text)
			}
			s := opened(t, Config{
				Recording: put("perf.data", string(w.bytes())), Events: filepath.Join(root, window, "journal.jsonl"),
				Code: []CodeFile{{Path: put("text", text), Addr: reg(core, "address")}},
			})
			for _, x := range s.Warnings() {
				if x.Damage {
					t.Error(x.What)
				}
			}
			ran(t, s, armGoldens(t, root)[window]["ete-raw"])
		})
	}
}
