package trials

import (
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/kcore"
)

// TestApartIn would catch codes that differ taken for the same.
func TestApartIn(t *testing.T) {
	at := func(addr uint64, code, had string) kcore.Learned {
		return kcore.Learned{Addr: addr, Code: []byte(code), Had: []byte(had)}
	}
	once := at(0x200, "ab", "xy")
	once.Was = []byte("xy")
	for _, c := range []struct {
		what string
		a, b []kcore.Learned
		want apartness
	}{
		{"nothing", nil, nil, apartness{}},
		{"one site", []kcore.Learned{at(0x104, "ab", "xy")}, nil, apartness{at: []uint64{0x104, 0x105}}},
		{"a byte of it", []kcore.Learned{at(0x104, "ay", "xy")}, nil, apartness{at: []uint64{0x104}}},
		{"two", []kcore.Learned{at(0x104, "ab", "xy")}, []kcore.Learned{at(0x200, "ab", "xy")}, apartness{at: []uint64{0x104, 0x105, 0x200, 0x201}}},
		{"the same with what lies beside it", []kcore.Learned{at(0x104, "ab", "xy")}, []kcore.Learned{at(0x102, "12ab34", "12xy34")}, apartness{}},
		{"a change", []kcore.Learned{once}, nil, apartness{more: true}},
		{"the same change", []kcore.Learned{once}, []kcore.Learned{once}, apartness{}},
		{"nobody knows what was there", []kcore.Learned{at(0x104, "ab", "")}, nil, apartness{at: []uint64{0x104, 0x105}}},
	} {
		if got := apartIn(c.a, c.b); got.more != c.want.more || !slices.Equal(got.at, c.want.at) {
			t.Errorf("%s: %+v, want %+v", c.what, *got, c.want)
		}
	}
}
