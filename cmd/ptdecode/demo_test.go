package main

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
	"github.com/ptdecode/ptdecode/pt"
)

// The embedded recording is made here, by the rules of the trace unit and of
// the kernel's patching (arch/x86/kernel/alternative.c, text_poke_bp_batch,
// v6.1), from a program of a few instructions. go test -update writes it.

// demoBase is where the program lies.
const demoBase = 0xffffffff81000000

// demoCode is the program before the change: offset, name, machine code.
var demoCode = []struct {
	off  uint64
	name string
	code string
}{
	// call handle_event; sysretq
	{0x00, "entry_SYSCALL_64", "e81b000000 480f07"},
	// incq (%rdi); nopl: the jump label; ret; out of line: incq (%rsi); jmp to the ret
	{0x20, "handle_event", "48ff07 0f1f440000 c3 48ff06 ebfa"},
	// call exc_int3; iretq
	{0x40, "asm_exc_int3", "e81b000000 48cf"},
	// incq (%rdx); ret
	{0x60, "exc_int3", "48ff02 c3"},
	// write INT3, sync, write the tail, sync, write the first byte, sync; ret
	{0x80, "text_poke_bp", "c607cc e838000000 897701 e830000000 8807 e829000000 c3"},
	// cpuid; ret
	{0xc0, "text_poke_sync", "0fa2 c3"},
	{0x100, "_etext", ""},
}

// Times of the recording. One tick of the time stamp counter is a nanosecond;
// the crystal ticks once in 40, and an MTC packet comes each 8 of its ticks.
const (
	demoStart   = 5_000_000_000 // ticks; a multiple of 40
	demoCrystal = 40            // ticks
	demoMTC     = 3             // log2 of crystal ticks
	demoRecord  = demoStart + 4*demoCrystal<<demoMTC + 100
)

// demoClock gives the packets of a PSB+ up to the time, and the n-th MTC.
func demoClock() (head string, mtc func(n int) string) {
	ctc := uint64(demoStart / demoCrystal)
	head = fmt.Sprintf("psb\ntsc %#x\ntma %#x 0x0\n", uint64(demoStart), ctc&0xffff)
	return head, func(n int) string { return fmt.Sprintf("mtc %#x\n", (ctc>>demoMTC+uint64(n))&0xff) }
}

// demoTraces gives the packets of both CPUs in text form.
func demoTraces() (patcher, worker string) {
	head, mtc := demoClock()
	patcher = head + "mode.exec l\npsbend\n" + mtc(1) + mtc(2) +
		fmt.Sprintf("tip.pge 6: %#x\n", uint64(demoBase+0x80)) +
		"tnt t\n" + // first text_poke_sync: every CPU knows INT3
		mtc(3) + mtc(4) + "tnt t\n" + // second: every CPU knows the tail; the record
		mtc(5) + "tnt t\n" + // third: every CPU knows the first byte
		"tip.pgd\n"
	// Addresses after the first state their low 32 bits.
	low := func(off uint64) string { return fmt.Sprintf("2: %#x\n", (demoBase+off)&0xffffffff) }
	worker = head + "mode.exec l\npsbend\n" +
		fmt.Sprintf("tip.pge 6: %#x\n", uint64(demoBase)) + "tnt t\ntip.pgd\n" + // first pass: the return; to user space
		mtc(1) + mtc(2) + mtc(3) +
		"tip.pge " + low(0) + // second pass
		"fup " + low(0x23) + "tip " + low(0x40) + // the trap
		"tnt t\n" + // exc_int3's return
		"tip " + low(0x29) + // iretq: the jump was emulated
		"tnt t\ntip.pgd\n" +
		mtc(4) + mtc(5) + mtc(6) +
		"tip.pge " + low(0) + "tnt t\ntip.pgd\n" // third pass
	return patcher, worker
}

// demoFiles makes the files of the recording.
func demoFiles(check func(error)) map[string][]byte {
	files := map[string][]byte{}
	page := bytes.Repeat([]byte{0xcc}, 0x100)
	var syms strings.Builder
	fmt.Fprintf(&syms, "%016x T _text\n", uint64(demoBase)) // where it begins, as in every kernel
	for _, c := range demoCode {
		b, err := hex.DecodeString(strings.ReplaceAll(c.code, " ", ""))
		check(err)
		copy(page[min(c.off, 0xff):], b)
		fmt.Fprintf(&syms, "%016x T %s\n", demoBase+c.off, c.name)
	}
	files["kallsyms"] = []byte(syms.String())
	img := &image.Image{}
	check(img.AddBytes(demoBase, page))
	j, err := kcore.NewJournal(nil)
	check(err)
	var core bytes.Buffer
	check(kcore.WriteKcore(&core, kcore.NewText(j, img, kcore.TextOptions{}), event.Epoch(0), isa.Mode64))
	files["kcore"] = core.Bytes()
	patcher, worker := demoTraces()
	for name, text := range map[string]string{"cpu0.pt": patcher, "cpu1.pt": worker} {
		files[name], err = pt.Assemble(nil, text)
		check(err)
	}
	files["events.jsonl"] = demoEvents()
	return files
}

// demoEvents makes the event stream of the recording (docs/formats/events.md). The
// trace's configuration is in words of perf's record: the clock's bits and ratios.
func demoEvents() []byte {
	list := []string{
		`{"type":"stream","version":1}`,
		`{"type":"meta","meta":{"command":"made by hand: a jump label patched under way"}}`,
		`{"type":"attr","name":"intel_pt//k","pmu":8,"config":"c600"}`,
		`{"type":"auxtrace_info","pmu":1,"priv":["8","0","1","0","1","400","800","3","0","1","200","3c000","50","2","2","a","0","0"]}`,
		`{"type":"time_conv","mult":1,"cap_zero":true}`,
	}
	for cpu, comm := range []string{"patcher", "worker"} {
		tid := 100 + cpu
		list = append(list,
			fmt.Sprintf(`{"type":"comm","time":%d,"cpu":%d,"pid":%d,"tid":%d,"comm":%q}`, demoStart-2, cpu, tid, tid, comm),
			fmt.Sprintf(`{"type":"itrace_start","time":%d,"cpu":%d,"pid":%d,"tid":%d}`, demoStart-1, cpu, tid, tid))
	}
	list = append(list, fmt.Sprintf(`{"type":"text_poke","time":%d,"cpu":0,"pid":100,"tid":100,"addr":"%x","old":"0f1f440000","new":"e901000000","scheme":"bp"}`, demoRecord, uint64(demoBase+0x23)))
	return []byte(strings.Join(list, "\n") + "\n")
}

// TestDemoFresh would catch an embedded recording that is not what its source
// here makes.
func TestDemoFresh(t *testing.T) {
	files := demoFiles(must(t))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		path := filepath.Join("demo", name)
		if *update {
			if err := os.WriteFile(path, files[name], 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if got, err := fs.ReadFile(demoFS, path); err != nil || !bytes.Equal(got, files[name]) {
			t.Errorf("%s is not what demo_test.go makes (%v): run go test ./cmd/ptdecode -run Demo -update", path, err)
		}
	}
}

// demoOutput runs the verb.
func demoOutput(t *testing.T) string {
	out, errs, code := said("demo")
	if code != 0 || len(errs) > 0 {
		t.Fatalf("exit code %d; said %s", code, errs)
	}
	return out
}

// TestDemo would catch a demonstration that does not show the old instruction,
// the trap and the new instruction, in this order, or that is too long to read.
func TestDemo(t *testing.T) {
	out := demoOutput(t)
	at := 0
	for _, want := range []string{"handle_event+0x3", "nopl", "trap", "asm_exc_int3", "iretq", "handle_event+0x9", "jmp 0xffffffff81000029"} {
		i := strings.Index(out[at:], want)
		if i < 0 {
			t.Fatalf("no %q behind what came before it:\n%s", want, out)
		}
		at += i
	}
	if n := strings.Count(out, "\n"); n >= 60 {
		t.Errorf("%d lines, need less than 60", n)
	}
}
