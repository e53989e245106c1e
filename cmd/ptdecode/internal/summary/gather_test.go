package summary

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
)

// TestSegmentsBounded would catch an info that goes through all of a large stream, or that
// counts a part of it and does not say so.
func TestSegmentsBounded(t *testing.T) {
	psb := append(bytes.Repeat([]byte{0x02, 0x82}, 8), 0x02, 0x23)
	path := filepath.Join(t.TempDir(), "big.pt")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, off := range []int64{0, 4096, maxCounted, 3 * maxCounted} {
		if _, err := f.WriteAt(psb, off); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	s, err := decoder.Open(decoder.Config{Raw: []decoder.RawTrace{{Protocol: decoder.IntelPT, Path: path}}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var out bytes.Buffer
	Gather(s).Print(&out)
	if !strings.Contains(out.String(), "segments: 2 in the first 64 MiB") {
		t.Errorf("no bounded count of segments:\n%s", &out)
	}
}
