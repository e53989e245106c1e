package decoder

import (
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// coreOf is an ELF core with code at addr.
func coreOf(addr uint64, code []byte) []byte {
	return bin("\x7fELF\x02\x01\x01", make([]byte, 9), uint16(4), uint16(62), uint32(1), uint64(0), uint64(64), uint64(0), uint32(0), uint16(64), uint16(56), uint16(1), make([]byte, 6),
		uint32(1), uint32(5), uint64(120), addr, uint64(0), uint64(len(code)), uint64(len(code)), uint64(1), code)
}

// TestHolesAhead would catch zeros of a kcore that are taken for instructions where the flow runs into them
// without a branch. Other zeros of an image are instructions, and so are those inside of one.
func TestHolesAhead(t *testing.T) {
	const at = 0xffffffff81000000
	end := strings.Repeat("\xcc", 32)
	nops := "\x90\x48\xb8" + strings.Repeat("\x00", 8) + "\x90" // NOP, MOV of 0, NOP
	write := folder(t)
	trace := write("trace", string(must(t, nil, "psb\nmode.exec l\npsbend\ntip.pge 6: 0xffffffff81000000\ntip.pgd\n")))
	for _, c := range []struct {
		name, code  string
		kcore, text []uint64
	}{
		{"two ADDs, RET", nops + strings.Repeat("\x00", 4) + "\xc3" + end, []uint64{at, at + 1, at + 11}, []uint64{at, at + 1, at + 11, at + 12, at + 14, at + 16}},
		{"a CALL that the zeros cut off", nops + "\xe8\x7d" + strings.Repeat("\x00", 8) + end, []uint64{at, at + 1, at + 11}, []uint64{at, at + 1, at + 11, at + 12}},
		{"a CALL, zeros and a byte", nops + "\xe8\x7d" + strings.Repeat("\x00", 6) + end, []uint64{at, at + 1, at + 11, at + 12}, []uint64{at, at + 1, at + 11, at + 12}},
	} {
		for name, want := range map[string][]uint64{"kcore": c.kcore, "text": c.text} {
			cfg := Config{Raw: []RawTrace{{Protocol: stream.IntelPT, Path: trace}}}
			if name == "kcore" {
				cfg.Kcore = write("kcore", string(coreOf(at, []byte(c.code))))
			} else {
				cfg.Code = []CodeFile{{Path: write("text", c.code), Addr: at}}
			}
			if got := flowed(t, opened(t, cfg), prints{})[0]; got == nil || !slices.Equal(got.ips, want) {
				t.Errorf("%s, %s: %+v was printed, want %x", c.name, name, got, want)
			}
		}
	}
}

// TestHoles would catch zeros of a kcore, which it gives for what is not mapped, that
// are taken for instructions. It would also catch zeros inside an instruction, or in
// code that is no kcore's, that are unknown.
func TestHoles(t *testing.T) {
	img := &image.Image{}
	b := make([]byte, 32)
	b[20], b[24] = 0xc3, 0xc3
	if err := img.AddBytes(0xffffffffc0000000, b); err != nil {
		t.Fatal(err)
	}
	j, err := kcore.NewJournal(nil)
	if err != nil {
		t.Fatal(err)
	}
	tx := kcore.NewText(j, img, kcore.TextOptions{})
	for _, c := range []struct {
		off   uint64
		n     int
		kcore bool
		want  int
	}{{0, 15, true, 0}, {16, 15, true, 0}, {17, 15, true, 0}, {19, 13, true, 0}, {20, 12, true, 12}, {21, 11, true, 11}, {0, 3, true, 0}, {0, 15, false, 15}} {
		n, _ := textView{Text: tx, holes: c.kcore}.Fetch(make([]byte, c.n), 0, 0xffffffffc0000000+c.off, 0)
		if n != c.want {
			t.Errorf("%d bytes at %d, kcore: %v: %d are known, want %d", c.n, c.off, c.kcore, n, c.want)
		}
	}
}
