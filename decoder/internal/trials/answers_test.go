package trials

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/kcore"
)

// TestApartIn would catch codes that differ taken for the same.
func TestApartIn(t *testing.T) {
	watch := []flow.Place{{Addr: 0x100, End: 0x110}, {Addr: 0x200, End: 0x202}}
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
		{"one site", []kcore.Learned{at(0x104, "ab", "xy")}, nil, apartness{places: 1}},
		{"two", []kcore.Learned{at(0x104, "ab", "xy")}, []kcore.Learned{at(0x200, "ab", "xy")}, apartness{places: 3}},
		{"the same with what lies beside it", []kcore.Learned{at(0x104, "ab", "xy")}, []kcore.Learned{at(0x102, "12ab34", "12xy34")}, apartness{}},
		{"where nobody watches", []kcore.Learned{at(0x1ff, "ab", "xy")}, nil, apartness{more: true}},
		{"a change", []kcore.Learned{once}, nil, apartness{more: true}},
		{"the same change", []kcore.Learned{once}, []kcore.Learned{once}, apartness{}},
		{"nobody knows what was there", []kcore.Learned{at(0x104, "ab", "")}, nil, apartness{places: 1}},
	} {
		if got := apartIn(watch, c.a, c.b); got.more != c.want.more || !got.more && got != c.want {
			t.Errorf("%s: %+v, want %+v", c.what, got, c.want)
		}
	}
}
