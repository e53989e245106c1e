package x86

import (
	"bytes"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/isatest"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// tally counts what a comparison with objdump found.
type tally struct {
	seen      int            // lines compared
	explained map[string]int // lines by the pattern that explains the difference
	bad       isatest.Wrong  // lines without explanation
}

// compare checks one line of objdump against Decode, in mode m.
func (y *tally) compare(t testing.TB, d dumped, m isa.Mode) {
	t.Helper()
	y.seen++
	var pad [maxLen + 16]byte
	text := append(pad[:0], d.code...)[:len(d.code)+maxLen]
	var in isa.Insn
	s := Decoder{}.Decode(&in, text, d.Addr, m)
	name, operands := mnemonic(d.Asm)
	why := explain(d, m, s, in)
	if why == "" && (s != isa.OK || int(in.Len) != len(d.code)) {
		why = "?"
	} else if why == "" {
		if c, target := asmClass(name, operands); c != in.Class || target != in.Target {
			why = "?"
		}
	}
	switch why {
	case "":
	case "?":
		y.bad.Add(t, "%s %x: % x\t%s: status %d, length %d, class %v, target %x", m, d.Addr, d.code, d.Asm, s, in.Len, in.Class, in.Target)
	default:
		if y.explained == nil {
			y.explained = map[string]int{}
		}
		y.explained[why]++
	}
}

// noControl matches control registers 1, 5-7 and 9-15, and test registers.
var noControl = regexp.MustCompile(`%cr([15679]|1.)\b|%tr`)

// rexVEX reports whether b has REX right before VEX, EVEX or XOP.
func rexVEX(b []byte) bool {
	for i := 1; i < len(b); i++ {
		switch b[i] {
		case 0xc4, 0xc5, 0x62, 0x8f:
			return b[i-1]&0xf0 == 0x40
		}
		if oneByte[b[i]]&fPrefix == 0 {
			break
		}
	}
	return false
}

// explain names the known way in which objdump's line d differs from what a
// processor does, "" if there is none. docs/formats/x86.md lists them.
func explain(d dumped, m isa.Mode, s isa.Status, in isa.Insn) string {
	name, operands := mnemonic(d.Asm)
	class, target := asmClass(name, operands)
	switch {
	case strings.Contains(d.Asm, "(bad)"), name == ".byte":
		return "objdump sees no instruction"
	case name == "":
		return "objdump prints prefixes on a line of their own"
	case name == "mov" && s == isa.Bad && (strings.Contains(d.Asm, "%?") || strings.HasSuffix(operands, ",%cs")):
		return "objdump takes MOV of a segment register there is not, or to CS"
	case name == "mov" && s == isa.Bad && noControl.MatchString(operands):
		return "objdump takes MOV of a control or test register there is not"
	case name == "extrq" && s == isa.Bad:
		return "objdump takes EXTRQ with a reg field that is not 0"
	case m == isa.Mode32 && (class == isa.Cond || class == isa.Jump) && class == in.Class && int(in.Len) == len(d.code) &&
		bytes.Contains(d.code[:in.Len-1], []byte{0x66}) && target&0xffff == in.Target && in.Target != target:
		return "objdump does not cut the target of a short branch with 66 to 16 bits"
	case s == isa.Bad && rexVEX(d.code):
		return "objdump takes VEX, EVEX and XOP with REX in front, which fault"
	case class == isa.SetSpace && in.Class == isa.Other && bytes.IndexByte(d.code, 0xf0) >= 0:
		return "LOCK before MOV to CR3 faults"
	case name == "clac" && in.Class == isa.FarReturn && m == isa.Mode64:
		return "objdump 2.40 takes ERETS and ERETU for CLAC"
	case s == isa.OK && d.code[in.Len-1] == 0x9b && len(d.code) > int(in.Len):
		return "objdump joins FWAIT with what follows"
	}
	return ""
}

// report logs the counts.
func (y *tally) report(t testing.TB) {
	var keys []string
	for k := range y.explained {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	t.Logf("%d instructions compared, %d unexplained", y.seen, y.bad)
	for _, k := range keys {
		t.Logf("%9d %s", y.explained[k], k)
	}
}

// smallFiles are binaries for every run, bigFiles for the full one.
var (
	smallFiles = []string{"/lib/x86_64-linux-gnu/libc.so.6", "/usr/lib32/libc.so.6"}
	bigFiles   = []string{
		"/usr/lib/x86_64-linux-gnu/libcrypto.so.3", "/usr/bin/perf", "/usr/bin/python3.11", "/usr/bin/gdb",
		"/usr/lib/x86_64-linux-gnu/libx265.so.199", "/usr/lib/x86_64-linux-gnu/libSvtAv1Enc.so.1.4.1",
		"/usr/lib/x86_64-linux-gnu/libaom.so.3.6.0", "/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30",
		"/usr/lib/x86_64-linux-gnu/libgcrypt.so.20", "/usr/lib/x86_64-linux-gnu/librav1e.so.0.5.1",
		"/usr/lib/x86_64-linux-gnu/libm.so.6", "/usr/lib/x86_64-linux-gnu/libperl.so.5.36.0",
		"/usr/lib32/libm.so.6", "/usr/lib32/libstdc++.so.6", "/usr/lib32/libasan.so.8", "/usr/lib32/libubsan.so.1",
		"/usr/lib32/libgfortran.so.5",
	}
)

// TestObjdumpFiles would catch a wrong length, class or target of any
// instruction compilers and assembler programmers use. PTDECODE_FULL=all in
// the environment compares all the binaries named above (minutes).
func TestObjdumpFiles(t *testing.T) {
	testsize.OnlyFull(t)
	files := slices.Concat(smallFiles, bigFiles)
	files = files[:testsize.Of(t, len(smallFiles), len(smallFiles), len(files))]
	var all tally
	for _, f := range files {
		if _, err := os.Stat(f); err != nil {
			continue
		}
		m := isa.Mode64
		if head, err := readHead(f); err == nil && head[4] == 1 {
			m = isa.Mode32
		}
		before, start := all.seen, time.Now()
		objdump(t, func(d dumped) { all.compare(t, d, m) }, "-d", "-M", "intel64", f)
		t.Logf("%9d %s %s %v", all.seen-before, m, filepath.Base(f), time.Since(start).Round(time.Millisecond))
	}
	if all.seen == 0 {
		t.Skip("none of the binaries to compare is here")
	}
	all.report(t)
}

// TestObjdumpKernel is TestObjdumpFiles for a kernel's text as it runs, patched,
// from the recordings in PTDECODE_DATA.
func TestObjdumpKernel(t *testing.T) {
	dir := testsize.Recordings(t)
	f, err := elf.Open(filepath.Join(dir, "kernel-pokes-x86/tracepoints/perf.data/kcore_dir/kcore"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all tally
	for _, p := range f.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		size := min(p.Filesz, uint64(testsize.Of(t, 1<<18, 1<<20, int(p.Filesz))))
		text := make([]byte, size)
		if _, err := p.ReadAt(text, 0); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(t.TempDir(), "text")
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		objdump(t, func(d dumped) { all.compare(t, d, isa.Mode64) },
			"-D", "-b", "binary", "-m", "i386:x86-64", "-M", "intel64", "--adjust-vma", fmt.Sprintf("%#x", p.Vaddr), name)
	}
	if all.seen == 0 {
		t.Error("no kernel text in the recording")
	}
	all.report(t)
}

func readHead(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var b [64]byte
	_, err = f.Read(b[:])
	return bytes.Clone(b[:]), err
}
