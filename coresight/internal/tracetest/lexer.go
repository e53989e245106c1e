package tracetest

import "math/rand/v2"

const async = "\x00\x00\x00\x00\x00\x80"

// ASyncs are bytes as packettest.Packets.FindSync wants them, of PTM and ETMv3: an A-sync
// is five zeros and 80.
var ASyncs = map[string]int{
	"\x01" + async[1:]:             -1, // four zeros
	"\x6e\x00\x00\x00\x00" + async: 5,  // a payload ends alike
	"\x80\x80" + async:             2,
}

// RandomByte returns bytes as streams of ETMv3 and PTM are rich in: address bytes, and
// in half of all cases bit 7 alone set, with the bits of clear 0.
func RandomByte(r *rand.Rand, clear byte) byte {
	b := byte(r.Uint32())
	switch r.IntN(8) {
	case 0:
		return b
	case 1, 2:
		return b | 0x81
	case 3:
		return b & 0x3f
	case 4:
		return b&0x3f | 1
	}
	return b&^clear | 0x80
}

// V3Refused is lines that no packet of ETMv3 and PTM holds, as packettest.Packets wants them;
// more are those of one of them.
func V3Refused(more string) string {
	return `
		branch 6: 0x0 => a size of 1 to 5
		branch 0: 0x0 => a size of 1 to 5
		branch 0x10 => need a size of 1 to 5
		branch 1: 0x1 => no packet holds that
		branch 1: 0x100 => does not fit a size of 1
		branch 2: 0x10 exception 1: 0x2 => no packet holds that
		branch 5: 0x1000000000 => does not fit a size of 5
		async 4 => no packet holds that
		async 256 => does not fit 8 bits
		isync 0x1 0x0 => does not fit 31 bits
		isync 0x0 0x0 cycles 1: 1 => no packet holds that
		isync 0x0 => info is missing
		contextid context 3: 0x1 => need 1, 2 or 4
		timestamp 1: 0x80 => no packet holds that
		timestamp 10: 0x80 => a size of 1 to 9
		vmid 0x100 => does not fit
		vmid one => "one" is no number
		eret 1 => "1" is too much
` + more
}

// V3Dumped are packets that ETMv3 and PTM dump alike; more are those of one of them.
func V3Dumped(more [][2]string) [][2]string {
	return append([][2]string{
		{"\x2f", "Branch address 1: 0x2e"},
		{"\x10", "BAD 1 bytes: no packet starts so"},
		{"\x00\x00", "BAD 2 bytes: zeros, cut short"},
		{"\x08\x00", "BAD 2 bytes: I-sync: packet cut short: have 2 bytes, need 6"},
	}, more...)
}
