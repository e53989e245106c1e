package decoder

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// armLinked is where the made-up vmlinux of arm64 has _stext.
const armLinked = 0xffff800080010000

// builtArm returns the kernel of o in a form of before boot. Of the NOPs and short jumps ahead
// that ran, and of as many that did not, half are sites. They are static branches of 64 keys, and
// alternatives of 64 features; a function at nops makes NOPs of some. Half of the keys were
// toggled, and half of the features are there. A NOP was a jump, of a length at random, and a
// jump was a NOP.
func builtArm(t *testing.T, o *original, text []byte, at, nops uint64, r *rand.Rand) *builtKernel {
	t.Helper()
	k := &builtKernel{text: bytes.Clone(text), at: armLinked, tables: armLinked + 0x4000000, machine: elf.EM_AARCH64}
	le := binary.LittleEndian
	ran := 0
	for off := 0; off+4 < len(text); off += 4 {
		w := le.Uint32(text[off:])
		jump := w>>26 == 5 && w&(1<<26-1) < 16 && w&(1<<26-1) > 1
		if w != 0xd503201f && !jump {
			continue
		}
		addr, ip := armLinked+uint64(off), at+uint64(off)
		is := o.executed(ip)
		if is {
			ran++
		}
		if !is && r.IntN(200) > 0 || r.IntN(2) == 0 || !o.known(ip) {
			continue
		}
		n := uint64(r.IntN(64))
		is = n%2 == 1 // boot changed it
		to := 5<<26 | 2 + r.Uint32N(14)
		if jump {
			to = w
		}
		if is {
			k.changed++
			if !jump {
				le.PutUint32(k.text[off:], to)
			} else {
				le.PutUint32(k.text[off:], 0xd503201f)
			}
		}
		target := addr + uint64(to&(1<<26-1))*4
		switch jumps := jump != is; {
		case r.IntN(2) == 0:
			k.label(addr, target, 16*n)
		case jumps: // as alternative_has_cap_likely builds it
			k.alternative(addr, 4, uint16(n)|1<<15, nops-at+armLinked-k.tables-builtRepl, 0)
		default: // and alternative_has_cap_unlikely
			from := uint64(len(k.repl))
			k.repl = le.AppendUint32(k.repl, 5<<26|uint32(int64(target-k.tables-builtRepl-from)>>2)&(1<<26-1))
			k.alternative(addr, 4, uint16(n), from, 4)
		}
	}
	t.Logf("%d NOPs and jumps ran; %d static branches, %d alternatives, of which boot changed %d", ran, len(k.labels)/16, len(k.alts)/12, k.changed)
	return k
}

// withoutText copies a snapshot of kernel-pokes-arm64 and leaves out the dump of the
// kernel's code.
func withoutText(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if f.Name() == "text.bin" {
			continue
		}
		b, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if i := bytes.Index(b, []byte("[dump0]\nfile=text.bin\n")); i >= 0 {
			end := len(b)
			if n := bytes.Index(b[i+1:], []byte("\n[")); n >= 0 {
				end = i + 1 + n + 1
			}
			b = append(b[:i:i], b[end:]...)
		}
		if err := os.WriteFile(filepath.Join(to, f.Name()), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}

// TestVmlinuxArm would catch claims that never ran where an arm64 vmlinux stands in place
// of the code that ran. It would also catch doubt where tables and trace settle what boot
// made of it. The vmlinux is made of the code that ran. One has no symbols: the trace alone
// tells where it lay.
func TestVmlinuxArm(t *testing.T) {
	n := testsize.Of(t, 0, 1, 3) // each is decoded hundreds of times
	if n == 0 {
		t.Skip("full form only: PTDECODE_FULL is not set")
	}
	for i, name := range []string{"max-jump/fine", "a57-kprobe/fine", "a57-jump/coarse-rs"}[:n] {
		t.Run(name, func(t *testing.T) {
			o := readWindow(t, name)
			text, err := os.ReadFile(o.config.Code[0].Path)
			if err != nil {
				t.Fatal(err)
			}
			c := o.config
			core, _, _ := strings.Cut(name, "-")
			c.Kallsyms = filepath.Join(armRoot(t), "text", core+".kallsyms")
			syms, err := symbols.OpenKallsyms(c.Kallsyms)
			if err != nil {
				t.Fatal(err)
			}
			nops, _ := syms.Addr("alt_cb_patch_nops")
			k := builtArm(t, o, text, o.config.Code[0].Addr, nops, rand.New(rand.NewPCG(64, 0xb0017)))
			c.Recording, c.Code = withoutText(t, c.Recording), nil
			c.Kcore = filepath.Join(t.TempDir(), "vmlinux")
			if err := os.WriteFile(c.Kcore, k.file(), 0o600); err != nil {
				t.Fatal(err)
			}
			if i == 0 {
				c.Kallsyms = ""
			}
			s := opened(t, c)
			got, sum := prints{}, newSums()
			if err := s.Flow(t.Context(), Query{}, sinkFunc(func(b *Batch) error {
				return errors.Join(sum.Flow(b), got.Flow(b))
			})); err != nil {
				t.Fatal(err)
			}
			n := o.claims(got)
			t.Logf("%+v; %s", n, s.Warnings()[len(s.Warnings())-1].What)
			if want := fmt.Sprintf("moved by %#x, by", o.config.Code[0].Addr-armLinked); !strings.Contains(s.boot.Known(), want) {
				t.Errorf("%s, want %s", s.boot.Known(), want)
			}
			if 1000*n.ambiguous > n.executed || n.missing > 0 {
				t.Errorf("of %d instructions %d are ambiguous and %d missing, want at most 0.1 %% and none", n.executed, n.ambiguous, n.missing)
			}
			if n.wrong > 0 || n.seams > 0 {
				t.Errorf("%d claims never ran, %d are not side by side", n.wrong, n.seams)
			}
		})
	}
}
