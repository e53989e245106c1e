package wire

// AddressBits is five address bytes of PTM and ETMv3, the first lowest, but for
// bit 7 of the first four, which says whether another follows. IHI0035B, "Branch
// address packet"; IHI0014Q, "Branch Packets".
const AddressBits = 0xff_7f7f_7f7f

// Squeeze takes the five address bytes in w together: seven bits of each of
// four, eight of the fifth. w has none but AddressBits.
func Squeeze(w uint64) uint64 {
	// A part that is added to itself moves up by one bit, three times by two: up to
	// the part above it, until all end below the fifth byte.
	w += w & 0x007f_007f  // 14 bits from bit 1, 14 from bit 17
	w += (w & 0x7ffe) * 3 // 28 from bit 3
	w += w & 0x7fff_fff8  // 36 from bit 4
	return w >> 4
}
