package a32

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/isatest"
)

// tool is the objdump of Arm.
var tool = isatest.Tool{Name: "arm-linux-gnueabihf-objdump", Env: "PTDECODE_A32_OBJDUMP", Package: "binutils-arm-linux-gnueabihf"}

// dumped is one line of objdump: an instruction as it sees it.
type dumped struct {
	addr uint64
	s    *set
	w    uint32
	asm  string // mnemonic and operands with a space between, without comment; "" where it sees none
}

// toWords gives the lines that are instructions in mode m to f; the others are data.
func toWords(m isa.Mode, f func(dumped)) func(isatest.Line) {
	return func(l isatest.Line) {
		digits := strings.ReplaceAll(l.Code, " ", "")
		w, err := strconv.ParseUint(digits, 16, 32)
		asm := l.Asm
		if strings.Contains(asm, "<undefined>") || strings.HasPrefix(asm, "undefined") {
			asm = ""
		}
		l.Asm = asm
		if asm = l.Plain("@", " <", ";"); err != nil || strings.HasPrefix(asm, ".") {
			return
		}
		s := &sets[0]
		if m == isa.ModeT32 {
			s = &sets[len(digits)/4]
		}
		f(dumped{l.Addr, s, uint32(w), asm})
	}
}

// objdump gives each line of objdump that is code to f.
func objdump(t testing.TB, m isa.Mode, f func(dumped), args ...string) {
	t.Helper()
	tool.Run(t, toWords(m, f), args...)
}

// objdumpWords is objdump for words of s that lie at addr. Behind each there is
// room for what it may do to the next: an IT block of four NOPs.
func objdumpWords(t testing.TB, s *set, words []uint32, addr uint64, f func(dumped)) {
	t.Helper()
	var text []byte
	for _, w := range words {
		text = append(text, s.bytes(w)...)
		if s.size == 2 && w>>8 == 0xbf {
			text = append(text, 0, 0xbf, 0, 0xbf, 0, 0xbf, 0, 0xbf)
		}
	}
	var args []string
	if s.mode == isa.ModeT32 {
		args = append(args, "-M", "force-thumb")
	}
	seen := 0
	tool.RunCode(t, toWords(s.mode, func(d dumped) { seen += d.s.size; f(d) }), text, addr, "arm", args...)
	if seen != len(text) {
		t.Errorf("objdump printed %d bytes of %d", seen, len(text))
	}
}

// tally counts what a comparison with objdump found.
type tally struct {
	seen, refused int
	bad           isatest.Wrong
	block         int // instructions left of an IT block
	meant         map[string]int
	classes       isatest.Classes
}

// compare checks one line of objdump against Decode.
func (y *tally) compare(t testing.TB, d dumped) {
	t.Helper()
	y.seen++
	var in isa.Insn
	s := Decoder{}.Decode(&in, d.s.bytes(d.w), d.addr, d.s.mode)
	y.classes[in.Class]++
	inBlock := y.inBlock(d)
	if s == isa.Bad && d.asm == "" {
		y.refused++
		return
	}
	want := asmInsn(d, inBlock)
	if s == isa.OK && int(in.Len) == d.s.size {
		in.Len, in.Flags = 0, in.Flags&(isa.FlagConditional|isa.FlagInterwork)
		if in == want {
			return
		}
	}
	if why := meant(d, s, in); why != "" {
		if y.meant == nil {
			y.meant = map[string]int{}
		}
		y.meant[why]++
		return
	}
	y.bad.Add(t, "%x: %0*x %q: status %d, %v, flags %b, target %x; want %v, flags %b, target %x",
		d.addr, 2*d.s.size, d.w, d.asm, s, in.Class, in.Flags, in.Target, want.Class, want.Flags, want.Target)
}

// inBlock reports whether d lies in an IT block. It sees every instruction.
func (y *tally) inBlock(d dumped) bool {
	in := y.block > 0
	y.block--
	if d.s.size == 2 && d.w&0xff00 == 0xbf00 && d.w&15 != 0 {
		y.block = 4
		for w := d.w; w&1 == 0; w >>= 1 {
			y.block--
		}
	}
	return in
}

// report logs the counts.
func (y *tally) report(t testing.TB) {
	t.Logf("%d instructions compared, %d wrong; neither takes %d", y.seen, y.bad, y.refused)
	for why, n := range y.meant {
		t.Logf("%9d %s", n, why)
	}
	y.classes.Log(t)
}

// TestObjdumpA32 would catch an A32 form at the wrong place of the map, or none
// where there is one. It takes every form with its free bits at random and each bit
// flipped. It also takes each of the 4096 pairs of bits 27:20 and 7:4 under several
// conditions, with and without PC as destination.
func TestObjdumpA32(t *testing.T) {
	var words []uint32
	s := &sets[0]
	s.spread(8, func(w uint32) { words = append(words, w) })
	x := isatest.Random(7)
	for i := range uint32(1 << 12) {
		for _, cond := range []uint32{0, 7, 13, 14, 14, 15} {
			w := cond<<28 | i>>4<<20 | i&15<<4
			words = append(words, w|x.Next()&0x000f_ff0f, w|0xf000|x.Next()&0x000f_0f0f, w|0x000d_f000|x.Next()&0xf0f)
		}
	}
	var y tally
	objdumpWords(t, s, words, at, func(d dumped) { y.compare(t, d) })
	y.report(t)
}

// TestObjdumpT16 would catch any halfword read otherwise than objdump does: all
// that are one instruction.
func TestObjdumpT16(t *testing.T) {
	var words []uint32
	for w := range uint32(0xe800) {
		words = append(words, w)
	}
	var y tally
	objdumpWords(t, &sets[1], words, at, func(d dumped) { y.compare(t, d) })
	y.report(t)
}

// TestObjdumpT32 would catch a form of two halfwords at the wrong place of the map,
// or none where there is one. It takes every form with its free bits at random and
// each bit flipped, and each first halfword with PC as destination or not. In the
// space of branches it takes each first halfword with each value of bits 15:11 and
// 0 of the second.
func TestObjdumpT32(t *testing.T) {
	var words []uint32
	s := &sets[2]
	s.spread(8, func(w uint32) { words = append(words, w) })
	x := isatest.Random(7)
	for hi := uint32(0xe800); hi <= 0xffff; hi++ {
		for range 4 {
			words = append(words, hi<<16|x.Next()&0xffff, hi<<16|0xf000|x.Next()&0xfff)
		}
		if hi>>11 != 0x1e {
			continue
		}
		for i := range uint32(1 << 6) {
			words = append(words, hi<<16|i>>1<<11|i&1|x.Next()&0x7fe)
		}
	}
	var y tally
	objdumpWords(t, s, words, at, func(d dumped) { y.compare(t, d) })
	y.report(t)
}

// A file is a binary to compare.
type file struct {
	name string
	mode isa.Mode
	args []string // objdump's
}

// files are those that PTDECODE_A32_FILES names, separated by colons, those of T32
// code behind "thumb="; without it the C libraries of cross compilers are taken.
func files(t *testing.T) (all []file) {
	names := filepath.SplitList(os.Getenv("PTDECODE_A32_FILES"))
	if len(names) == 0 {
		for _, f := range []string{"/usr/arm-linux-gnueabi/lib/libc.so.6", "thumb=/usr/arm-linux-gnueabihf/lib/libc.so.6"} {
			if _, err := os.Stat(strings.TrimPrefix(f, "thumb=")); err == nil {
				names = append(names, f)
			}
		}
	}
	if len(names) == 0 {
		t.Skip("no Arm binary to compare: PTDECODE_A32_FILES is not set, and packages libc6-armel-cross and libc6-armhf-cross are not there")
	}
	for _, name := range names {
		f := file{name, isa.ModeA32, []string{"-d"}}
		if name, ok := strings.CutPrefix(name, "thumb="); ok {
			f = file{name, isa.ModeT32, []string{"-d", "-M", "force-thumb"}}
		}
		all = append(all, f)
	}
	return all
}

// TestObjdumpFiles would catch a wrong length, class or target of any
// instruction that compilers and assembler programmers use.
func TestObjdumpFiles(t *testing.T) {
	var all tally
	for _, f := range files(t) {
		isatest.CheckFile(t, f.name, &all.seen, func() {
			objdump(t, f.mode, func(d dumped) { all.compare(t, d) }, append(f.args, f.name)...)
		})
	}
	all.report(t)
}
