package rows

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// namesOnly is a recording that has symbols of a kernel, and nothing else.
type namesOnly struct {
	Recording
	of *symbols.Table
}

func (n namesOnly) Kernel(addr uint64) bool { return addr >= 1<<32 }

func (n namesOnly) Symbols() *symbols.Table { return n.of }

func (n namesOnly) Symbol(space uint32, addr, time uint64) (string, uint64, string, bool) {
	if !n.Kernel(addr) {
		return "user", addr + uint64(space)<<48, "program", true
	}
	y, off, ok := n.of.Lookup(addr, time)
	return y.Name, off, "kernel", ok
}

// TestNamesAt would catch a name that is remembered for another address, address
// space, machine or time than it is of. The recording is asked again each time,
// which is the slow twin.
func TestNamesAt(t *testing.T) {
	const base = 1 << 40
	sym := func(name string, addr, length, from, until uint64) symbols.Ksymbol {
		return symbols.Ksymbol{Name: name, Addr: base + addr, Len: length, From: from, Until: until}
	}
	host := namesOnly{of: symbols.New(nil, nil, []symbols.Ksymbol{
		sym("early", 0x100, 0x40, 0, 50), sym("late", 0x100, 0x20, 50, math.MaxUint64), sym("always", 0x200, 0x80, 0, math.MaxUint64),
	})}
	guest := namesOnly{of: symbols.New(nil, nil, []symbols.Ksymbol{sym("guest's", 0x100, 0x200, 0, math.MaxUint64)})}
	streams := []Stream{{}, {Guest: 7, Machine: guest}}
	n := NewNames(host, len(streams))
	r := rand.New(rand.NewPCG(1, 2))
	for range 20_000 {
		st := &streams[r.IntN(2)]
		row := &Row{Stream: st, Space: uint32(r.IntN(3)), Time: event.Time{Lo: uint64(r.IntN(100))}}
		row.Time.Hi = row.Time.Lo
		addr := uint64(r.IntN(0x400))
		if r.IntN(4) > 0 {
			addr += base
		}
		space := row.Space
		if n.machine(row).Kernel(addr) {
			space = 0
		}
		var want Place
		want.Sym, want.Off, want.DSO, want.Known = n.machine(row).Symbol(space, addr, row.Time.Likely())
		if got := n.At(row, addr); got != want {
			t.Fatalf("0x%x of guest %d in space %d at %d ns: %+v, want %+v", addr, st.Guest, row.Space, row.Time.Lo, got, want)
		}
	}
}

// TestSymbolFilter would catch a function that is left out because another one has its name, and an alias that is not
// found.
func TestSymbolFilter(t *testing.T) {
	k, err := symbols.ParseKallsyms("ffffffff81000000 T first\nffffffff81000040 t same\nffffffff81000080 t other\nffffffff810000c0 t same\nffffffff81000080 W alias\nffffffff81000100 T last\n", "kallsyms")
	if err != nil {
		t.Fatal(err)
	}
	rec := namesOnly{of: symbols.New(k, nil, nil)}
	row, names := &Row{Stream: &Stream{}}, NewNames(rec, 1)
	for name, want := range map[string][]uint64{"same": {0x40, 0xc0}, "alias": {0x80}, "other": {0x80}, "user": nil} {
		f := newSymbolFilter(rec, []string{name})
		for off := uint64(0); off < 0x100; off += 0x20 {
			in := slices.Contains(want, off&^0x3f)
			if got := f.holds(names, row, 0xffffffff81000000+off); got != in {
				t.Errorf("%s: holds 0x%x: %v, want %v", name, off, got, in)
			}
		}
	}
}
