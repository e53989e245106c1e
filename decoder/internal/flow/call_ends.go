package flow

import "github.com/ptdecode/ptdecode/decoder/isa"

// CallEnds reports whether a call may end at addr. Before that lies the code b, of as many bytes as an instruction may have.
func CallEnds(dec isa.Decoder, mode isa.Mode, b []byte, addr uint64) bool {
	for n := 1; n <= len(b); n++ {
		var in isa.Insn
		if dec.Decode(&in, b[len(b)-n:], addr-uint64(n), mode) == isa.OK && int(in.Len) == n && (in.Class == isa.Call || in.Class == isa.CallInd) {
			return true
		}
	}
	return false
}
