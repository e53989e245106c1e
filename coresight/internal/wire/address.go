package wire

// AddressBits is the bits of five address bytes of PTM and ETMv3, the first
// lowest, that are the address's: bit 7 of each but the fifth says whether
// another follows. IHI0035B, "Branch address packet"; IHI0014Q, "Branch Packets".
const AddressBits = 0xff_7f7f_7f7f

// Squeeze takes the five address bytes in w together: seven bits of each of
// four, eight of the fifth. w has none but AddressBits.
func Squeeze(w uint64) uint64 {
	// Adding a part to itself moves it up by a bit: up to the part above it, until
	// all end below the fifth byte.
	w += w & 0x007f_007f // 14 bits from bit 1, 14 from bit 17
	w += w & 0x7ffe * 3  // 28 from bit 3
	w += w & 0x7fff_fff8 // 36 from bit 4
	return w >> 4
}
