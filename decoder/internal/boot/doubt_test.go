package boot

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/buildtime"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// flowSink keeps verdicts by instruction, in order.
type flowSink struct{ text string }

func (k *flowSink) Flow(b *flow.Batch) error {
	for i := range b.Ranges {
		r := &b.Ranges[i]
		a := r.Block.Addr
		for _, n := range r.Block.Lens[:r.N] {
			k.text += fmt.Sprintf(" %x", a)
			if r.Verdict == flow.Ambiguous {
				k.text += "?"
			}
			a += uint64(n)
		}
	}
	return nil
}

// TestDoubts would catch an instruction in doubt that is claimed, or another that is not,
// where a range or a batch ends.
func TestDoubts(t *testing.T) {
	block := func(addr uint64, n int, c isa.Class) *flow.Block {
		k := &flow.Block{Addr: addr, End: addr + uint64(2*n), N: uint16(n), Class: c}
		for range n {
			k.Lens = append(k.Lens, 2)
		}
		return k
	}
	ranges := []flow.Range{{Block: block(0x200, 1, isa.Cond), N: 1}, {Block: block(0x100, 6, isa.Return), N: 6}, {Block: block(0x300, 4, isa.Return), N: 4}}
	for _, c := range []struct {
		list []stretch
		want string
	}{
		{nil, " 200 100 102 104 106 108 10a 300 302 304 306"},
		{[]stretch{{0, 1}}, " 200? 100 102 104 106 108 10a 300 302 304 306"},
		{[]stretch{{2, 3}, {4, 5}}, " 200 100 102? 104 106? 108 10a 300 302 304 306"},
		{[]stretch{{5, 9}}, " 200 100 102 104 106 108? 10a? 300? 302? 304 306"},
		{[]stretch{{1, math.MaxInt}}, " 200 100? 102? 104? 106? 108? 10a? 300? 302? 304? 306?"},
	} {
		for _, each := range []bool{false, true} { // in one batch, and in one for each range
			got := &flowSink{}
			k := &doubter{d: &doubts{}, to: got, asked: true, list: c.list}
			batches := []*flow.Batch{{Ranges: slices.Clone(ranges)}}
			if each {
				batches = nil
				for _, r := range ranges {
					batches = append(batches, &flow.Batch{Ranges: []flow.Range{r}})
				}
			}
			for _, x := range batches {
				if err := k.Flow(x); err != nil {
					t.Fatal(err)
				}
			}
			if got.text != c.want {
				t.Errorf("%v: got%s, want%s", c.list, got.text, c.want)
			}
		}
	}
}

// TestDoubtsAsked would catch a flow that comes to a site, and nobody asks what is in doubt, or one that does not, and
// someone asks. It would catch what is passed over though it is in doubt.
func TestDoubtsAsked(t *testing.T) {
	block := &flow.Block{Addr: 0x100, End: 0x108, N: 4, Lens: []uint8{2, 2, 2, 2}}
	whole, half := flow.Range{Block: block, N: 4}, flow.Range{Block: block, N: 2}
	away := flow.Range{Block: &flow.Block{Addr: 0x300, End: 0x308, N: 4, Lens: block.Lens}, N: 4}
	for _, c := range []struct {
		at     uint64 // of the site
		ranges []flow.Range
		asked  int
		want   string
	}{
		{0x200, []flow.Range{whole, half}, 0, " 100 102 104 106 100 102"},
		{0x104, []flow.Range{half, half}, 0, " 100 102 100 102"},
		{0x104, []flow.Range{half, whole, half}, 1, " 100 102 100 102 104? 106 100? 102"},
		{0x103, []flow.Range{whole, half, half}, 1, " 100 102 104 106 100? 102 100? 102"},
		{0x103, []flow.Range{away, whole, away, half}, 1, " 300 302 304 306 100? 102 104? 106 300 302 304 306 100? 102"},
	} {
		for _, each := range []int{1, 2, 3} { // ranges of a batch
			got, asked := &flowSink{}, 0
			d := &doubts{sites: []site{{addr: c.at, last: c.at + 1}}}
			k := &doubter{d: d, to: got, find: func() ([]stretch, error) {
				asked++
				return []stretch{{4, 5}, {6, 7}, {12, 13}}, nil
			}}
			for list := range slices.Chunk(c.ranges, each) {
				if err := k.Flow(&flow.Batch{Ranges: slices.Clone(list)}); err != nil {
					t.Fatal(err)
				}
			}
			if got.text != c.want || asked != c.asked {
				t.Errorf("site at %#x: asked %d times, want %d; got%s, want%s", c.at, asked, c.asked, got.text, c.want)
			}
		}
	}
}

// TestCompare would catch claims that another version of the code does not lead to, and doubt
// where both are together again. A letter is an instruction, a bar an event.
func TestCompare(t *testing.T) {
	read := func(s string) (list []ran) {
		off := int64(0)
		for _, c := range s {
			if c == '|' {
				off++
			} else {
				list = append(list, ran{off: off, ip: uint64(c)})
			}
		}
		return list
	}
	for _, c := range []struct{ a, b, want string }{
		{"abc|def", "abc|def", "abcdef"},
		{"abc|def", "axc|def", "a?cdef"},
		{"abc|def", "ac|def", "a?cdef"},
		{"ac|def", "abc|def", "??def"},      // b may lie between
		{"abxab|d", "abxabxab|d", "abxa??"}, // a round more
		{"abc|d|e", "abc||de", "abc?e"},     // the events tell which
		{"abc|def", "abq", "ab????"},
		{"abc|def|g", "abq||g", "ab????g"},
	} {
		a := read(c.a)
		var m marks
		compare(a, read(c.b), &m, func(*site) {})
		got := ""
		list := m.stretches()
		for i := range a {
			if slices.ContainsFunc(list, func(x stretch) bool { return x.from <= i && i < x.end }) {
				got += "?"
			} else {
				got += string(rune(a[i].ip))
			}
		}
		if got != c.want {
			t.Errorf("%s against %s: %s, want %s", c.a, c.b, got, c.want)
		}
	}
}

// TestLay would catch code that is laid over the wrong bytes.
func TestLay(t *testing.T) {
	p := &Patches{list: []patch{{image.Range{Addr: 4, Len: 2}, []byte("AB")}, {image.Range{Addr: 8, Len: 1}, []byte("C")}}}
	for _, c := range []struct {
		addr uint64
		n    int
		want string
	}{{0, 12, "....AB..C..."}, {5, 3, "B.."}, {6, 2, ".."}, {3, 2, ".A"}, {8, 1, "C"}, {9, 3, "..."}} {
		b := bytes.Repeat([]byte("."), c.n)
		if p.Lay(b, c.addr); string(b) != c.want {
			t.Errorf("%d bytes at %d: %s, want %s", c.n, c.addr, b, c.want)
		}
	}
}

// TestCalled would catch a return that counts as right though no call ends where it goes, and
// the other way round.
func TestCalled(t *testing.T) {
	const nop = "\x90\x90\x90\x90\x90\x90\x90\x90\x90"
	for _, c := range []struct {
		name, code string
		want       bool
	}{
		{"call", nop + "\xe8\x00\x00\x00\x00", true},
		{"call *%rax", nop + "\xff\xd0", true},
		{"cs call", nop + "\x2e\xe8\x00\x00\x00\x00", true},
		{"call *%rax; nopl", nop + "\xff\xd0\x0f\x1f\x00", false},
		{"jmp", nop + "\xe9\x00\x00\x00\x00", false},
		{"nothing before", "\xc3", true},
	} {
		b := &Kernel{text: 0x1000, code: []byte(c.code), mode: isa.Mode64}
		if got := b.called(x86.Decoder{}, b.text+uint64(len(c.code))); got != c.want {
			t.Errorf("%s: called is %v", c.name, got)
		}
	}
}

// TestAllowed would catch a boot that is taken for possible though kernels rule it out, the other
// way round, and x86's rules held against another architecture.
func TestAllowed(t *testing.T) {
	retpoline, ibrs, fence := setting{feature(featRetpoline), buildtime.Present}, setting{feature(featIBRS), buildtime.Present}, setting{feature(featFence), buildtime.Present}
	unfilled, its := setting{feature(featRSBSwitch), buildtime.Absent}, setting{buildtime.ReturnThunk, buildtime.ThunkLowHalf}
	for _, c := range []struct {
		settled, tried variant
		mode           isa.Mode
		want           bool
	}{
		{nil, variant{retpoline, ibrs}, isa.Mode64, false},
		{nil, variant{retpoline, {ibrs.c, buildtime.Absent}}, isa.Mode64, true},
		{variant{retpoline}, variant{ibrs}, isa.Mode64, false},
		{variant{retpoline}, variant{{retpoline.c, buildtime.Absent}, ibrs}, isa.Mode64, true},
		{variant{unfilled}, variant{fence}, isa.Mode64, false},
		{variant{unfilled}, variant{its}, isa.Mode64, true},
		{variant{its}, variant{fence}, isa.Mode64, false},
		{nil, variant{retpoline, ibrs}, isa.ModeA64, true},
	} {
		b := &Kernel{mode: c.mode, state: buildtime.State{}, settled: map[buildtime.Choice]string{}}
		for _, s := range c.settled {
			b.state, b.settled[s.c] = b.state.With(s.c, s.v), "the test"
		}
		if got := b.allowed(c.tried); got != c.want {
			t.Errorf("%v beside %v: allowed is %v", c.tried, c.settled, got)
		}
	}
}
