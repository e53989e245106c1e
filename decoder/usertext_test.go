package decoder

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// TestGivenUserText would catch code that the call gives for a program's address and
// that is not used where the program's file is missing. It would also catch such code
// that is used in the place of a file that is there.
func TestGivenUserText(t *testing.T) {
	dir, events, write := twoPrograms(t)
	if err := os.Remove(filepath.Join(dir, "root/bin/two")); err != nil {
		t.Fatal(err)
	}
	trace := must(t, nil, "psb\ntsc 0xc8\nmode.exec l\npsbend\ntip.pge 6: 0x401000\ntnt n\ntip.pgd\n"+
		"psb\ntsc 0x2bc\nmode.exec l\npsbend\ntip.pge 6: 0x401000\ntnt n\ntip.pgd\npsb\ntsc 0x384\npsbend\n")
	s := opened(t, Config{
		Raw:    []RawTrace{{Protocol: stream.IntelPT, CPU: 0, Path: write("cpu0.pt", string(trace))}},
		Code:   []CodeFile{{Path: write("text.bin", "\x66\x90\x74\x02\x66\x90\x0f\x05"), Addr: 0x401000}}, // two's
		Events: events, SymFS: filepath.Join(dir, "root"),
	})
	var out []string
	for _, x := range flowed(t, s, steps{})[0] {
		if x.gap != nil {
			t.Error(x.gap)
			continue
		}
		out = append(out, fmt.Sprintf("%x", x.ip-0x401000))
	}
	if g, want := strings.Join(out, " "), "0 1 3 4 0 2 4 6"; g != want {
		t.Errorf("got %s, want %s", g, want)
	}
}
