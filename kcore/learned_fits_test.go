package kcore

import (
	"testing"

	"github.com/ptdecode/ptdecode/kcore/image"
)

// TestLearnedOver would catch a file that is taken though its sites have other code, or lie in no image. It would
// also catch one that is refused though its code lies there before, between or after changes.
func TestLearnedOver(t *testing.T) {
	const site = 0x1010
	img := new(image.Image)
	if err := img.AddBytes(0x1000, append([]byte("................AAAAA"), make([]byte, 16)...)); err != nil {
		t.Fatal(err)
	}
	j, err := NewJournal([]Poke{RecordedPoke(100, 0, site, []byte("AAAAA"), []byte("BBBBB")), RecordedPoke(200, 0, site, []byte("BBBBB"), []byte("CCCCC"))})
	if err != nil {
		t.Fatal(err)
	}
	text := NewText(j, img, TextOptions{})
	for _, x := range []struct {
		addr uint64
		had  string
		want bool
	}{
		{site, "AAAAA", true}, {site, "BBBBB", true}, {site, "CCCCC", true}, {site, "BBB", true}, {site - 1, ".A", true},
		{site, "DDDDD", false}, {site, "AAAAB", false}, {site + 1, "AAAAA", false}, {0x5000, "AAAAA", false},
		{0x1000 + 36, "\x00\x00", false},                                // one byte of it lies in the image
		{site, "", true}, {0x5000, "", false}, {0x1000 + 37, "", false}, // nothing is said of what lay there
	} {
		l := &Learned{Addr: x.addr, Code: []byte{0x90}}
		if x.had != "" {
			l.Had = []byte(x.had)
		}
		if got := text.LearnedOver(l); got != x.want {
			t.Errorf("%#x had %q: %v, want %v", x.addr, x.had, got, x.want)
		}
	}
}
