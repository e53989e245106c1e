package stream

import (
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
)

// TestGoesOn would catch a trace unit that is taken to go on though it says that it was switched
// on. It would catch the opposite, too.
func TestGoesOn(t *testing.T) {
	const (
		async4  = "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x80\x01\x01\x00"         // and a Trace Info
		address = "\x85\x00\x00\x00\x00\x80\x00\x00\x00\x00\x80\xff\xff\x01\x00\x00\x80" // with a context in front
		async3  = "\x00\x00\x00\x00\x00\x80"
	)
	for _, x := range []struct {
		what     string
		protocol *Protocol
		data     string
		want     bool
	}{
		{"an atom", ETMv4, async4 + "\x9d\x00\x00\x00\x00\x00\x80\xff\xff" + "\xf7", true},
		{"an atom behind Ignore", ETE, "\x70\x70" + async4 + "\xf7", true},
		{"an exception", ETE, async4 + "\x06\x1c", true},
		{"Trace On", ETMv4, async4 + "\x04\xf7", false},
		{"Trace On behind Ignore", ETE, "\x70" + async4 + "\x70\x04\xf7", false},
		{"Overflow", ETMv4, async4 + "\x00\x05\xf7", false},
		{"nothing that ran", ETMv4, async4, false},
		{"no packet", ETMv4, async4 + "\x00\x01\xf7", false},
		{"periodic", PTM, async3 + "\x08\x00\x00\x00\x80\x01\x84", true},
		{"on", PTM, async3 + "\x08\x00\x00\x00\x80\x21\x84", false},
		{"no I-sync", PTM, async3 + "\x66\x66", false},
		{"periodic", ETMv3, async3 + "\x08\x01\x00\x00\x00\x80\x84", true},
		{"on", ETMv3, async3 + "\x08\x21\x00\x00\x00\x80\x84", false},
	} {
		st := &Stream{Protocol: x.protocol, Unit: coresight.Config{Protocol: x.protocol.Unit, Arch: coresight.Arch{Major: 8, Profile: 'A'}}}
		if got := x.protocol.GoesOn(st, []byte(x.data)); got != x.want {
			t.Errorf("%v, %s: %t", x.protocol, x.what, got)
		}
	}
}
