package decoder

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/kcore"
)

// armWindows are the recordings of kernel-pokes-arm64 that cases are made of, and the
// variant of each.
func armWindows() []string {
	return []string{"a57-jump/coarse-rs", "a57-kprobe/fine", "max-jump/fine"}
}

// windowText returns the code of a recording of kernel-pokes-arm64 and where its
// snapshot says that it lies. The snapshot's own text.bin is a link that not every
// copy of the recordings keeps.
func windowText(t testing.TB, dir string) CodeFile {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "cpu_0.ini"))
	if err != nil {
		t.Fatal(err)
	}
	_, b, _ = bytes.Cut(b, []byte("file=text.bin\naddress="))
	b, _, _ = bytes.Cut(b, []byte("\n"))
	addr, err := strconv.ParseUint(string(b), 0, 64)
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	core, _, _ := strings.Cut(filepath.Base(filepath.Dir(dir)), "-")
	return CodeFile{Path: filepath.Join(dir, "..", "..", "text", core+".bin"), Addr: addr}
}

// readWindow reads a recording of kernel-pokes-arm64.
func readWindow(t testing.TB, name string) *original {
	t.Helper()
	dir := filepath.Join(dataDir(t), "kernel-pokes-arm64", name)
	o := &original{name: name, config: Config{Recording: dir, Events: filepath.Join(dir, "..", "journal.jsonl"), AllBuffers: true, Code: []CodeFile{windowText(t, dir)}}}
	o.read(t, func(st *Stream) string {
		return filepath.Join(dir, "..", fmt.Sprintf("truth.cpu%d.ips.zst", st.Index))
	})
	seen := map[uint64]bool{}
	var b [4]byte
	for _, x := range o.ran {
		for _, ip := range x.ips {
			if seen[ip] {
				continue
			}
			seen[ip] = true
			if o.image.ReadAt(b[:], ip) == len(b) && bytes.Equal(b[:], nopA64) && o.known(ip) {
				o.sites = append(o.sites, site{kind: anyInsn, addr: ip, ran: true})
			}
		}
	}
	slices.SortFunc(o.sites, func(a, b site) int { return cmp.Compare(a.addr, b.addr) })
	return o
}

// nopA64 is NOP. Static keys, alternatives and the entries of functions become it.
var nopA64 = []byte{0x1f, 0x20, 0x03, 0xd5}

// builtLie sets NOPs that ran back to what a kernel may have had there when it was
// built: a jump ahead over a few instructions. It is one NOP, or one in ten.
// alternative_has_cap_likely leaves such jumps
// (arch/arm64/include/asm/alternative-macros.h, v6.12).
func builtLie(o *original, r *rand.Rand) *lie {
	if len(o.sites) == 0 {
		return nil
	}
	is := map[int]bool{r.IntN(len(o.sites)): true}
	what := "1 of"
	if r.IntN(2) == 0 {
		for i := range o.sites {
			is[i] = r.IntN(10) == 0
		}
		what = "1 in 10 of"
	}
	var code []recording.Code
	for i, x := range o.sites {
		if !is[i] {
			continue
		}
		words := 2 + r.Uint32N(14)
		code = append(code, recording.Code{Addr: x.addr, Bytes: binary.LittleEndian.AppendUint32(nil, 5<<26|words)})
	}
	if len(code) == 0 {
		return nil
	}
	return &lie{
		what:   fmt.Sprintf("%s %d NOPs that ran, jumps: %x %x first", what, len(o.sites), code[0].Addr, code[0].Bytes),
		change: func(rec *recording.Recording) { rec.Code = append(rec.Code, code...) },
	}
}

// armKinds are the kinds of lies of which there are many cases on Arm.
func armKinds() []lieKind {
	return []lieKind{
		{"built", builtLie},
		{"dropped", func(o *original, r *rand.Rand) *lie { return dropLie(o, r, false) }},
		{"twice", twiceLie},
		{"new", func(o *original, r *rand.Rand) *lie { return bytesLie(o, r, true) }},
	}
}

// byTime puts pokes in the order in which a journal has them.
func byTime(pokes []kcore.Poke) {
	slices.SortStableFunc(pokes, func(a, b kcore.Poke) int { return cmp.Compare(a.Time, b.Time) })
}
