package tracetest

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext/packettest"
)

// FindSync fails the test where find, which searches buf from an index on, finds
// another A-sync of PTM or ETMv3 than the first: five zeros and 80.
func FindSync(t *testing.T, find func(buf []byte, from int) (off int, ok bool)) {
	const async = "\x00\x00\x00\x00\x00\x80"
	packettest.FindSync(t, find, []struct {
		Name, Buf  string
		From, Want int
	}{
		{"empty", "", 0, -1},
		{"alone", async, 0, 0},
		{"cut", async[:5], 0, -1},
		{"behind-from", async, 1, -1},
		{"before-end", "\x01\x02" + async, 0, 2},
		{"from-below", async, -9, 0},
		{"from-beyond", async, 17, -1},
		{"four-zeros", "\x01" + async[1:], 0, -1},
		{"payload-ends-alike", "\x6e\x00\x00\x00\x00" + async, 0, 5},
		{"80-before", "\x80\x80" + async, 0, 2},
		{"two", async + async, 1, 6},
	})
}
