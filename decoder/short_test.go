package decoder

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// TestShortKcore would catch a kcore cut short that is refused, or of which
// nobody is told.
func TestShortKcore(t *testing.T) {
	img := &image.Image{}
	for _, addr := range []uint64{0xffffffff81000000, 0xffffffffc0000000} {
		if err := img.AddBytes(addr, make([]byte, 4096)); err != nil {
			t.Fatal(err)
		}
	}
	j, err := kcore.NewJournal(nil)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := kcore.WriteKcore(&b, kcore.NewText(j, img, kcore.TextOptions{}), 0, isa.Mode64); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "kcore")
	for _, cut := range []int{0, 100, 5000} {
		if err := os.WriteFile(path, b.Bytes()[:b.Len()-cut], 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Open(Config{Kcore: path})
		if err != nil {
			t.Fatalf("%d bytes short: %v", cut, err)
		}
		told := false
		for _, w := range s.Warnings() {
			told = told || w.Damage && w.Hint != "" && strings.Contains(w.What, path+"+0x") && strings.Contains(w.What, "of 2 segments are cut short")
		}
		if told != (cut > 0) {
			t.Errorf("%d bytes short: %v", cut, s.Warnings())
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}
