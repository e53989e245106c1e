package bare

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
)

// TestCode would catch a file's name cut at its own @, and a bad address
// taken for part of the name. It would also catch bytes that lie at 0 for want of an address.
func TestCode(t *testing.T) {
	raw, packed := filepath.Join(t.TempDir(), "raw"), filepath.Join(t.TempDir(), "packed")
	if err := errors.Join(os.WriteFile(raw, []byte{0x90, 0xc3}, 0o600), os.WriteFile(packed, []byte{0x1f, 0x8b, 8, 0}, 0o600)); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		in   string
		want decoder.CodeFile
		bad  bool
	}{
		{in: "kcore", want: decoder.CodeFile{Path: "kcore"}},
		{in: "raw@ffffffffc0000000", want: decoder.CodeFile{Path: "raw", Addr: 0xffffffffc0000000}},
		{in: "raw@0x1000", want: decoder.CodeFile{Path: "raw", Addr: 0x1000}},
		{in: "a@b@10", want: decoder.CodeFile{Path: "a@b", Addr: 0x10}},
		{in: "me@example/kcore", want: decoder.CodeFile{Path: "me@example/kcore"}},
		{in: raw, bad: true}, {in: raw + "@0", want: decoder.CodeFile{Path: raw}}, {in: packed, want: decoder.CodeFile{Path: packed}},
		{in: "raw@", bad: true}, {in: "@10", bad: true}, {in: "", bad: true}, {in: "raw@11112222333344445", bad: true},
	} {
		a, err := Code(tt.in)
		if (err != nil) != tt.bad || err == nil && a != tt.want {
			t.Errorf("%q: %+v, %v; want %+v", tt.in, a, err, tt.want)
		}
	}
}
