package a64

import (
	"regexp"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/internal/isatest"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// spelling takes away what disassemblers spell differently: spaces, number signs,
// 0x before numbers, and a dash or a comma between two registers of a list.
var spelling = strings.NewReplacer(" ", "", "#", "", "0x", "", "-", ",")

// alias matches pairs of names for one instruction, and register lists that go
// round from v31 to v0; number a system register
// by number, which objdump has a name for.
var (
	alias  = regexp.MustCompile(`^(bfm.* bfc|orr.* mov|mov.* orr|tcancel.* tcancel|bti bti$|prfu?m.* r?prfu?m|.*\{v(29|30|31)\.)`)
	number = regexp.MustCompile(`^(mrs|msr) .*s[0-3]_[0-7]_c`)
	hinted = regexp.MustCompile(`^(dgh|gcsb|pacm|chkfeat|clrbhb|hint)`) // binutils 2.40 has a number or another name for these, 2.47 a name for more
)

// formatted counts what a comparison of text with objdump found.
type formatted struct {
	seen, data, newer int
	bad               isatest.Wrong
}

// compare checks the text for one line of objdump.
func (y *formatted) compare(t testing.TB, d dumped) {
	t.Helper()
	y.seen++
	got := (Decoder{}).Format(word(d.w), d.addr, isa.ModeA64, nil)
	name, _, _ := strings.Cut(got, " ")
	other, _, _ := strings.Cut(d.asm, " ")
	switch {
	case name == ".inst":
		y.data++
	case other == ".inst" && (newer.MatchString(name) || strings.HasPrefix(name, "t") || strings.HasPrefix(name, "ld")):
		y.newer++ // FEAT_TME; LDAR with bits set that should not be; LDPSW to one register twice
	case spelling.Replace(got) == spelling.Replace(d.asm), alias.MatchString(got + " " + other), number.MatchString(got),
		hinted.MatchString(got):
	default:
		y.bad.Add(t, "%x: %08x: %q, objdump %q", d.addr, d.w, got, d.asm)
	}
}

// TestFormat would catch a symbol or an address that is not the one meant, words
// that are no instruction printed as one, and text read beyond its end.
func TestFormat(t *testing.T) {
	check := isatest.Printer((Decoder{}).Format).Checker(t)
	check(word(0x94000400), isa.ModeA64, "bl 0x2000 <f>")
	check(word(0x54008040), isa.ModeA64, "b.eq 0x2008 <f+0x8>")
	check(word(0x17ffffff), isa.ModeA64, "b 0xffc")
	check(word(0x36008044), isa.ModeA64, "tbz w4, #0, 0x2008 <f+0x8>")
	check(word(0xb0000000), isa.ModeA64, "adrp x0, 0x2000 <f>")
	check(word(0x10008060), isa.ModeA64, "adr x0, 0x200c <f+0xc>")
	check(word(0x18008021), isa.ModeA64, "ldr w1, 0x2004 <f+0x4>")
	check(word(0x550004ff), isa.ModeA64, "retaasppc 0xf64")
	check(word(0xd65f03c0), isa.ModeA64, "ret")
	check(word(0xd503201f), isa.ModeA64, "nop")
	check(word(0x1a8ff000), isa.ModeA64, "csel w0, w0, w15, nv") // arm64asm: al
	check(word(0x1e602008), isa.ModeA64, "fcmp d0, #0.0")        // arm64asm: #0
	check(word(0x12003c00), isa.ModeA64, "and w0, w0, #0xffff")
	check(word(0x1200f000), isa.ModeA64, "and w0, w0, #0x55555555")
	check(word(0x1200f400), isa.ModeA64, ".inst 0x1200f400") // two ones in two bits
	check(word(0x12007c00), isa.ModeA64, ".inst 0x12007c00") // 32 ones
	check(word(0x0b377190), isa.ModeA64, "add w16, w12, w23, uxtx #4")
	check(word(0x0b377590), isa.ModeA64, ".inst 0x0b377590") // a shift by 5
	check(word(0xd4000000), isa.ModeA64, ".inst 0xd4000000")
	check(word(0xd65f03c0), isa.ModeA32, ".inst 0xd65f03c0")
	check(word(0xd65f03c0)[:3], isa.ModeA64, ".byte 0xc0,0x03,0x5f")
	check(nil, isa.ModeA64, ".byte")
	// ADRP counts pages, not bytes from its own address.
	if got, want := (Decoder{}).Format(word(0xb0000000), 0x1ffc, isa.ModeA64, isatest.Symbol), "adrp x0, 0x2000 <f>"; got != want {
		t.Errorf("adrp at the end of a page: %q, want %q", got, want)
	}
}

// TestFormatObjdumpFiles would catch an instruction printed as something else:
// objdump must print the same of all instructions of a binary, but for spelling.
func TestFormatObjdumpFiles(t *testing.T) {
	testsize.OnlyFull(t)
	for _, f := range linked(t) {
		var y formatted
		isatest.CheckFile(t, f, &y.seen, func() { objdump(t, func(d dumped) { y.compare(t, d) }, "-d", f) })
		t.Logf("%d printed as .inst, objdump does not know %d, %d wrong", y.data, y.newer, y.bad)
	}
}

// TestFormatObjdumpForms is TestFormatObjdumpFiles for every form with its
// free bits at random, every hint, all the system registers that have names, and
// words at random.
func TestFormatObjdumpForms(t *testing.T) {
	var words []uint32
	x := isatest.Random(3)
	for _, f := range forms {
		for range 64 {
			words = append(words, f.value|x.Next()&^f.mask)
		}
	}
	for i := range uint32(128) {
		words = append(words, 0xd503201f|i<<5)
	}
	named := 0
	for i := range uint32(1 << 15) {
		if w := 0xd5300000 | i<<5; !number.MatchString((Decoder{}).Format(word(w), 0, isa.ModeA64, nil)) {
			words = append(words, w)
			named++
		}
	}
	if named != len(registers) {
		t.Errorf("%d of the registers with names are printed by name, there are %d", named, len(registers))
	}
	for range 30_000 {
		words = append(words, x.Next())
	}
	var y formatted
	objdumpWords(t, words, at, func(d dumped) { y.compare(t, d) })
	t.Logf("%d words, %d printed as .inst, objdump does not know %d, %d wrong", y.seen, y.data, y.newer, y.bad)
}
