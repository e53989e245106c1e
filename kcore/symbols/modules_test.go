package symbols

import (
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// slowModule is parseModule as the words and numbers of the standard library read it.
func slowModule(line string) (m Module, ok bool) {
	f := strings.Fields(line)
	if len(f) < 6 {
		return m, false
	}
	size, noSize := strconv.ParseUint(f[1], 10, 64)
	addr, noAddr := strconv.ParseUint(strings.TrimPrefix(f[5], "0x"), 16, 64)
	return Module{f[0], size, addr}, noSize == nil && noAddr == nil && addr+size >= addr
}

// sameModule compares both ways to read a line.
func sameModule(t *testing.T, line string) {
	t.Helper()
	got, bad := parseModule([]byte(line))
	want, ok := slowModule(line)
	if ok != (bad == "") || ok && got != want {
		t.Errorf("%q: %v %s, want %v %v", line, got, bad, want, ok)
	}
}

// TestModuleTwin would catch a number that is read as another or past its end, and words
// that are parted elsewhere.
func TestModuleTwin(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 7))
	words := strings.Fields("ext4 16384 1 0 - Live 0xffffffffc0000000 ffffffffffffffff 0x 0xg 18446744073709551615 18446744073709551616 " +
		"10000000000000000 0x10000000000000000 00000000000000000001 +1 -1 1_0 0X1 é \u00a0 0xfFfF 184467440737095516150")
	gaps := []string{" ", " ", " ", "\t", "  ", "\v", "\u0085", "\u2003", ","}
	for range 20_000 {
		var b strings.Builder
		for range 4 + rnd.IntN(4) {
			b.WriteString(words[rnd.IntN(len(words))] + gaps[rnd.IntN(len(gaps))])
		}
		sameModule(t, b.String())
	}
}

// FuzzModule would catch what TestModuleTwin would, in lines of any kind.
func FuzzModule(f *testing.F) {
	f.Add("ext4 16384 1 - Live 0xffffffffc0000000 (E)")
	f.Add("a 1 2 3 4 fffffffffffffffff")
	f.Fuzz(sameModule)
}
