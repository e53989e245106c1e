package boot

import (
	"fmt"
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

// TestDoubts would catch a claim behind a site in doubt, also where an exception or a gap lies
// between, and doubt where the flow came another way.
func TestDoubts(t *testing.T) {
	// A site at 0x102, from where the flow goes on to 0x104 and 0x106; behind, the versions
	// meet at 0x108.
	b := &Kernel{kernel: &buildtime.Kernel{}}
	d := &b.doubts
	d.sites = []site{{addr: 0x102, last: 0x103, way: []uint64{0x102, 0x104, 0x106}}}
	x := &d.sites[0]
	d.steps = map[uint64][]step{0x102: {{x, 0}}, 0x104: {{x, 1}}, 0x106: {{x, 2}}}
	d.bytes = []image.Range{{Addr: 0x102, Len: 6}}
	block := func(addr uint64, n int, c isa.Class) *flow.Block {
		k := &flow.Block{Addr: addr, End: addr + uint64(2*n), N: uint16(n), Class: c}
		for range n {
			k.Lens = append(k.Lens, 2)
		}
		return k
	}
	before := flow.Range{Block: block(0x200, 1, isa.Cond), N: 1}
	handler := flow.Range{Block: block(0x300, 1, isa.FarReturn), N: 1}
	through := flow.Range{Block: block(0x100, 6, isa.Return), N: 6}
	behind := flow.Range{Block: block(0x104, 4, isa.Return), N: 4}
	broken := through
	broken.N = 2
	for _, c := range []struct {
		name  string
		flow  []flow.Range
		notes []flow.Note
		want  string
	}{
		{"through the site", []flow.Range{before, through}, nil, " 200 100 102? 104? 106? 108 10a"},
		{"from elsewhere", []flow.Range{before, behind}, nil, " 200 104 106 108 10a"},
		{"at the beginning", []flow.Range{behind}, nil, " 104? 106? 108 10a"},
		{"behind a gap", []flow.Range{before, behind}, []flow.Note{{At: 1, Kind: flow.NoteGap}}, " 200 104? 106? 108 10a"},
		{"behind an exception", []flow.Range{before, broken, handler, behind}, nil, " 200 100 102? 300 104? 106? 108 10a"},
	} {
		for _, each := range []bool{false, true} { // in one batch, and in one for each range
			got := &flowSink{}
			k := b.Doubts(got)
			var batches []*flow.Batch
			if each && c.notes == nil {
				for _, r := range c.flow {
					batches = append(batches, &flow.Batch{Ranges: []flow.Range{r}})
				}
			} else {
				batches = []*flow.Batch{{Ranges: append([]flow.Range(nil), c.flow...), Notes: append([]flow.Note(nil), c.notes...)}}
			}
			for _, x := range batches {
				if err := k.Flow(x); err != nil {
					t.Fatal(err)
				}
			}
			if got.text != c.want {
				t.Errorf("%s: got%s, want%s", c.name, got.text, c.want)
			}
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
		b := &Kernel{text: 0x1000, code: []byte(c.code)}
		if got := b.called(x86.Decoder{}, b.text+uint64(len(c.code))); got != c.want {
			t.Errorf("%s: called is %v", c.name, got)
		}
	}
}
