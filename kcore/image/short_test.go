package image

import (
	"debug/elf"
	"encoding/binary"
	"errors"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/badfile"
)

// TestShortImage would catch a copy cut short that is refused although it has
// text, or taken without a word, and whole files told of as cut.
func TestShortImage(t *testing.T) {
	data := buildELF(elf.ET_CORE, []prog{
		{vaddr: 0x1000, data: []byte("abcd")}, {vaddr: 0x2000, data: []byte("efgh")}, {vaddr: 0x3000, data: []byte("ijkl")},
	}, nil)
	at := func(i int) int { return int(binary.LittleEndian.Uint64(data[64+56*i+8:])) }
	for _, tt := range []struct {
		what  string
		size  int
		a, b  string // what is known at 0x1000 and at 0x2000
		short string
	}{
		{"whole", len(data), "abcd", "efgh", ""},
		{"in the second", at(1) + 2, "abcd", "ef", "f+0x78: program header 1: offset 0xec and 0x4 bytes, the file has 0xee: 2 of 3 segments are cut short"},
		{"before the second", at(1), "abcd", "", "f+0x78: program header 1: offset 0xec and 0x4 bytes, the file has 0xec: 2 of 3 segments are cut short"},
		{"before the last", at(2) - 1, "abcd", "efg", "f+0x78: program header 1: offset 0xec and 0x4 bytes, the file has 0xef: 2 of 3 segments are cut short"},
	} {
		m, err := imageOf(data[:tt.size], "f", Options{})
		if err != nil {
			t.Errorf("%s: %v", tt.what, err)
			continue
		}
		short := ""
		if err := m.Short(); err != nil {
			short = err.Error()
		}
		if a, b := got(m, 0x1000, 9), got(m, 0x2000, 9); a != tt.a || b != tt.b || short != tt.short {
			t.Errorf("%s: %q, %q, %q, want %q, %q, %q", tt.what, a, b, short, tt.a, tt.b, tt.short)
		}
	}
	_, err := imageOf(data[:at(0)], "f", Options{})
	if fe := (*badfile.Error)(nil); !errors.As(err, &fe) || fe.Off != 64 {
		t.Errorf("nothing left: %v", err)
	}
}
