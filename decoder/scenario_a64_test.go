package decoder

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/decoder/internal/sim"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/pt"
)

// scenarioTraces reads the sections that hold a CPU's trace, by their word: it
// returns the stream's bytes and says in st what they are.
var scenarioTraces = map[string]func(st *stream.Stream, text string) ([]byte, error){
	"cpu": func(_ *stream.Stream, text string) ([]byte, error) { return pt.Assemble(nil, text) },
	"etm": func(st *stream.Stream, text string) ([]byte, error) {
		st.Protocol, st.Unit = stream.ETMv4, scenarioETM()
		return etmv4.Assemble(st.CoreSight(), nil, text)
	},
	"ptm": func(st *stream.Stream, text string) ([]byte, error) {
		st.Protocol, st.Unit = stream.PTM, scenarioA32(coresight.PTM, 0x411cf310)
		return ptm.Assemble(nil, text)
	},
	"v3etm": func(st *stream.Stream, text string) ([]byte, error) {
		st.Protocol, st.Unit = stream.ETMv3, scenarioA32(coresight.ETMv3, 0x411cf250)
		return etmv3.Assemble(nil, text)
	},
}

// scenarioA32 is the trace unit of the scenarios that A32 or T32 runs in. By
// its ETMIDR it is a PTM 1.1 with a return stack or an ETMv3.5, with timestamps
// of 48 bits.
func scenarioA32(p coresight.Protocol, idr uint32) coresight.Config {
	return coresight.Config{
		Protocol: p, ID: 0x10, Arch: coresight.Arch{Major: 7, Profile: 'A'},
		V3: coresight.ETMv3Registers{CR: 1<<29 | 1<<28, CCER: 1<<28 | 1<<23 | 1<<22, IDR: idr},
	}
}

// scenarioETM is the trace unit of the scenarios that A64 runs in: an ETMv4.4
// that says nothing of what is speculative, with a return stack and 64-bit
// timestamps.
func scenarioETM() coresight.Config {
	return coresight.Config{
		Protocol: coresight.ETMv4, ID: 0x10, Arch: coresight.Arch{Major: 8, Profile: 'A'},
		V4: coresight.ETMv4Registers{
			CONFIGR: 1<<12 | 1<<11 | 1, // return stack, timestamps
			IDR0:    8<<24 | 1<<9,      // 64-bit timestamps, return stack
			IDR1:    0x41000440,
			IDR2:    8, // 64-bit addresses
		},
	}
}

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
