package etmv4

import (
	"math/rand/v2"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// Catches a field that is lost or displaced in bytes or text for some value, and a
// length that depends on what comes before or after. Sequences of random packets
// must come back from their bytes, and the bytes from their text.
func TestRandomSequencesComeBack(t *testing.T) {
	type sent struct {
		unit int
		kind Kind
	}
	seen := map[sent]bool{}
	packets.Sequences(t, func(r *rand.Rand, unit int) (list []Packet, raw []byte) {
		c := testConfigs[units[unit]]
		d := newDialect(&c)
		for range 12 {
			p := randPacket(r, d)
			b := p.Append(nil)
			var q Packet
			if NewLexer(c, b, int64(len(raw))).Next(&q); q.Kind != p.Kind || int(q.Len) != len(b) {
				continue // not of this trace unit, or no form of it
			}
			seen[sent{unit, q.Kind}] = true
			list, raw = append(list, q), append(raw, b...)
		}
		packets.ComesBack(t, unit, raw)
		return list, raw
	})
	for unit, name := range units {
		c := testConfigs[name]
		rows := rowsOf(t, newDialect(&c))
		for b := range rows {
			for _, row := range rows[b] {
				if !seen[sent{unit, row.kind}] {
					t.Errorf("%s: no %v came", name, row.kind)
				}
			}
		}
	}
}

// randPacket returns a packet as text can say it: fields at random, whether or
// not a packet of the trace unit holds them.
func randPacket(r *rand.Rand, d dialect) Packet {
	kind := ASync + Kind(r.IntN(int(NumKinds-ASync)))
	var n packettext.Numbers
	for i := range specs[kind].fields {
		f := &specs[kind].fields[i]
		// Small numbers as often as large ones.
		v := r.Uint64() >> r.IntN(64) & (1<<f.Width - 1)
		if f.Lo == sizeShift {
			v = uint64(r.IntN(6) * r.IntN(2) * r.IntN(2))
		}
		switch {
		case f.Form == packettext.Letters:
			k, size, bits := atoms(byte(0xc0 + r.IntN(0x40)))
			kind, n[inN], v = k, uint64(size), uint64(bits)
		case f.Form == packettext.Flagged:
			n[f.Flag.In] |= r.Uint64() & 1 << f.Flag.Bit
		case f.Form == packettext.Sized && !f.Flag.On:
			n[inN] = uint64(1 + r.IntN(9))
		case f.Form == packettext.Sized && n[f.Flag.In]>>f.Flag.Bit&1 != 0:
			n[f.Size.In] = uint64(map[uint8]uint8{inVMIDSize: d.vmid, inCIDSize: d.cid}[f.Size.In])
		}
		n[f.In] |= v << f.Lo
	}
	p, _ := ofNumbers(uint8(kind), &n)
	return p
}

// Catches outcomes that packets turn round or drop.
func TestAppendAtoms(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 2000 {
		n := 1 + r.IntN(64)
		v := r.Uint64() >> (64 - n)
		if r.IntN(3) == 0 { // long runs of E
			v |= r.Uint64() | r.Uint64() | r.Uint64()
			v &= 1<<n - 1
		}
		var got uint64
		k := 0
		for p := range NewLexer(testConfigs["ete1.3"], AppendAtoms(nil, v, n), 0).All() {
			got, k = got<<p.N|uint64(p.Extra), k+int(p.N)
		}
		if got != v || k != n {
			t.Fatalf("%0*b comes back as %0*b", n, v, k, got)
		}
	}
}
