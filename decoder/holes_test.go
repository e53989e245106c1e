package decoder

import (
	"testing"

	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// TestHoles would catch zeros of a kcore, which it gives for what is not mapped, that
// are taken for instructions. It would also catch zeros inside an instruction, or in
// code that is no kcore's, that are unknown.
func TestHoles(t *testing.T) {
	img := &image.Image{}
	b := make([]byte, 32)
	b[20] = 0xc3
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
	}{{0, 15, true, 0}, {12, 15, true, 0}, {13, 15, true, 15}, {0, 7, true, 7}, {0, 15, false, 15}} {
		n, _ := textView{Text: tx, holes: c.kcore}.Fetch(make([]byte, c.n), 0, 0xffffffffc0000000+c.off, 0)
		if n != c.want {
			t.Errorf("%d bytes at %d, kcore: %v: %d are known, want %d", c.n, c.off, c.kcore, n, c.want)
		}
	}
}
