package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/coresight/ptm"
)

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
		for name, b := range map[string][]byte{prog: code, text: code, rec: arm32File(t, prog, x.kernel, x.mapped)} {
			if err := os.WriteFile(name, b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		var out, errs bytes.Buffer
		exit := run([]string{"flow", rec, "--text", fmt.Sprintf("%s@%x", text, x.kernel), "--level", "insn", "-F", "ip,verdict"}, nil, &out, &errs)
		round := fmt.Sprintf("0000000000010000 certain\n0000000000010004 certain\n%016x certain\n%016x certain\n", x.kernel, x.kernel+4)
		if s := out.String(); exit != exitWhole || s != strings.Repeat(round, 3) {
			t.Errorf("kernel at %#x, told %t: exit code %d:\n%s%s", x.kernel, x.mapped, exit, s, errs.String())
		}
	}
}
