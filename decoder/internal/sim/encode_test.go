package sim

import (
	"bytes"
	"testing"

	"github.com/ptdecode/ptdecode/pt"
)

// appendPacket appends a packet's bytes (SDM, "Packet Definitions"): the kinds
// that a trace unit here sends, written apart from package pt's own tables so
// that the one checks the other.
func appendPacket(b []byte, p pt.Packet) []byte {
	le := func(v uint64, n int) {
		for range n {
			b = append(b, byte(v))
			v >>= 8
		}
	}
	withIP := func(op byte) {
		b = append(b, op|byte(p.Arg)<<5)
		le(p.Value, [8]int{0, 2, 4, 6, 6, 0, 8, 0}[p.Arg])
	}
	switch p.Kind {
	case pt.PAD:
		b = append(b, 0)
	case pt.TNTShort:
		b = append(b, byte((1<<p.N|p.Value)<<1))
	case pt.TNTLong:
		b = append(b, 0x02, 0xa3)
		le(1<<p.N|p.Value, 6)
	case pt.TIP:
		withIP(0x0d)
	case pt.PGE:
		withIP(0x11)
	case pt.PGD:
		withIP(0x01)
	case pt.FUP:
		withIP(0x1d)
	case pt.ModeExec:
		b = append(b, 0x99, byte(p.Value))
	case pt.TSC:
		b = append(b, 0x19)
		le(p.Value, 7)
	case pt.TMA:
		b = append(b, 0x02, 0x73)
		le(p.Value, 2)
		b = append(b, 0)
		le(uint64(p.Arg), 2)
	case pt.MTC:
		b = append(b, 0x59, byte(p.Value))
	case pt.CYC:
		v, more := p.Value>>5, byte(0)
		if v != 0 {
			more = 4
		}
		b = append(b, byte(p.Value&31)<<3|more|3)
		for v != 0 {
			c := byte(v&127) << 1
			if v >>= 7; v != 0 {
				c |= 1
			}
			b = append(b, c)
		}
	case pt.CBR:
		b = append(b, 0x02, 0x03, byte(p.Value), 0)
	case pt.OVF:
		b = append(b, 0x02, 0xf3)
	case pt.PSB:
		for range 8 {
			b = append(b, 0x02, 0x82)
		}
	case pt.PSBEND:
		b = append(b, 0x02, 0x23)
	default:
		panic("sim: a packet kind that no trace unit here sends")
	}
	return b
}

// TestEncoding would catch an encoder and a lexer of package pt that share a
// mistake. It encodes each packet of the streams once more, by the manual's tables
// and apart: that must give its bytes.
func TestEncoding(t *testing.T) {
	kinds := map[pt.Kind]int{}
	for seed := range seeds(t) / 10 {
		r := Simulate(Draw(seed))
		for cpu := range r.CPUs {
			var out []byte
			for _, p := range packets(r.CPUs[cpu].PT) {
				kinds[p.Kind]++
				out = appendPacket(out, p)
			}
			if !bytes.Equal(out, r.CPUs[cpu].PT) {
				t.Fatalf("seed %d: CPU %d: the packets do not give the stream back", seed, cpu)
			}
		}
	}
	if len(kinds) < 14 {
		t.Fatalf("packet kinds %v: too few to tell", kinds)
	}
}
