package x86

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// slot is the room each made-up instruction gets, bytes: two of the longest.
const slot = 32

// formPrefixes are put before every opcode by TestObjdumpForms.
var formPrefixes = [][]byte{
	{}, {0x66}, {0x67}, {0xf2}, {0xf3}, {0x2e}, {0x66, 0xf2}, {0x66, 0xf3}, {0x66, 0x67}, {0x48}, {0x41}, {0x4f}, {0x66, 0x48}, {0xf3, 0x48}, {0xf0},
}

// vectorPrefixes are VEX, EVEX and XOP payloads for TestObjdumpForms: every
// map, pp, L, W, and if full EVEX with L, b and z.
func vectorPrefixes(full bool) [][]byte {
	var all [][]byte
	for pp := byte(0); pp < 4; pp++ {
		for _, l := range []byte{0, 4} {
			all = append(all, []byte{0xc5, 0xf8 | l | pp})
			for _, w := range []byte{0, 0x80} {
				for space := byte(1); space < 4; space++ {
					all = append(all, []byte{0xc4, 0xe0 | space, 0x78 | w | l | pp})
				}
				all = append(all, []byte{0x8f, 0xe8, 0x78 | w | l | pp}, []byte{0x8f, 0xe9, 0x78 | w | l | pp}, []byte{0x8f, 0xea, 0x78 | w | l | pp})
			}
		}
		for _, w := range []byte{0, 0x80} {
			for space := byte(1); space < 7; space++ {
				zs := []byte{0x08, 0x48, 0x18, 0xc9}
				if !full {
					zs = zs[:1]
				}
				for _, z := range zs {
					if space != 4 {
						all = append(all, []byte{0x62, 0xf0 | space, 0x7c | w | pp, z})
					}
				}
			}
		}
	}
	return all
}

// forms gives every case of TestObjdumpForms to f: prefixes, opcode, ModRM,
// and bytes to be SIB, displacement and immediate.
func forms(m isa.Mode, full bool, f func([]byte)) {
	var b [slot]byte
	emit := func(parts ...[]byte) {
		n := 0
		for _, p := range parts {
			n += copy(b[n:], p)
		}
		n += copy(b[n:], []byte{0x25, 0x12, 0x34, 0x56})
		for ; n < slot; n++ { // NOPs of 8 bytes, wherever one begins
			b[n] = 0x66
			if n%8 == 7 {
				b[n] = 0x90
			}
		}
		f(b[:])
	}
	sweep := func(step int, parts ...[]byte) {
		for op := 0; op < 256; op++ {
			for rm := 0; rm < 256; rm += step {
				emit(append(append([][]byte{}, parts...), []byte{byte(op), byte(rm)})...)
			}
		}
	}
	coarse, fine := 7, 1
	if !full {
		coarse, fine = 67, 37
	}
	for i, p := range formPrefixes {
		if m != isa.Mode64 && len(p) > 0 && p[len(p)-1]&0xf0 == 0x40 {
			continue
		}
		step := coarse
		if i == 0 || i == 1 || i == 3 || i == 4 {
			step = fine
		}
		sweep(step, p)
		sweep(step, p, []byte{0x0f})
		sweep(coarse*3, p, []byte{0x0f, 0x38})
		sweep(coarse*3, p, []byte{0x0f, 0x3a})
	}
	for _, p := range vectorPrefixes(full) {
		sweep(coarse*3, p)
	}
}

// TestObjdumpForms would catch an opcode of any map that is missing, has the wrong
// operands, or is in the wrong class, whether compilers use it or not. It takes all
// opcodes of all maps with prefixes and ModRM bytes before and behind.
// PTDECODE_FULL=all takes all ModRM bytes. The small form takes one case of
// seventeen.
func TestObjdumpForms(t *testing.T) {
	full, step := testsize.Of(t, 0, 0, 1) > 0, testsize.Of(t, 17, 1)
	var all tally
	for m, arch := range map[isa.Mode]string{isa.Mode16: "i8086", isa.Mode32: "i386", isa.Mode64: "i386:x86-64"} {
		var text []byte
		n := 0
		forms(m, full, func(b []byte) {
			if n++; n%step == 0 {
				text = append(text, b...)
			}
		})
		name := filepath.Join(t.TempDir(), "forms")
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"-D", "-b", "binary", "-m", arch}
		if m == isa.Mode64 {
			args = append(args, "-M", "intel64")
		}
		slots := 0
		objdump(t, func(d dumped) {
			if d.Addr%slot == 0 {
				slots++
				all.compare(t, d, m)
			}
		}, append(args, name)...)
		if slots != len(text)/slot {
			t.Errorf("%v: %d of %d cases seen in objdump's output", m, slots, len(text)/slot)
		}
	}
	all.report(t)
}
