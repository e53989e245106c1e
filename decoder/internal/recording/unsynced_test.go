package recording

import (
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
)

// TestUnsynced would catch a stretch that is taken to begin with a sync point, and begins with
// a context packet (80) or in the middle of one. It would catch the opposite, too.
func TestUnsynced(t *testing.T) {
	const zeros = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	for _, x := range []struct {
		protocol coresight.Protocol
		data     string
		want     bool
	}{
		{coresight.ETE, zeros + "\x80\x01", false},
		{coresight.ETE, "\x70\x70" + zeros + "\x80", false},
		{coresight.ETE, "\x70\x70\x70", false},
		{coresight.ETE, "\x80\xf7", true},
		{coresight.ETE, zeros[1:] + "\x80", true},
		{coresight.ETE, zeros, true},
		{coresight.ETMv4, "\xf7" + zeros + "\x80", true},
		{coresight.PTM, zeros[:5] + "\x80\x08", false},
		{coresight.PTM, "\x66" + zeros[:6] + "\x80\x08", false},
		{coresight.ETMv3, zeros[:4] + "\x80", true},
		{coresight.ETMv3, "", false},
	} {
		if got := unsynced(x.protocol, []byte(x.data)); got != x.want {
			t.Errorf("%v %x: %t", x.protocol, x.data, got)
		}
	}
}
