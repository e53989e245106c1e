package main

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/ptdecode/ptdecode/pt"
)

// perfFile makes the demonstration's recording as perf record would have
// written it (tools/perf/Documentation/perf.data-file-format.txt and
// include/uapi/linux/perf_event.h, v6.1), with or without what its options say.
type perfFile struct {
	pipe   bool // as written to a pipe
	noAux  bool // nothing was traced
	noInfo bool // without AUXTRACE_INFO
	noTime bool // without timestamps
	noPoke bool // no event asks for TEXT_POKE records
	lost   bool // with a LOST record
	module bool // a module was loaded meanwhile, and ran
	holes  bool // an AUX record says that trace was lost
	noData bool // AUX records, but no AUXTRACE
	broken bool // the TEXT_POKE record's lengths are wrong
	user   bool // programs alone were traced, and nobody asked for TEXT_POKE records
	once   bool // the worker came by only once
	oneCPU bool // AUXTRACE of CPU 0 alone
	shared bool // an AUX record says that another user of the trace unit wrote to CPU 1's trace
}

var le = binary.LittleEndian

// fields joins fields in their own widths.
func fields(list ...any) []byte {
	var b []byte
	for _, f := range list {
		var err error
		if b, err = binary.Append(b, le, f); err != nil {
			panic(err)
		}
	}
	return b
}

// record makes a record of its body.
func record(typ uint32, misc uint16, body ...any) []byte {
	b := fields(body...)
	b = append(b, make([]byte, -len(b)&7)...)
	return fields(typ, misc, uint16(8+len(b)), b)
}

// attr makes the attributes of an event; id is that of its records.
func (p *perfFile) attr(typ uint32, config, flags, id uint64) []byte {
	const tid, time, cpu, identifier, idAll = 1 << 1, 1 << 2, 1 << 7, 1 << 16, 1 << 18
	sample := uint64(tid | time | cpu | identifier)
	if p.noTime {
		sample &^= time
	}
	b := make([]byte, 128)
	copy(b, fields(typ, uint32(128), config, uint64(1), sample, uint64(0), flags|idAll))
	return b
}

// who is the sample_id of a record of the event with the id 2.
func (p *perfFile) who(cpu uint32, time uint64) []byte {
	tid := 100 + cpu
	b := fields(tid, tid)
	if !p.noTime {
		b = fields(b, time)
	}
	return fields(b, cpu, uint32(0), uint64(2))
}

// records makes all records.
func (p *perfFile) records(check func(error)) []byte {
	var b []byte
	add := func(r []byte) { b = append(b, r...) }
	if !p.noInfo {
		add(record(70, 0, uint32(1), uint32(0), uint64(8), uint64(0), uint64(1), uint64(0), uint64(1), uint64(1<<10), uint64(1<<11),
			uint64(3), uint64(0), uint64(1), uint64(1<<9), uint64(0x3c000), uint64(80), uint64(2), uint64(2), uint64(10), uint64(0), uint64(0)))
	}
	add(record(79, 0, uint64(0), uint64(1), uint64(0), uint64(0), uint64(0), uint64(1)))
	for cpu := range uint32(2) {
		add(record(3, 0, 100+cpu, 100+cpu, []byte("worker\x00\x00"), p.who(cpu, demoStart-2)))
		add(record(12, 0, 100+cpu, 100+cpu, p.who(cpu, demoStart-1)))
	}
	text := []byte{0x0f, 0x1f, 0x44, 0, 0, 0xe9, 1, 0, 0, 0, 0, 0}
	if !p.noPoke && !p.user {
		old := uint16(5)
		if p.broken {
			old = 500
		}
		add(record(20, 1, uint64(demoBase+0x23), old, uint16(5), text, p.who(0, demoRecord)))
	}
	if p.lost {
		add(record(2, 0, uint64(2), uint64(7), p.who(0, demoRecord+100)))
	}
	patcher, worker := demoTraces()
	if p.module {
		worker += "tip.pge 6: 0xffffffffc0000000\ntnt t\ntip.pgd\n"
	}
	if p.once {
		worker, _, _ = strings.Cut(worker, "tip.pge 2:")
	}
	for cpu, packets := range []string{patcher, worker} {
		if p.noAux {
			break
		}
		trace, err := pt.Assemble(nil, packets)
		check(err)
		trace = append(trace, make([]byte, -len(trace)&7)...)
		flags := uint64(0)
		if p.holes {
			flags = 1
		}
		if p.shared && cpu == 1 {
			flags = 8 // PERF_AUX_FLAG_COLLISION
		}
		add(record(11, 0, uint64(0), uint64(len(trace)), flags, p.who(uint32(cpu), demoStart+1e6)))
		if p.noData || p.oneCPU && cpu == 1 {
			continue
		}
		add(record(71, 0, uint64(len(trace)), uint64(0), uint64(1), uint32(cpu), int32(-1), int32(cpu), uint32(0)))
		add(trace)
	}
	add(record(68, 0))
	return b
}

// bytes makes the file.
func (p *perfFile) bytes(check func(error)) []byte {
	poke := uint64(1 << 33)
	if p.noPoke || p.user {
		poke = 0
	}
	traced := uint64(0)
	if p.user {
		traced = 1 << 5
	}
	attrs := [][]byte{p.attr(8, 0xc600, traced, 1), p.attr(1, 9, poke, 2)}
	records := p.records(check)
	if p.pipe {
		b := fields([]byte("PERFILE2"), uint64(16))
		for i, a := range attrs {
			b = append(b, record(64, 0, a, uint64(i+1))...)
		}
		return append(b, records...)
	}
	const head, entry = 104, 128 + 16
	ids := fields(uint64(1), uint64(2))
	data := uint64(head + len(ids) + 2*entry)
	b := fields([]byte("PERFILE2"), uint64(head), uint64(entry), uint64(head+len(ids)), uint64(2*entry), data, uint64(len(records)),
		uint64(0), uint64(0), make([]byte, 32), ids)
	for i, a := range attrs {
		b = fields(b, a, uint64(head+8*i), uint64(8))
	}
	return append(b, records...)
}

// scriptPerf is the command "perf DIR OPTION...": the demonstration's recording
// as perf record --kcore makes it: DIR/data and DIR/kcore_dir. Options are the
// names of perfFile's fields; nokcore leaves kcore_dir out, foreign puts
// another kernel's text into it, cut ends the data early, hidden a kallsyms without addresses.
func scriptPerf(ts *testscript.TestScript, _ bool, args []string) {
	dir, opts := ts.MkAbs(args[0]), args[1:]
	has := func(o string) bool { return slices.Contains(opts, o) }
	p := perfFile{has("pipe"), has("noaux"), has("noinfo"), has("notime"), has("nopoke"), has("lost"), has("module"), has("holes"), has("nodata"), has("broken"), has("user"), has("once"), has("onecpu"), has("shared")}
	ts.Check(os.MkdirAll(filepath.Join(dir, "kcore_dir"), 0o777))
	data := p.bytes(ts.Check)
	if has("cut") {
		data = data[:len(data)-4] // into the last record
	}
	ts.Check(os.WriteFile(filepath.Join(dir, "data"), data, 0o666))
	if has("nokcore") {
		return
	}
	files := demoFiles(ts.Check)
	core, syms := string(files["kcore"]), string(files["kallsyms"])
	if has("foreign") {
		core = strings.ReplaceAll(core, "\x0f\x1f\x44\x00\x00", "\x48\x89\xd8\x31\xc0")
	}
	if has("hidden") {
		syms = strings.ReplaceAll(syms, "ffffffff810000", "00000000000000")
		syms = strings.ReplaceAll(syms, "ffffffff81000100", "0000000000000000")
		for _, c := range demoCode {
			syms = strings.ReplaceAll(syms, fmt.Sprintf("%016x", c.off), "0000000000000000")
		}
	}
	ts.Check(os.WriteFile(filepath.Join(dir, "kcore_dir", "kcore"), []byte(core), 0o666))
	ts.Check(os.WriteFile(filepath.Join(dir, "kcore_dir", "kallsyms"), []byte(syms), 0o666))
}
