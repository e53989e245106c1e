package main

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/pt"
)

// docFiles makes in the working folder the recordings that the page begins with.
func docFiles(t *testing.T, name string) {
	t.Helper()
	check := must(t)
	if name == "README.md" {
		return // it makes its own
	}
	check(os.CopyFS("board", os.DirFS(framedSnapshot(t, false))))
	check(os.WriteFile("unit.bin", (&csFile{}).trace(t, 0, 300), 0o666))
	if name != "docs/recipes.md" { // which makes that of the demonstration
		docRun(t, "ptdecode demo --keep demo")
		docRun(t, "ptdecode bundle --pt 0:demo/cpu0.pt --pt 1:demo/cpu1.pt --kcore demo/kcore --kallsyms demo/kallsyms --events demo/events.jsonl -o demo.tar.zst")
		if name == "docs/scale.md" {
			docShell(t)
		}
		if name == "docs/exports.md" {
			docProgram(t)
			docVmlinux(t)
		}
		return
	}
	docProgram(t)
	docVmlinux(t)
	if dir := os.Getenv("PTDECODE_DATA"); dir != "" {
		check(os.CopyFS("real-arm", os.DirFS(filepath.Join(dir, "real-arm"))))
	}
	guest := perfFile{noAux: true}
	host, err := pt.Assemble(nil, docHost)
	check(err)
	work, err := pt.Assemble(nil, workTrace())
	check(err)
	check(os.MkdirAll("guest.data/kcore_dir", 0o777))
	check(os.Mkdir("work", 0o777))
	for file, b := range map[string][]byte{
		"host.pt":                       host,
		"host.bin":                      []byte("\x90\x0f\x01\xc2\x90\x90\x90\x90\x90\xff\xe0"), // nop; vmlaunch; nops; jmp *rax
		"guest.data/data":               guest.bytes(check),
		"guest.data/kcore_dir/kcore":    demoFiles(check)["kcore"],
		"guest.data/kcore_dir/kallsyms": demoFiles(check)["kallsyms"],
		"work/cpu0.pt":                  work,
		"work/code.bin":                 workCode(check),
		"work/kallsyms":                 []byte("ffffffff81000000 T entry_SYSCALL_64\nffffffff81000020 T do_work\nffffffff81000040 T _etext\n"),
		"work/events.jsonl":             workEvents(),
	} {
		check(os.WriteFile(file, b, 0o666))
	}
	if out := docRun(t, "ptdecode bundle -q --pt work/cpu0.pt --text work/code.bin@0xffffffff81000000 --kallsyms work/kallsyms --events work/events.jsonl -o work.tar.zst"); out != "" {
		t.Fatal(out)
	}
}

// docShell has programs that run others find ptdecode.
func docShell(t *testing.T) {
	t.Helper()
	dir := t.TempDir()
	must(t)(os.WriteFile(filepath.Join(dir, "ptdecode"), []byte("#!/bin/sh\nexec "+process+" \"$@\"\n"), 0o777))
	t.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
}

// The recording work.tar.zst: a worker calls a function that loops. Its clock steps
// each 40 ns, and so does the loop. Half of the calls come before a change to the
// function's jump label, by which it loops longer.
const (
	workCalls = 24
	workPause = 300 // steps of the clock around the change
)

// workCode is the program before the change.
func workCode(check func(error)) []byte {
	b, err := hex.DecodeString("e81b000000480f07" + strings.Repeat("cc", 0x18) + // call do_work; sysretq
		"0f1f440000ffc975fcc3" + strings.Repeat("cc", 6) + // the jump label; dec %ecx; jne to it; ret
		"ffca75fce9ecffffff") // out of line: dec %edx; jne to it; jmp to the first loop
	check(err)
	return b
}

// workLoops gives how often the loops of the i-th call go round: the one out of line
// before the other.
func workLoops(i int) (out, in int) {
	if i < workCalls/2 {
		return 0, 4 + i*i%4
	}
	return 3 + i*i%5, 4
}

// workTrace gives the packets of work.tar.zst in text form.
func workTrace() string {
	ctc, n := uint64(demoStart/demoCrystal), uint64(0)
	var w strings.Builder
	fmt.Fprintf(&w, "psb\ntsc %#x\ntma %#x 0x0\nmode.exec l\npsbend\n", uint64(demoStart), ctc&0xffff)
	steps := func(count int, then string) {
		for range count {
			n++
			fmt.Fprintf(&w, "mtc %#x\n%s", (ctc+n)&0xff, then)
		}
	}
	for i := range workCalls {
		if i == workCalls/2 {
			steps(workPause, "")
		}
		steps(2, "")
		fmt.Fprintf(&w, "tip.pge 6: %#x\n", uint64(demoBase))
		out, in := workLoops(i)
		if out > 0 {
			steps(out, "tnt t\n")
			steps(1, "tnt n\n")
		}
		steps(in, "tnt t\n")
		steps(1, "tnt nt\n") // leaves the loop, and returns
		steps(1, "tip.pgd\n")
	}
	return w.String()
}

// workEvents gives the events of work.tar.zst: the change is made in the pause.
func workEvents() []byte {
	before := workPause / 2
	for i := range workCalls / 2 {
		_, in := workLoops(i)
		before += 4 + in
	}
	return fmt.Appendf(nil, `{"type":"stream","version":1}
{"type":"attr","name":"intel_pt//k","pmu":8,"config":"600"}
{"type":"auxtrace_info","pmu":1,"priv":["8","0","1","0","1","400","800","3","0","1","200","3c000","50","2","2","a","0","0"]}
{"type":"time_conv","mult":1,"cap_zero":true}
{"type":"comm","time":%d,"cpu":0,"pid":101,"tid":101,"comm":"worker"}
{"type":"itrace_start","time":%d,"cpu":0,"pid":101,"tid":101}
{"type":"text_poke","time":%d,"cpu":1,"pid":100,"tid":100,"addr":"%x","old":"0f1f440000","new":"e90b000000","scheme":"bp"}
`, demoStart-2, demoStart-1, demoStart+demoCrystal*before, uint64(demoBase+0x20))
}

// docHost is the trace of a host that enters a guest and comes back.
const docHost = `psb
pip 0x5000
mode.exec l
fup 3: 0x1000
psbend
pip 0x6000 nr
mode.exec l
tip 6: 0xffffffff81000000
fup 2: 0x81000023
pip 0x5000
mode.exec l
tip 6: 0x1008
tip 1: 0x1000
tip.pgd
`
