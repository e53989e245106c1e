package a32

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/isatest"
)

// spelling takes away what disassemblers spell differently: spaces, number signs,
// brackets of coprocessor operands, .n and .w, an offset of 0, MOV for a shift.
var spelling = strings.NewReplacer(" ", "", "#", "", "cr", "c", "p15", "15", "p14", "14", "{", "", "}", "", ".n", "", ".w", "")

var (
	number  = regexp.MustCompile(`0x[0-9a-f]+`)
	label   = regexp.MustCompile(`^(?:b|cb|le|wls).* ([0-9a-f]+)$`) // objdump's label of a linked file
	literal = regexp.MustCompile(`\[pc(?:, #(-?[0-9]+))?\]$`)
	sp      = regexp.MustCompile(`^(ldm|ldmia.w|stmdb) sp!,`)
	stm     = regexp.MustCompile(`^(stm|ldm)ia(.w)?`)
	nops    = regexp.MustCompile(`^mov(.*) r0, r0$|^nop(.*) \{0\}$`)
	shift   = regexp.MustCompile(`^(lsl|lsr|asr|ror|rrx)(s?)(..)? pc, ([a-z0-9]+)(?:, (.*))?$`)
)

// plain is s, a text for d, without what may be spelt differently.
func (d dumped) plain(s string) string {
	if g := label.FindStringSubmatchIndex(s); g != nil {
		if s[g[2]:] != "r" {
			s = s[:g[2]] + "0x" + s[g[2]:]
		}
	}
	if g := literal.FindStringSubmatch(s); g != nil {
		pc := d.addr + 8
		if d.s.mode == isa.ModeT32 {
			pc = d.addr&^3 + 4
		}
		n, _ := strconv.ParseInt(g[1], 10, 32)
		s = literal.ReplaceAllString(s, fmt.Sprint(uint32(pc)+uint32(n)))
	}
	if g := sp.FindStringSubmatch(s); g != nil {
		s = map[string]string{"ldm": "pop", "ldmia.w": "pop", "stmdb": "push"}[g[1]] + s[len(g[0]):]
	}
	s = stm.ReplaceAllString(s, "$1")
	s = strings.Replace(s, ", #0]", "]", 1)
	s = nops.ReplaceAllString(s, "nop$1$2")
	s = shift.ReplaceAllString(s, "mov$2$3 pc, $4, $1 $5")
	if rest, ok := strings.CutSuffix(s, " {pc}"); ok && strings.HasPrefix(rest, "pop") && d.s.size == 4 {
		s = "ldr" + rest[3:] + " pc, [sp], #4"
	}
	s = number.ReplaceAllStringFunc(s, func(h string) string {
		n, _ := strconv.ParseUint(h, 0, 32)
		return strconv.FormatUint(n, 10)
	})
	return spelling.Replace(strings.ToLower(s))
}

// strange matches what objdump prints in a way of its own: immediates that are
// rotated without need, an offset of -0, and IT with condition 15. So it does SSAT
// and USAT with a shift right by 32, BFCSEL of its own address (VCTP), LDR of a
// literal as LDRT, and words that are no instruction.
var strange = regexp.MustCompile(`, #[0-9]+, [0-9]+$|, #-0(?:\]!?)?$|<und>|^[us]sat.* asr #0$|^bfcsel 0, |^ldr[sbh]*t [a-z0-9]+, \[pc|^$`)

// formatted counts what a comparison of text with objdump found.
type formatted struct {
	tally
	data, other int
}

// compare checks the text for one line of objdump.
func (y *formatted) compare(t testing.TB, d dumped) {
	t.Helper()
	y.seen++
	got := (Decoder{}).Format(d.s.bytes(d.w), d.addr, d.s.mode, nil)
	var in isa.Insn
	s := Decoder{}.Decode(&in, d.s.bytes(d.w), d.addr, d.s.mode)
	switch {
	case y.inBlock(d), meant(d, s, in) != "":
		y.other++
	case strings.HasPrefix(got, ".inst"):
		y.data++
	case d.plain(got) == d.plain(d.asm):
	case strange.MatchString(d.asm), strings.HasSuffix(got, "!") && got[:len(got)-1] == d.asm, d.s.mode == isa.ModeA32 && d.w&0x0f90_0080 == 0x0100_0000 && strings.Contains("tc", d.asm[:1]):
		y.other++ // writes back to PC; a comparison that sets no flags
	default:
		y.bad.Add(t, "%x: %08x: %q, objdump %q", d.addr, d.w, got, d.asm)
	}
}

// TestFormat would catch a symbol or an address that is not the one meant, words
// that are no instruction printed as one, and text read beyond its end.
func TestFormat(t *testing.T) {
	check := isatest.Printer((Decoder{}).Format).Checker(t)
	check(sets[0].bytes(0xeb0003fe), isa.ModeA32, "bl 0x2000 <f>")
	check(sets[0].bytes(0x0a000400), isa.ModeA32, "beq 0x2008 <f+0x8>")
	check(sets[0].bytes(0xeafffffe), isa.ModeA32, "b 0x1000")
	check(sets[0].bytes(0xe59ffffc), isa.ModeA32, "ldr pc, 0x2004 <f+0x4>")
	check(sets[0].bytes(0xe51f1004), isa.ModeA32, "ldr r1, 0x1004")
	check(sets[0].bytes(0xe59f1ffc), isa.ModeA32, "ldr r1, 0x2004 <f+0x4>")
	check(sets[0].bytes(0xe12fff1e), isa.ModeA32, "bx lr")
	check(sets[0].bytes(0xff000000), isa.ModeA32, ".inst 0xff000000")
	check(sets[0].bytes(0xe1200020), isa.ModeA32, "bxj r0")
	check(sets[0].bytes(0xe1000020), isa.ModeA32, ".inst 0xe1000020")
	check(sets[0].bytes(0xe12fff1e), isa.ModeA64, ".byte 0x1e,0xff,0x2f,0xe1")
	check(sets[0].bytes(0xe12fff1e)[:3], isa.ModeA32, ".byte 0x1e,0xff,0x2f")
	check(sets[1].bytes(0x4770), isa.ModeT32, "bx lr")
	check(sets[1].bytes(0xb700), isa.ModeT32, ".inst.n 0xb700")
	check(sets[1].bytes(0x4770)[:1], isa.ModeT32, ".byte 0x70")
	check(sets[2].bytes(0xf000fffe), isa.ModeT32, "bl 0x2000 <f>")
	check(sets[2].bytes(0xf000effe), isa.ModeT32, "blx 0x2000 <f>")
	check(sets[2].bytes(0xf850f040), isa.ModeT32, ".inst.w 0xf850f040")
	check(sets[2].bytes(0xf000fffe)[:2], isa.ModeT32, ".byte 0x00,0xf0")
	check(nil, isa.ModeT32, ".byte")
	// A literal is counted from a multiple of 4.
	if got, want := (Decoder{}).Format(sets[2].bytes(0xf8dfffe0), 0x1022, isa.ModeT32, isatest.Symbol), "ldr.w pc, 0x2004 <f+0x4>"; got != want {
		t.Errorf("literal: %q, want %q", got, want)
	}
}

// TestFormatObjdumpFiles would catch an instruction printed as something else:
// objdump must print the same of all instructions of a binary, but for spelling.
func TestFormatObjdumpFiles(t *testing.T) {
	for _, f := range files(t) {
		var y formatted
		isatest.CheckFile(t, f.name, &y.seen, func() {
			objdump(t, f.mode, func(d dumped) { y.compare(t, d) }, append(f.args, f.name)...)
		})
		t.Logf("%d printed as .inst, %d not compared, %d wrong", y.data, y.other, y.bad)
	}
}

// TestFormatObjdumpForms is TestFormatObjdumpFiles for every form with its free
// bits at random and each bit flipped, all halfwords, and A32 words at random.
func TestFormatObjdumpForms(t *testing.T) {
	for i := range sets {
		s := &sets[i]
		var words []uint32
		x := isatest.Random(3)
		switch {
		case s.size == 2:
			for w := range uint32(0xe800) {
				words = append(words, w)
			}
		case s.mode == isa.ModeA32:
			for range 30_000 {
				words = append(words, x.Next())
			}
			fallthrough
		default:
			s.spread(4, func(w uint32) { words = append(words, w) })
			plain := plainA32
			if s.mode == isa.ModeT32 {
				plain = plainT32
			}
			(&set{forms: plain, size: 4, mode: s.mode}).spread(8, func(w uint32) { words = append(words, w) })
		}
		var y formatted
		objdumpWords(t, s, words, at, func(d dumped) { y.compare(t, d) })
		t.Logf("%s: %d instructions, %d printed as .inst, %d not compared, %d wrong", s.name, y.seen, y.data, y.other, y.bad)
	}
}
