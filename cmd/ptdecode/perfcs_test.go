package main

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
	"github.com/ptdecode/ptdecode/coresight/ptm"
)

// csFile is a recording of cs_etm as perf writes it (tools/perf/util/cs-etm.h,
// include/linux/coresight-pmu.h, v6.12), of two CPUs with an ETMv4 each, which
// go round a loop of three instructions at 0x400000.
type csFile struct {
	version uint64
	hwIDs   bool // trace IDs by AUX_OUTPUT_HW_ID records; those of AUXTRACE_INFO do not count
	raw     bool // each source's own bytes, not frames
	thread  bool // one thread, first on CPU 0, then on CPU 1
	full    bool // the first AUX record of each area says that trace was lost behind it
	noTime  bool // nothing says that timestamps count the virtual counter
	sinks   bool // with hwIDs: each CPU has a sink for itself, and both the same trace ID
	lone    bool // with hwIDs: CPU 0 alone is traced, with the trace ID that was CPU 1's by the old rule
	noCPU   bool // records do not say the CPU
	ring    bool // a snapshot: AUX records say where trace ends

	short bool   // timestamps are of a counter of 12 bits, which was at 0x5234
	plain bool   // no timestamp in the trace
	more  int    // rounds that the second turn has more than the first
	prog  string // file that the thread has mapped at 0x400000; may be empty
	then  string // file of the program that the thread becomes between the turns; may be empty
}

// id returns the trace ID of a CPU.
func (p *csFile) id(cpu uint64) uint8 {
	switch {
	case p.sinks:
		return 0x30
	case p.lone:
		return 0x12
	case p.hwIDs:
		return uint8(0x30 + cpu)
	}
	return uint8(0x10 + 2*cpu)
}

// unit is the trace unit of a CPU.
func (p *csFile) unit(cpu uint64) coresight.Config {
	return coresight.Config{
		Protocol: coresight.ETMv4, ID: p.id(cpu), Arch: coresight.Arch{Major: 8, Profile: 'A'},
		V4: coresight.ETMv4Registers{IDR0: 0x28000ea1, IDR1: 0x4100f403, IDR2: 0x488},
	}
}

// trace is what the trace unit of a CPU sent, which went round the loop so often.
func (p *csFile) trace(t *testing.T, cpu uint64, rounds int) []byte {
	stamp := "timestamp 2: 0x1000\n"
	if p.plain {
		stamp = ""
	}
	b, err := etmv4.Assemble(p.unit(cpu), nil, `async
info 0x0
on
addrctxt.64 0x400000 1 sf ns
`+strings.Repeat("atom.f1 e\n", rounds-1)+stamp+"atom.f1 e\natom.f1 e\n") // the block before the first of these began before the timestamp
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// frames puts what several sources sent into frames.
func frames(t *testing.T, parts map[uint8][]byte) []byte {
	var f coresight.Formatter
	for id, b := range parts {
		if err := f.Write(id, b); err != nil {
			t.Fatal(err)
		}
	}
	f.Flush()
	return f.Bytes()
}

// who is the sample_id of a record.
func (p *csFile) who(cpu uint32, time uint64) []byte {
	if p.noCPU {
		cpu = 0xffffffff
	}
	return fields(uint32(100), uint32(100), time, cpu, uint32(0), uint64(1))
}

// hwID is the word of a CPU's AUX_OUTPUT_HW_ID record.
func (p *csFile) hwID(cpu uint64) uint64 {
	if p.sinks {
		return 1<<56 | (cpu+7)<<8 | uint64(p.id(cpu))
	}
	return uint64(p.id(cpu))
}

// stored is what lies in the two AUX areas after a turn.
func (p *csFile) stored(t *testing.T, turn int) (areas [2][]byte) {
	for cpu := range areas {
		areas[cpu] = p.trace(t, uint64(cpu), 10*(1+cpu)+turn*p.more)
	}
	switch {
	case p.raw:
	case p.lone:
		return [2][]byte{frames(t, map[uint8][]byte{p.id(0): areas[0]}), nil}
	case p.sinks:
		for cpu := range areas {
			areas[cpu] = frames(t, map[uint8][]byte{p.id(uint64(cpu)): areas[cpu]})
		}
	default: // a sink that both share, emptied by CPU 0
		return [2][]byte{frames(t, map[uint8][]byte{p.id(0): areas[0], p.id(1): areas[1]}), nil}
	}
	return areas
}

// program makes the records of a program that the thread has from a time on.
func (p *csFile) program(file string, misc uint16, time uint64) []byte {
	name := append([]byte(file), make([]byte, 8-len(file)&7)...)
	b := record(3, misc, uint32(100), uint32(100), []byte("prog\x00\x00\x00\x00"), p.who(0, time))
	return append(b, record(1, 2, uint32(100), uint32(100), uint64(0x400000), uint64(0x1000), uint64(0), name, p.who(0, time))...)
}

// bytes makes the file. Of CPU 0 there are 10 rounds, of CPU 1 there are 20; then
// once more as many.
func (p *csFile) bytes(t *testing.T) []byte {
	var b []byte
	ring := uint64(0)
	if p.ring {
		ring = 1
	}
	priv := fields(p.version, uint64(8)<<32|2, ring)
	for cpu := range uint64(2) {
		id := uint64(0x10 + 2*cpu)
		if p.hwIDs && !p.lone { // later kernels leave the bit out
			id |= 1 << 31
		}
		c := p.unit(cpu).V4
		source := uint64(1)
		if p.noTime {
			source = ^uint64(0)
		}
		priv = fields(priv, uint64(0x4040404040404040), cpu)
		if p.version > 0 {
			priv = fields(priv, uint64(8))
		}
		priv = fields(priv, uint64(0), id, uint64(c.IDR0), uint64(c.IDR1), uint64(c.IDR2), uint64(0), uint64(0))
		if p.version > 0 {
			priv = fields(priv, source)
		}
	}
	b = append(b, record(70, 0, uint32(3), uint32(0), priv)...)
	cycles, mask, caps := uint64(0), uint64(0), uint64(1)
	if p.short {
		cycles, mask, caps = 0x5234, 0xfff, 1|1<<8
	}
	b = append(b, record(79, 0, uint64(0), uint64(2), uint64(1000), cycles, mask, caps)...)
	if p.hwIDs {
		for cpu := range uint64(2) {
			if cpu == 0 || !p.lone {
				b = append(b, record(21, 0, p.hwID(cpu), p.who(uint32(cpu), 1))...)
			}
		}
	}
	if p.prog != "" {
		b = append(b, p.program(p.prog, 0, 1)...)
	}
	at := map[int]uint64{} // by AUX area: where it goes on
	var areas [2][]byte
	for turn := range 2 {
		if turn == 1 && p.then != "" {
			b = append(b, p.program(p.then, 1<<13, 2500000)...) // PERF_RECORD_MISC_COMM_EXEC
		}
		for cpu, x := range p.stored(t, turn) {
			area, flags := cpu, uint64(0)
			if p.raw {
				flags = 0x100
			}
			if p.full && turn == 0 {
				flags |= 1 // PERF_AUX_FLAG_TRUNCATED
			}
			if p.thread {
				area = 0
			}
			if len(x) == 0 {
				continue
			}
			from := at[area]
			areas[area] = append(areas[area], x...)
			if at[area] += uint64(len(x)); p.ring {
				from, flags = at[area], flags|2 // PERF_AUX_FLAG_OVERWRITE
			}
			b = append(b, record(11, 0, from, uint64(len(x)), flags, p.who(uint32(cpu), uint64(1000000*(1+2*turn+cpu))))...)
		}
	}
	for cpu, x := range areas {
		if len(x) == 0 {
			continue
		}
		x = append(x, make([]byte, -len(x)&7)...)
		who := int32(cpu)
		if p.thread {
			who = -1
		}
		b = append(b, record(71, 0, uint64(len(x)), uint64(0), uint64(1), uint32(cpu), int32(100), who, uint32(0))...)
		b = append(b, x...)
	}
	return csData(b, "aarch64")
}

// TestPerfCoreSight would catch a recording of cs_etm whose trace goes to the
// wrong CPU or to none, or has another time than the records. It would also catch
// trace that is joined over a place at which its sink was stopped.
func TestPerfCoreSight(t *testing.T) {
	dir := t.TempDir()
	text := filepath.Join(dir, "text.bin")
	put(t, map[string][]byte{text: fields(uint32(0xd503201f), uint32(0xd503201f), uint32(0x17fffffe))})
	const both = "0 66 22\n1 126 42\n" // 2 × 11 and 2 × 21 rounds of 3, each a run
	for _, x := range []struct {
		name string
		file csFile
		want string
		time bool
	}{
		{"version 0", csFile{version: 0}, both, false},
		{"version 1", csFile{version: 1}, both, true},
		{"version 2, HW_ID", csFile{version: 2, hwIDs: true}, both, true},
		{"raw", csFile{version: 1, raw: true}, both, true},
		{"thread", csFile{version: 1, raw: true, thread: true}, "tid100 192 64\n", true},
		{"lost", csFile{version: 1, full: true}, both, true},
		{"raw, lost", csFile{version: 1, raw: true, full: true}, both, true},
		{"a trace ID in two sinks", csFile{version: 2, hwIDs: true, sinks: true}, both, true},
		{"a trace ID that was another's", csFile{version: 2, hwIDs: true, lone: true}, "0 66 22\n", true},
		{"thread, CPU not known", csFile{version: 1, raw: true, thread: true, noCPU: true}, "tid100 192 64\n", true},
		{"thread, snapshot", csFile{version: 1, raw: true, thread: true, ring: true}, "tid100 192 64\n", true},
		{"no clock", csFile{version: 2, noTime: true}, both, false},
		{"a short clock", csFile{version: 2, short: true}, both, true},
	} {
		path := filepath.Join(dir, "perf.data")
		put(t, map[string][]byte{path: x.file.bytes(t)})
		out, errs, code := said("flow", path, "--text", text+"@400000", "--runs", "--digest")
		got := ""
		for l := range strings.Lines(out) {
			w := strings.Fields(l)
			got += fmt.Sprintln(w[0], w[1], w[2])
		}
		exit := exitWhole
		if x.file.full {
			exit = exitGaps
		}
		if lost := strings.Count(errs, ": lost, time "); got != x.want || code != exit || (lost == 2) != x.file.full {
			t.Errorf("%s: exit code %d:\n%swant\n%s%s", x.name, code, got, x.want, errs)
		}
		out, more, _ := said("flow", path, "--text", text+"@400000", "--level", "block", "-F", "time,ip")
		errs += more
		at := "0.000009191 " // 1000 + 2 × 0x1000 ns, less 1
		if x.file.short {
			at = "0.000050151 " // 1000 + 2 × 0x6000 ns, less 1: 0xdcc ticks behind 0x5234 the 12 bits are 0
		}
		if timed := strings.Contains(out, at); timed != x.time {
			t.Errorf("%s: time is known: %t, want %t:\n%.400s", x.name, timed, x.time, out)
		}
		if saysSo := strings.Contains(errs, "timestamps do not convert"); saysSo == x.time {
			t.Errorf("%s: says that times are not known: %t, want %t", x.name, saysSo, !x.time)
		}
	}
}

// pokedSnapshot writes a snapshot whose TRCCONFIGR is configr, and events of a
// change to its text, e.jsonl.
func pokedSnapshot(t *testing.T, configr string) string {
	dir := t.TempDir()
	unit := (&csFile{}).unit(0)
	// A loop of four instructions, the first a branch that is not taken; behind it
	// a NOP becomes a branch over another one.
	text := `async
info 0x0
on
addrctxt.64 0x400000 1 sf ns
timestamp 2: 0x100
atom.f2 ne
atom.f2 ne
timestamp 2: 0x200
timestamp 2: 0x400
atom.f3 nee
atom.f3 nee
timestamp 2: 0x500
`
	if configr == "0x1" {
		text = regexp.MustCompile("(?m)^timestamp.*\n").ReplaceAllString(text, "")
	}
	trace, err := etmv4.Assemble(unit, nil, text)
	if err != nil {
		t.Fatal(err)
	}
	for name, b := range map[string][]byte{
		"snapshot.ini": []byte("[snapshot]\nversion=1.0\n[device_list]\nd0=cpu.ini\nd1=etm.ini\n[trace]\nmetadata=trace.ini\n"),
		"cpu.ini":      []byte("[device]\nname=cpu_0\nclass=core\ntype=Cortex-A53\n[dump1]\nfile=text.bin\naddress=0x400000\nlength=16\n"),
		"etm.ini": []byte("[device]\nname=ETM_0\nclass=trace_source\ntype=ETM4\n[regs]\nTRCCONFIGR=" + configr + "\nTRCTRACEIDR=0x10\n" +
			"TRCIDR0=0x28000ea1\nTRCIDR1=0x4100f403\nTRCIDR2=0x488\n"),
		"trace.ini": []byte("[trace_buffers]\nbuffers=b\n[b]\nname=B\nfile=trace.bin\nformat=source_data\n[source_buffers]\nETM_0=B\n" +
			"[core_trace_sources]\ncpu_0=ETM_0\n[timestamp]\nfrequency=500000000\n"),
		"trace.bin": trace,
		"text.bin":  fields(uint32(0xb4000080), uint32(0xd503201f), uint32(0xd503201f), uint32(0x17fffffd)),
		"e.jsonl": []byte(`{"type":"stream","version":1}
{"type":"text_poke","time":1536,"cpu":1,"addr":"0000000000400004","old":"1f2003d5","new":"02000014","scheme":"atomic","begin":1500,"end":1550}
`),
	} {
		put(t, map[string][]byte{filepath.Join(dir, name): b})
	}
	return dir
}

// TestSnapshotPokes would catch a change to text, of an event stream, that a
// snapshot's flow does not see at its moment: by another clock, or not at all.
func TestSnapshotPokes(t *testing.T) {
	dir := pokedSnapshot(t, "0x801")
	out, errs, code := said("flow", dir, "--events", filepath.Join(dir, "e.jsonl"), "--level", "block", "-F", "ip,count,verdict")
	const before = "0000000000400000 1 insn certain\n0000000000400004 3 insns certain\n"
	const after = "0000000000400000 1 insn certain\n0000000000400004 1 insn certain\n000000000040000c 1 insn certain\n"
	if s := out; code != exitWhole || s != strings.Repeat(before, 2)+strings.Repeat(after, 2) {
		t.Errorf("exit code %d:\n%s%s", code, s, errs)
	}
}

// arm32File is a recording of a thread on a 32-bit Arm kernel whose text begins at
// kernel: a program at 0x10000, mapped from prog, goes into the kernel and back.
// The PTM says so by branches, which hold bits 31..1 of an address.
func arm32File(t *testing.T, prog string, kernel uint32, mapped bool) []byte {
	trace, err := ptm.Assemble(nil, fmt.Sprintf("async 5\nisync 0x10000 0x29\n"+strings.Repeat("branch 5: %#x\nbranch 5: 0x80008000\n", 3)+"ignore\n",
		uint64(1<<31|kernel>>1), uint64(1<<31|kernel>>1), uint64(1<<31|kernel>>1)))
	if err != nil {
		t.Fatal(err)
	}
	trace = frames(t, map[uint8][]byte{0x10: trace})
	who := func(time uint64) []byte { return (&csFile{noCPU: true}).who(0, time) }
	mmap := func(pid uint32, addr, size, off uint64, name string) []byte {
		s := append([]byte(name), 0)
		s = append(s, make([]byte, -len(s)&7)...)
		return record(1, map[bool]uint16{true: 1, false: 2}[pid>>31 != 0], pid, pid, addr, size, off, s, who(1))
	}
	b := record(70, 0, uint32(3), uint32(0), uint64(1), uint64(8)<<32|1, uint64(0),
		uint64(0x3030303030303030), uint64(0), uint64(4), uint64(0), uint64(0x10), uint64(0), uint64(0x411cf310))
	b = append(b, record(3, 0, uint32(100), uint32(100), []byte("prog\x00\x00\x00\x00"), who(1))...)
	if mapped {
		b = append(b, mmap(1<<32-1, uint64(kernel), 0x100000, uint64(kernel), "[kernel.kallsyms]_text")...)
	}
	b = append(b, mmap(100, 0x10000, 0x1000, 0, prog)...)
	b = append(b, record(12, 0, uint32(100), uint32(100), who(2))...)
	b = append(b, record(11, 0, uint64(0), uint64(len(trace)), uint64(0), who(3))...)
	b = append(b, record(71, 0, uint64(len(trace)), uint64(0), uint64(1), uint32(0), int32(100), int32(-1), uint32(0))...)
	return csData(append(b, trace...), "armv7l")
}

// TestPerfArm32Kernel would catch code of a 32-bit kernel that is looked for in
// the program. It tries each way to split the address space, with and without
// perf saying where the kernel lies.
func TestPerfArm32Kernel(t *testing.T) {
	dir := t.TempDir()
	code := fields(uint32(0xe320f000), uint32(0xe12fff1e)) // NOP; BX LR
	prog, text, rec := filepath.Join(dir, "prog"), filepath.Join(dir, "text.bin"), filepath.Join(dir, "perf.data")
	for _, x := range []struct {
		kernel uint32
		mapped bool
	}{{0xc0008000, true}, {0xc0008000, false}, {0x80208000, true}, {0xb0008000, true}, {0x40008000, true}} {
		put(t, map[string][]byte{prog: code, text: code, rec: arm32File(t, prog, x.kernel, x.mapped)})
		out, errs, exit := said("flow", rec, "--text", fmt.Sprintf("%s@%x", text, x.kernel), "--level", "insn", "-F", "ip,verdict")
		round := fmt.Sprintf("0000000000010000 certain\n0000000000010004 certain\n%016x certain\n%016x certain\n", x.kernel, x.kernel+4)
		if s := out; exit != exitWhole || s != strings.Repeat(round, 3) {
			t.Errorf("kernel at %#x, told %t: exit code %d:\n%s%s", x.kernel, x.mapped, exit, s, errs)
		}
	}
}
