package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/coresight/etmv4"
)

// contextFile is a recording of a CPU on which two programs run, 100 and 200, each
// with text of its own at 0x400000. Nothing but the contexts of the trace says when
// which one runs: the virtual one's (EL2's) in place of the VMID, or CONTEXTIDR_EL1.
// start: records say that 100 runs, from before the trace on, and would tell of a switch.
func contextFile(t *testing.T, progs [2]string, el2, start bool, tids [2]int) []byte {
	unit := (&csFile{}).unit(0)
	unit.V4.CONFIGR, unit.V4.IDR1, unit.V4.IDR2 = 1<<6, 0x4100f423, 0x1088 // ETMv4.2, context IDs and VMIDs of 4 bytes
	context := "cid 4: %d\n"
	if el2 {
		unit.V4.CONFIGR = 1<<7 | 1<<15
		context = "vmid 4: %d\n"
	}
	text := "async\ninfo 0x0\n"
	for i := range 4 {
		text += fmt.Sprintf("on\naddrctxt.64 0x400000 0 sf ns "+context, tids[i%2]) + "atom.f1 e\natom.f1 e\n"
	}
	trace, err := etmv4.Assemble(unit, nil, text)
	if err != nil {
		t.Fatal(err)
	}
	trace = frames(t, map[uint8][]byte{0x10: trace})
	who := func(time uint64) []byte { return (&csFile{}).who(0, time) }
	c := unit.V4
	b := record(70, 0, uint32(3), uint32(0), uint64(1), uint64(8)<<32|1, uint64(0), uint64(0x4040404040404040), uint64(0), uint64(7),
		uint64(c.CONFIGR), uint64(0x10), uint64(c.IDR0), uint64(c.IDR1), uint64(c.IDR2), uint64(0), uint64(0))
	for i, path := range progs {
		name := append([]byte(path), make([]byte, 8-len(path)&7)...)
		pid := uint32(100 + 100*i)
		b = append(b, record(3, 0, pid, pid, []byte("prog\x00\x00\x00\x00"), who(0))...)
		b = append(b, record(1, 2, pid, pid, uint64(0x400000), uint64(0x1000), uint64(0), name, who(0))...)
	}
	if start {
		b = append(b, record(12, 0, uint32(100), uint32(100), who(0))...)
	}
	b = append(b, record(11, 0, uint64(0), uint64(len(trace)), uint64(0), who(3))...)
	b = append(b, record(71, 0, uint64(len(trace)), uint64(0), uint64(1), uint32(0), int32(-1), int32(0), uint32(0))...)
	b = csData(append(b, trace...), "aarch64")
	if start {
		b[104+8+43] |= 1 << 2 // the bit 26 of the flags: context_switch
	}
	return b
}

// execFile is a recording of a thread that perf started, or of the CPU that it ran
// on: it became the program prog while the recording ran. onExec: tracing began
// with that.
func execFile(t *testing.T, prog string, onExec, cpu bool) []byte {
	f := &csFile{plain: true}
	trace := frames(t, map[uint8][]byte{f.id(0): f.trace(t, 0, 3)})
	who := func(time uint64) []byte { return f.who(0, time) }
	name := append([]byte(prog), make([]byte, 8-len(prog)&7)...)
	c := f.unit(0).V4
	b := record(70, 0, uint32(3), uint32(0), uint64(1), uint64(8)<<32|1, uint64(0), uint64(0x4040404040404040), uint64(0), uint64(7),
		uint64(0), uint64(0x10), uint64(c.IDR0), uint64(c.IDR1), uint64(c.IDR2), uint64(0), uint64(0))
	b = append(b, record(3, 0, uint32(100), uint32(100), []byte("perf\x00\x00\x00\x00"), who(0))...)
	b = append(b, record(12, 0, uint32(100), uint32(100), who(4))...)
	b = append(b, record(3, 1<<13, uint32(100), uint32(100), []byte("prog\x00\x00\x00\x00"), who(5))...)
	b = append(b, record(1, 2, uint32(100), uint32(100), uint64(0x400000), uint64(0x1000), uint64(0), name, who(6))...)
	b = append(b, record(11, 0, uint64(0), uint64(len(trace)), uint64(0), who(9))...)
	tid, at := int32(100), int32(-1)
	if cpu {
		tid, at = -1, 0
	}
	b = append(b, record(71, 0, uint64(len(trace)), uint64(0), uint64(1), uint32(0), tid, at, uint32(0))...)
	b = csData(append(b, trace...), "aarch64")
	if onExec {
		b[104+8+41] |= 1 << 4 // the bit 12 of the flags
	}
	return b
}

// TestPerfExec would catch a program, started by perf, that is not found because
// its trace has no time. It would also catch one that is ambiguous although tracing
// began with it, and one that is certain although nothing says so.
func TestPerfExec(t *testing.T) {
	dir := t.TempDir()
	prog, rec := filepath.Join(dir, "a"), filepath.Join(dir, "perf.data")
	put(t, map[string][]byte{prog: fields(uint32(0xd503201f), uint32(0xd503201f), uint32(0x17fffffe))})
	for _, x := range []struct {
		onExec, cpu bool
		verdict     string
	}{{true, false, "certain"}, {false, false, "ambiguous"}, {true, true, "ambiguous"}} {
		put(t, map[string][]byte{rec: execFile(t, prog, x.onExec, x.cpu)})
		out, errs, _ := said("flow", rec, "--level", "insn", "-F", "ip,verdict")
		if n := strings.Count(out, x.verdict); n != 12 {
			t.Errorf("enabled on exec %t, of a CPU %t: %d of 12 instructions are %s:\n%s%s", x.onExec, x.cpu, n, x.verdict, out, errs)
		}
	}
}

// TestPerfContexts would catch code of one program that is read as another's
// although the trace says which one runs. It would also catch code taken as certain
// where the records do not know that program, or say another one.
func TestPerfContexts(t *testing.T) {
	dir := t.TempDir()
	progs := [2]string{filepath.Join(dir, "a"), filepath.Join(dir, "b")}
	rec := filepath.Join(dir, "perf.data")
	const nop = 0xd503201f
	for i, b := range [][]byte{fields(uint32(nop), uint32(nop), uint32(0x17fffffe)), fields(uint32(nop), uint32(0x17ffffff))} {
		put(t, map[string][]byte{progs[i]: b})
	}
	const a, b = "400000\n400004\n400008\n", "400000\n400004\n"
	for _, x := range []struct {
		el2, start bool
		tids       [2]int
		want       string
	}{
		{false, false, [2]int{100, 200}, strings.Repeat(a+a+b+b, 2)},
		{true, false, [2]int{100, 200}, strings.Repeat(a+a+b+b, 2)},
		{false, false, [2]int{100, 300}, strings.Repeat(a+a, 2)},
		{false, true, [2]int{100, 200}, strings.Repeat(a+a+strings.ReplaceAll(b+b, "\n", " ambiguous\n"), 2)},
	} {
		put(t, map[string][]byte{rec: contextFile(t, progs, x.el2, x.start, x.tids)})
		out, errs, _ := said("flow", rec, "--level", "insn", "-F", "ip,verdict")
		got := strings.ReplaceAll(strings.ReplaceAll(out, " certain", ""), "0000000000", "")
		if got != x.want {
			t.Errorf("EL2 %t, told %t, %d: got\n%s%s", x.el2, x.start, x.tids, out, errs)
		}
	}
}
