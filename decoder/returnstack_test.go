package decoder

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// TestReturnStackOrder would catch a protocol whose rules say the wrong thing
// of a call through a register that the return stack foretells. In ETMv4 and
// ETE the call's own return address is on it by then (DDI0487, "Return stack").
// In PTM it is put there afterwards (IHI0035B, "Return stack"). OpenCSD does
// both in the same way. Programs hardly ever call to where a call returns to,
// so no other test comes there.
func TestReturnStackOrder(t *testing.T) {
	for _, c := range []struct {
		trace, packets string
		words          map[uint64]uint32
		want           []uint64
		mode           isa.Mode
	}{
		// bl 1010; cbz; blr: to its own return address; ret: to that of bl.
		{"etm", "async\ninfo 0x1\non\naddrctxt.64 0x1000 1 sf ns\natom.f3 eee\natom.f1 n",
			map[uint64]uint32{0x1000: 0x94000004, 0x1004: 0xb4000000, 0x1010: 0xd63f0200, 0x1014: 0xd65f03c0},
			[]uint64{0x1000, 0x1010, 0x1014, 0x1004}, isa.ModeA64},
		// bl 1010; bx lr; blx r3: to the return address of bl; beq.
		{"ptm", "async 5\nisync 0x1000 0x21\natom eee\natom n",
			map[uint64]uint32{0x1000: 0xeb000002, 0x1004: 0xe12fff1e, 0x1010: 0xe12fff33, 0x1014: 0x0a000000},
			[]uint64{0x1000, 0x1010, 0x1004, 0x1014}, isa.ModeA32},
	} {
		var st stream.Stream
		buf, err := scenarioTraces[c.trace](&st, c.packets)
		if err != nil {
			t.Fatal(err)
		}
		st.Size = int64(len(buf))
		st.Data = stream.Memory(buf)
		st.Begin(0, 0)
		segs := slices.Collect(st.Segments())
		fill(segs, buf)
		p := program{dec: stream.ForMode(isa.ModeA64).Decoder}
		for addr, w := range c.words {
			p.text = append(p.text, sim.Piece{Addr: addr, Bytes: binary.LittleEndian.AppendUint32(nil, w)})
		}
		var want []ranSpot
		for _, ip := range c.want {
			want = append(want, ranSpot{spot: spot{ip, c.mode}})
		}
		if err := p.compare(t, want, st.Rules(), segs, st.Decoder(false)); err != nil {
			t.Errorf("%s: %v", c.trace, err)
		}
	}
}
