package recorder

import (
	"debug/elf"
	"encoding/binary"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// machineFiles are those of a machine that nothing is missing on: two words say what
// differs, "NAME=TEXT" for a file and "-NAME" for none.
func machineFiles(t *testing.T, but ...string) fstest.MapFS {
	t.Helper()
	m := fstest.MapFS{}
	put := func(name, text string) { m[name] = &fstest.MapFile{Data: []byte(text)} }
	put("proc/sys/kernel/osrelease", "6.12.0-test\n")
	put("proc/sys/kernel/arch", "x86_64\n")
	put("proc/sys/kernel/perf_event_paranoid", "2\n")
	put("proc/sys/kernel/kptr_restrict", "0\n")
	put("proc/self/status", "Name:\tx\nCapEff:\t000001ffffffffff\n")
	put("proc/modules", "")
	put("proc/kallsyms", "ffffffff81000000 T _stext\nffffffff81001000 T _etext\n")
	put("sys/bus/event_source/devices/intel_pt/nr_addr_filters", "2\n")
	put("sys/bus/event_source/devices/intel_pt/caps/mtc", "1\n")
	put("sys/bus/event_source/devices/intel_pt/caps/psb_cyc", "0\n")
	put("proc/kcore", string(coreOf(t, elf.EM_X86_64, 0xffffffff81000000, make([]byte, pageSize-1), []byte{0xc3})))
	for _, x := range but {
		name, text, given := strings.Cut(strings.TrimPrefix(x, "-"), "=")
		if given {
			put(name, text)
		} else {
			for n := range m {
				if n == name || strings.HasPrefix(n, name+"/") {
					delete(m, n)
				}
			}
		}
	}
	return m
}

// coreOf makes a kcore of one stretch.
func coreOf(t *testing.T, machine elf.Machine, addr uint64, parts ...[]byte) []byte {
	t.Helper()
	img, data := &image.Image{}, slices.Concat(parts...)
	if err := img.AddBytes(addr, data); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(t.TempDir(), "core"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := copyCore(f, img, []image.Range{{Addr: addr, Len: uint64(len(data))}}, machine, func() error { return nil }); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// planOf plans a recording on a machine.
func planOf(fsys fs.FS, words string) *plan {
	m := look(files.Tree{FS: fsys}, "amd64")
	img, _ := image.Open("/proc/kcore", image.Options{NeedELF: true, FS: fsys})
	return makePlan(m, parseArgs(strings.Fields(words)), "perf", kernelVersion{6, 12}, img)
}

// TestPlan would catch a recording that lacks what decoding needs, or that is made
// although it cannot be decoded: what is missing is said, with what to do.
func TestPlan(t *testing.T) {
	const added = "--kcore --no-buildid-cache --timestamp --switch-events --mmap-pages=4M "
	for _, x := range []struct {
		name, args string
		but        []string
		want       string // perf's command line; "" where nothing is recorded
		says       []string
	}{
		{name: "whole", args: "-a -- sleep 1", want: "-o perf.data " + added + "-e intel_pt//k -a -- sleep 1"},
		{name: "own words stay", args: "-o x -e intel_pt/cyc/ -m 1,2 -- cmd -o y",
			want: "--kcore --no-buildid-cache --timestamp --switch-events -o x -e intel_pt/cyc/ -m 1,2 -- cmd -o y"},
		{name: "no command", args: "-e dummy", want: "-o perf.data " + added + "--all-cpus -e dummy"},
		{name: "user code needs no kcore", args: "-e intel_pt//u cmd", but: []string{"-proc/kcore", "proc/self/status=CapEff: 0"},
			want: "-o perf.data --no-buildid-cache --timestamp --switch-events -e intel_pt//u -- cmd"},
		{name: "no unit", args: "-a cmd", but: []string{"-sys/bus/event_source/devices/intel_pt"}, says: []string{"no trace unit: neither intel_pt nor cs_etm", "-e dummy"}},
		{name: "other unit", args: "-e cs_etm//k cmd", says: []string{"cs_etm: this machine has no such trace unit"}},
		{name: "no sink", args: "-a cmd", but: []string{"-sys/bus/event_source/devices/intel_pt", "sys/bus/event_source/devices/cs_etm/type=8"}, says: []string{"lists no sink", "modprobe coresight-tmc"}},
		{name: "hidden addresses", args: "-a cmd", but: []string{"proc/kallsyms=0000000000000000 T _stext\n", "proc/sys/kernel/kptr_restrict=2\n"}, says: []string{"kernel.kptr_restrict is 2", "sysctl kernel.kptr_restrict=0"}},
		{name: "addresses hidden by paranoid", args: "-a cmd", but: []string{"proc/kallsyms=0000000000000000 T _stext\n"}, says: []string{"shows no addresses", "kernel.perf_event_paranoid is", "CAP_SYSLOG is missing", "sysctl kernel.perf_event_paranoid=1"}},
		{name: "no kallsyms", args: "-a cmd", but: []string{"-proc/kallsyms"}, says: []string{"/proc/kallsyms cannot be read", "CONFIG_KALLSYMS"}},
		{name: "no kcore", args: "-a cmd", but: []string{"-proc/kcore"}, says: []string{"/proc/kcore is not there", "CONFIG_PROC_KCORE"}},
		{name: "empty kcore", args: "-a cmd", but: []string{"proc/kcore="}, says: []string{"/proc/kcore cannot be read"}},
		{name: "no rights", args: "-a cmd", but: []string{"proc/self/status=CapEff: 0"}, says: []string{"the kernel may not be recorded", "whole CPUs may not be recorded", "CAP_PERFMON"}},
		{name: "half the rights", args: "-a cmd", but: []string{"proc/self/status=CapEff: 0000004000000000"}, says: []string{"the code of BPF programs may not be read"},
			want: "-o perf.data --kcore --no-buildid-cache --timestamp --switch-events -e intel_pt//k -a -- cmd"},
		{name: "old kernel", args: "-a cmd", but: []string{"proc/sys/kernel/osrelease=5.4.0\n"}, says: []string{"Linux 5.4 makes no TEXT_POKE records", "docs/recording.md"}, want: "-o perf.data " + added + "-e intel_pt//k -a -- cmd"},
		{name: "a pipe", args: "-o - -a cmd", says: []string{"-o -: a pipe"}},
		{name: "no time", args: "-k mono -e intel_pt/tsc=0/ cmd", says: []string{"-k mono", "without TSC packets"}, want: "-o perf.data " + added + "-k mono -e intel_pt/tsc=0/ -- cmd"},
	} {
		p := planOf(machineFiles(t, x.but...), x.args)
		var said strings.Builder
		for _, n := range p.notes {
			fmt.Fprintf(&said, "%s\n%s\n", n.what, n.hint)
			if n.hint == "" {
				t.Errorf("%s: nothing says what to do about: %s", x.name, n.what)
			}
		}
		if got := strings.TrimPrefix(quote(p.command()), "perf record "); x.want != "" && got != x.want || p.stopped() != (x.want == "") {
			t.Errorf("%s: stopped %v:\n got %s\nwant %s\n%s", x.name, p.stopped(), got, x.want, &said)
		}
		for _, s := range x.says {
			if !strings.Contains(said.String(), s) {
				t.Errorf("%s: does not say %q:\n%s", x.name, s, &said)
			}
		}
		if len(x.says) == 0 && said.Len() > 0 {
			t.Errorf("%s: says %s", x.name, &said)
		}
	}
}

// armSymbols are the functions of an AArch64 kernel that breakpoints are set at.
const armSymbols = `ffff800080010000 T _stext
ffff800080010100 t __aarch64_insn_write
ffff800080010200 T aarch64_insn_write_literal_u64
ffff800080010300 T aarch64_insn_copy
ffff800080010400 T aarch64_insn_set
ffff800080010500 T aarch64_insn_patch_text_nosync
ffff800080010540 T aarch64_insn_patch_text_cb
ffff800080010800 T caches_clean_inval_pou
`

// armFiles are those of an AArch64 machine. Its aarch64_insn_patch_text_nosync returns
// before it calls caches_clean_inval_pou, as compilers lay it out. Another function
// behind it calls that, too.
func armFiles(t *testing.T, but ...string) fstest.MapFS {
	code := make([]byte, pageSize)
	put := func(at int, words ...uint32) {
		for i, w := range words {
			binary.LittleEndian.PutUint32(code[at+4*i:], w)
		}
	}
	bl := func(at int) uint32 { return 0x94000000 | uint32(0x800-at)/4 }
	put(0x500, 0xd503201f, 0xd65f03c0, bl(0x508), 0xd65f03c0) // NOP; RET; BL; RET
	put(0x540, bl(0x540))
	core := coreOf(t, elf.EM_AARCH64, 0xffff800080010000, code)
	return machineFiles(t, append([]string{"proc/sys/kernel/arch=aarch64\n", "-sys/bus/event_source/devices/intel_pt", "proc/kallsyms=" + armSymbols, "proc/kcore=" + string(core)}, but...)...)
}

// TestBreakpoints would catch changes of an Arm kernel that are not recorded. That which
// ends a change lies behind the call of caches_clean_inval_pou, wherever a compiler has
// laid it, and not behind that of the next function. Older kernels have other functions.
func TestBreakpoints(t *testing.T) {
	p := planOf(armFiles(t), "-a -e dummy -- cmd")
	want := "-e mem:0xffff800080010100:x -e mem:0xffff800080010800:x -e mem:0xffff80008001050c:x -e mem:0xffff800080010300:x" +
		" -e mem:0xffff800080010400:x -e mem:0xffff800080010200:x --intr-regs=x0,x1,x2,lr -a -e dummy -- cmd"
	if got := quote(p.command()); !strings.HasSuffix(got, want) || len(p.notes) > 0 {
		t.Errorf("%s, want %s; said %v", got, want, p.notes)
	}
	old := strings.NewReplacer("__aarch64_insn_write\n", "aarch64_insn_write\n", "caches_clean_inval_pou", "__flush_icache_range").Replace(armSymbols)
	if got := quote(planOf(armFiles(t, "proc/kallsyms="+old), "-a -e dummy -- cmd").command()); !strings.HasSuffix(got, want) {
		t.Errorf("an older kernel: %s, want %s", got, want)
	}
	for args, says := range map[string]string{"-e dummy cmd": "record with -a", "-a -F 99 -e dummy cmd": "-e cycles/period=100000/", "-a -I -e dummy cmd": "leave --intr-regs out"} {
		if p := planOf(armFiles(t), args); len(p.notes) != 1 || !strings.Contains(p.notes[0].hint, says) || p.stopped() {
			t.Errorf("%s: said %v, want %s", args, p.notes, says)
		}
	}
	if p := planOf(armFiles(t, "proc/kallsyms=ffff800080010000 T _stext\n"), "-a -e dummy cmd"); len(p.breaks) > 0 || len(p.notes) != 1 {
		t.Errorf("a kernel without the functions: %v, said %v", p.breaks, p.notes)
	}
}

// TestFitting would catch breakpoints that are all left out, or tried in vain, where the
// CPUs have room for some. The most telling stay.
func TestFitting(t *testing.T) {
	list := []breakpoint{{addr: 1}, {addr: 2}, {addr: 3}, {addr: 4}}
	for room := range 6 {
		got := fitting(slices.Clone(list), func(l []breakpoint) bool { return len(l) <= room })
		if !slices.Equal(got, list[:min(room, len(list))]) {
			t.Errorf("room for %d: %v", room, got)
		}
	}
}
