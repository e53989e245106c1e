package recording

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/stream"
)

// TestUnsynced would catch a stretch that is taken to begin with a sync point, and begins with
// a context packet (80) or in the middle of one. It would catch the opposite, too.
func TestUnsynced(t *testing.T) {
	const zeros = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	for _, x := range []struct {
		protocol *stream.Protocol
		data     string
		want     bool
	}{
		{stream.ETE, zeros + "\x80\x01", false},
		{stream.ETE, "\x70\x70" + zeros + "\x80", false},
		{stream.ETE, "\x70\x70\x70", false},
		{stream.ETE, "\x80\xf7", true},
		{stream.ETE, zeros[1:] + "\x80", true},
		{stream.ETE, zeros, true},
		{stream.ETMv4, "\xf7" + zeros + "\x80", true},
		{stream.PTM, zeros[:5] + "\x80\x08", false},
		{stream.PTM, "\x66" + zeros[:6] + "\x80\x08", false},
		{stream.ETMv3, zeros[:4] + "\x80", true},
		{stream.ETMv3, "", false},
	} {
		if got := unsynced(x.protocol, []byte(x.data)); got != x.want {
			t.Errorf("%s %x: %t", x.protocol.Name, x.data, got)
		}
	}
}
