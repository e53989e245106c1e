package decoder

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// TestShortKcore would catch a kcore cut short that is refused, or of which
// nobody is told. It would also catch one that is said to be of another boot, as the poked
// site is in what is missing.
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
	events := func(addr string) string {
		name := filepath.Join(t.TempDir(), "events")
		line := `{"type":"text_poke","time":5,"cpu":0,"addr":"` + addr + `","old":"0000000000","new":"0f1f440000"}`
		if err := os.WriteFile(name, []byte(`{"type":"stream","version":1}`+"\n"+line+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
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
		for addr, foreign := range map[string]bool{"ffffffffc0000800": false, "ffffffffa0000000": cut == 0} {
			s, err = Open(Config{Kcore: path, Events: events(addr)})
			if err != nil {
				t.Fatal(err)
			}
			told := slices.ContainsFunc(s.Warnings(), func(w Warning) bool { return strings.Contains(w.What, "another boot") })
			if told != foreign || s.Foreign() != "" != foreign {
				t.Errorf("%d bytes short, a change at %s: %q, %v", cut, addr, s.Foreign(), s.Warnings())
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}
