package a64

import (
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/isatest"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// dumped is one line of objdump: an instruction as it sees it.
type dumped struct {
	addr uint64
	w    uint32
	asm  string // mnemonic and operands with a space between, without comment
}

// tool is the objdump of A64.
var tool = isatest.Tool{Name: "aarch64-linux-gnu-objdump", Env: "PTDECODE_A64_OBJDUMP", Package: "binutils-aarch64-linux-gnu"}

// toWords gives the lines that are words to f; the others are data of other sizes.
func toWords(f func(dumped)) func(isatest.Line) {
	return func(l isatest.Line) {
		if w, err := strconv.ParseUint(l.Code, 16, 32); err == nil {
			f(dumped{l.Addr, uint32(w), l.Plain("//", " <", " ;")})
		}
	}
}

// objdump gives each line of objdump to f.
func objdump(t testing.TB, f func(dumped), args ...string) {
	t.Helper()
	tool.Run(t, toWords(f), args...)
}

// objdumpWords is objdump for words that lie at addr.
func objdumpWords(t testing.TB, words []uint32, addr uint64, f func(dumped)) {
	t.Helper()
	var code []byte
	for _, w := range words {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	seen := 0
	tool.RunCode(t, toWords(func(d dumped) { seen++; f(d) }), code, addr, "aarch64")
	if seen != len(words) {
		t.Errorf("objdump printed %d lines for %d words", seen, len(words))
	}
}

// asmClasses are the mnemonics of the classes but Cond, SetSpace and
// TraceControl.
var asmClasses = map[string]isa.Class{
	"b": isa.Jump, "bl": isa.Call,
	"br": isa.JumpInd, "braa": isa.JumpInd, "brab": isa.JumpInd, "braaz": isa.JumpInd, "brabz": isa.JumpInd,
	"blr": isa.CallInd, "blraa": isa.CallInd, "blrab": isa.CallInd, "blraaz": isa.CallInd, "blrabz": isa.CallInd,
	"ret": isa.Return, "retaa": isa.Return, "retab": isa.Return, "retaasppc": isa.Return, "retabsppc": isa.Return,
	"retaasppcr": isa.Return, "retabsppcr": isa.Return,
	"eret": isa.FarReturn, "eretaa": isa.FarReturn, "eretab": isa.FarReturn, "texit": isa.FarReturn,
	"svc": isa.Syscall, "hvc": isa.Syscall, "smc": isa.Syscall, "tenter": isa.Syscall,
	"brk": isa.Break, "hlt": isa.SoftInt,
	"udf": isa.Undefined, "drps": isa.Undefined, "dcps1": isa.Undefined, "dcps2": isa.Undefined, "dcps3": isa.Undefined,
	"isb": isa.Barrier, "tstart": isa.Barrier,
	"wfe": isa.Wait, "wfi": isa.Wait, "wfet": isa.Wait, "wfit": isa.Wait,
}

// conditional matches the mnemonics of conditional branches; cbz and cbnz are
// not among CB<cc>'s conditions.
var conditional = regexp.MustCompile(`^(bc?\.[a-z]+|cbn?z|tbn?z|cb[bh]?(eq|ne|g[te]|l[te]|h[is]|l[os]))$`)

// spaceRegister and traceRegister match the registers whose writing has a class
// of its own. objdump takes MSRR of any register; few have 128 bits.
var (
	spaceRegister = regexp.MustCompile(`^(msr (ttbr[01]_el[0-9]+|vs?ttbr_el2|contextidr_el[0-9]+)|msrr (ttbr[01]_el(1|2|12)|vttbr_el2)), `)
	traceRegister = regexp.MustCompile(`^msr (trfcr_el[0-9]+|trcprgctlr), `)
)

// asmClass is the class of an instruction by objdump's text, and its target where
// it has one.
func asmClass(asm string) (c isa.Class, target uint64) {
	name, operands, _ := strings.Cut(asm, " ")
	switch {
	case spaceRegister.MatchString(asm):
		return isa.SetSpace, 0
	case traceRegister.MatchString(asm):
		return isa.TraceControl, 0
	case conditional.MatchString(name):
		c = isa.Cond
	default:
		c = asmClasses[name]
	}
	if c == isa.Cond || c == isa.Jump || c == isa.Call {
		last := operands[strings.LastIndexByte(operands, ' ')+1:]
		target, _ = strconv.ParseUint(strings.TrimPrefix(last, "0x"), 16, 64)
	}
	return c, target
}

// newer are mnemonics that binutils 2.40 does not know yet.
var newer = regexp.MustCompile(`^(cb[bh]?(eq|ne|gt|ge|lt|hi|hs|lo)|reta[ab]sppcr?|tenter|texit|msrr) ?`)

// older are the mnemonics of FEAT_TME, which binutils 2.47 does not know any more
// or only in part.
var older = []string{"tstart", "tcancel", "tcommit"}

// tally counts what a comparison with objdump found.
type tally struct {
	seen, refused, newer int
	bad                  isatest.Wrong
	classes              isatest.Classes
}

// compare checks one line of objdump against Decode.
func (y *tally) compare(t testing.TB, d dumped) {
	t.Helper()
	y.seen++
	var in isa.Insn
	s := Decoder{}.Decode(&in, word(d.w), d.addr, isa.ModeA64)
	y.classes[in.Class]++
	if strings.HasPrefix(d.asm, ".inst") {
		name, _, _ := strings.Cut((Decoder{}).Format(word(d.w), d.addr, isa.ModeA64, nil), " ")
		switch {
		case s == isa.Bad:
			y.refused++
			return
		case in.Class == isa.Other && in.Flags == 0 && d.w>>26&7 != 5, d.w>>24 == 0xd5 && in.Class == isa.Other:
			return // unassigned outside the branch group, or a system instruction
		case newer.MatchString(name), slices.Contains(older, name):
			y.newer++
			return
		}
	} else if c, target := asmClass(d.asm); s == isa.OK && c == in.Class && target == in.Target {
		return
	}
	y.bad.Add(t, "%x: %08x %s: status %d, class %v, target %x", d.addr, d.w, d.asm, s, in.Class, in.Target)
}

// report logs the counts.
func (y *tally) report(t testing.TB) {
	t.Logf("%d words compared, %d wrong; neither takes %d, objdump does not know %d branches", y.seen, y.bad, y.refused, y.newer)
	y.classes.Log(t)
}

// TestObjdumpForms would catch a form at the wrong place of the map, or none where
// there is one. It takes every form with its free bits at random and each bit of
// its mask flipped, and every exception generating and register branch opcode. It
// takes every system instruction with a register at random, and words of the groups
// refused as a whole.
func TestObjdumpForms(t *testing.T) {
	var words []uint32
	x := isatest.Random(7)
	for _, f := range forms {
		for range 8 {
			w := f.value | x.Next()&^f.mask
			words = append(words, w)
			for bit := range 32 {
				words = append(words, w^1<<bit)
			}
		}
	}
	for i := range uint32(1 << 13) {
		words = append(words, 0xd4000000|i&7<<21|i>>3&31|x.Next()&0x1fffe0) // opc, op2 and LL
		words = append(words, 0xd6000000|i&15<<21|31<<16|i>>4&63<<10|x.Next()&0x3ff)
		words = append(words, 0xd6000000|i&15<<21|31<<16|i>>4&63<<10|31<<5|x.Next()&31)
		words = append(words, 0xd6000000|i&15<<21|31<<16|i>>4&63<<10|x.Next()&31<<5)
		words = append(words, 0x54000000|x.Next()&0xa3ffffff, x.Next()&0x01ffffff, x.Next()&0xe1ffffff|0x02000000, x.Next()&0xe1ffffff|0x06000000)
	}
	step := uint32(testsize.Of(t, 7, 1))
	for i := uint32(0); i < 1<<19; i += step {
		words = append(words, 0xd5000000|i<<5|x.Next()&31)
	}
	var y tally
	objdumpWords(t, words, at, func(d dumped) { y.compare(t, d) })
	y.report(t)
}

// binaries are files with A64 code to compare: those that PTDECODE_A64_FILES
// names, separated by colons, or the C library of a cross compiler.
func binaries(t *testing.T) []string {
	if s := os.Getenv("PTDECODE_A64_FILES"); s != "" {
		return filepath.SplitList(s)
	}
	libc := "/usr/aarch64-linux-gnu/lib/libc.so.6"
	if _, err := os.Stat(libc); err != nil {
		t.Skip("no A64 binary to compare: PTDECODE_A64_FILES is not set and " + libc + " (package libc6-arm64-cross) is not there")
	}
	return []string{libc}
}

// linked is those of binaries that a linker has been over.
func linked(t *testing.T) (names []string) {
	for _, f := range binaries(t) {
		file, err := elf.Open(f)
		if err != nil {
			t.Fatal(err)
		}
		file.Close()
		if file.Type != elf.ET_REL {
			names = append(names, f)
		}
	}
	return names
}

// TestObjdumpFiles would catch a wrong class or target of any instruction that
// compilers and assembler programmers use.
func TestObjdumpFiles(t *testing.T) {
	var all tally
	for _, f := range linked(t) {
		isatest.CheckFile(t, f, &all.seen, func() { objdump(t, func(d dumped) { all.compare(t, d) }, "-d", f) })
	}
	all.report(t)
}
