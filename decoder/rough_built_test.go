package decoder

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// builtA64 is code as it was built that stands in for a recording's. The kernel of the
// max-* windows has another boot too, on a Cortex-A57, which has hardly any of the features that boot
// rewrites code for. So what that boot left is nearly what was built. Words that differ
// are pointers, or what boot rewrote.
func builtA64(t testing.TB, o *original) (code []recording.Code) {
	t.Helper()
	at := o.config.Code[0]
	ran, err := os.ReadFile(at.Path)
	if err != nil {
		t.Fatal(err)
	}
	built, err := os.ReadFile(filepath.Join(filepath.Dir(at.Path), "a57.bin"))
	if err != nil {
		t.Fatal(err)
	}
	const upper = 0xffff8000 // upper half of the pointers of the boot without KASLR
	word := func(i int) uint32 {
		if i+4 > len(built) {
			return 0
		}
		return binary.LittleEndian.Uint32(built[i:])
	}
	for i := 0; i+4 <= min(len(ran), len(built)); i += 4 {
		if string(ran[i:i+4]) != string(built[i:i+4]) && word(i) != upper && word(i+4) != upper {
			code = append(code, recording.Code{Addr: at.Addr + uint64(i), Bytes: built[i : i+4]})
		}
	}
	return code
}

// TestRoughBuilt would catch claims that never ran where the code is as it was built. Boot
// rewrote hundreds of the sites that ran, and other code than theirs passes by chance. It would
// also catch doubt that goes on where the code is right again: max-ftrace is so for most of
// its time.
func TestRoughBuilt(t *testing.T) {
	for _, c := range []struct {
		name  string
		least float64 // share of what ran that is claimed, in 100
	}{{"max-jump/fine", 3}, {"max-ftrace/fine", 96}}[:testsize.Of(t, 1, 1, 2)] {
		o := readWindow(t, c.name)
		o.config.Kallsyms = filepath.Join(dataDir(t), "kernel-pokes-arm64", "text", "max.kallsyms")
		code := builtA64(t, o)
		s := o.reopened(t, o.config, func(rec *recording.Recording) { rec.Code = append(rec.Code, code...) })
		got := flowed(t, s, prints{})
		n := o.claims(got)
		share := 100 * float64(n.claims-n.wrong) / float64(n.executed)
		t.Logf("%s: %d words differ; %+v, %.2f %% claimed", c.name, len(code), n, share)
		if len(code) == 0 || n.wrong > 0 || n.seams > 0 || share < c.least {
			t.Errorf("%s: %d claims never ran, %d are not side by side; %.2f %% are claimed, want %v", c.name, n.wrong, n.seams, share, c.least)
		}
	}
}
