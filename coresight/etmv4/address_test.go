package etmv4

import "testing"

// TestAddress would catch address bits that go to another place or get lost between
// an address and its bytes, and a packet without one that is given bytes.
func TestAddress(t *testing.T) {
	const addr = 0xfedc_ba98_7654_3210
	for _, c := range []struct {
		p     Packet
		bytes uint64
		low   uint64
		n     uint8
	}{
		{Packet{Kind: AddrMatch, Arg: 1}, 0, 0, 0},
		{Packet{Kind: AddrShort, N: 1}, 0x04, 0x010, 9},
		{Packet{Kind: AddrShort, N: 2}, 0x1984, 0x03210, 17},
		{Packet{Kind: SrcShort, Arg: 1, N: 1}, 0x08, 0x10, 8},
		{Packet{Kind: SrcShort, Arg: 1, N: 2}, 0x3288, 0x3210, 16},
		{Packet{Kind: Addr32}, 0x7654_1904, 0x7654_3210, 32},
		{Packet{Kind: AddrCtxt32, Arg: 1}, 0x7654_3208, 0x7654_3210, 32},
		{Packet{Kind: Addr64}, 0xfedc_ba98_7654_1904, addr, 64},
		{Packet{Kind: Src64, Arg: 1}, 0xfedc_ba98_7654_3208, addr, 64},
		{Packet{Kind: Q, Arg: QShort1, N: 2}, 0x3288, 0x3210, 16},
		{Packet{Kind: Q, Arg: QLong0}, 0x7654_1904, 0x7654_3210, 32},
		{Packet{Kind: Q, Arg: QCount}, 0, 0, 0},
	} {
		p := c.p
		p.Value = 5
		p.SetAddress(addr)
		low, n := p.Address()
		if p.Value != c.bytes || low != c.low || n != c.n {
			t.Errorf("%+v: bytes %x, low %x of %d bits; want %x, %x of %d", c.p, p.Value, low, n, c.bytes, c.low, c.n)
		}
	}
}
