package heap

import "testing"

// TestParseSize would catch a unit that is taken for another, a number that
// overflows, and a size that is refused or taken in silence.
func TestParseSize(t *testing.T) {
	for s, want := range map[string]int64{
		"256MiB": 256 << 20, "1GiB": 1 << 30, "500M": 500 << 20, "500MB": 500e6, "2G": 2 << 30, "2GB": 2e9,
		"104857600": 104857600, "104857600B": 104857600, "90000K": 90000 << 10, "90000KB": 90000e3, "90000KiB": 90000 << 10,
	} {
		if got, err := ParseSize(s, 64<<20); got != want || err != nil {
			t.Errorf("%s: %d, %v, want %d", s, got, err, want)
		}
	}
	for _, s := range []string{"", "M", "1", "63MiB", "-1GiB", "1.5G", "1T", "1 GiB", "GiB1", "1GBi", "1MM", "9000000000000GiB", "0x10000000"} {
		if got, err := ParseSize(s, 64<<20); err == nil {
			t.Errorf("%q: %d, want an error", s, got)
		}
	}
}
