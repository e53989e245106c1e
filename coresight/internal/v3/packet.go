package v3

import (
	"github.com/ptdecode/ptdecode/coresight/internal/wire"
	"github.com/ptdecode/ptdecode/decoder/packettext"
)

// Reasons of an I-sync. IHI0035B, "I-sync, instruction synchronization packet";
// IHI0014Q, "I-sync instruction synchronization", "Reason codes".
const (
	ReasonPeriodic  = 0
	ReasonOn        = 1 // tracing was turned on
	ReasonOverflow  = 2 // tracing goes on after an overflow
	ReasonDebugExit = 3 // the processor has left debug state
)

// Bits of an I-sync's information byte.
const (
	InfoHyp = 1 << 1
	InfoAlt = 1 << 2
	InfoNS  = 1 << 3
	InfoWhy = 5 // shift of the reason, two bits
)

// Bits of a branch's exception bytes, the first in bits 7..0, the second in 15..8.
const (
	ExcNS  = 1 << 0
	ExcNum = 1 // shift of the exception number's low four bits
	ExcAlt = 1 << 6
	ExcHyp = 1 << 13
)

// ExcMore is the bit of an exception byte that says that another follows.
const ExcMore = 1 << 7

// Exception numbers of A and R cores: IHI0035B, "Branch address packet"; IHI0014Q,
// "Encoding of Exception[3:0] for non-ARMv7-M processors".
const (
	ExcNone          = 0 // a change of the security state or of the instruction set
	ExcHalt          = 1 // halting debug
	ExcSMC           = 2
	ExcHVC           = 3
	ExcAsyncAbort    = 4
	ExcReset         = 8
	ExcUndef         = 9
	ExcSVC           = 10
	ExcPrefetchAbort = 11 // BKPT too
	ExcDataAbort     = 12
	ExcGeneric       = 13
	ExcIRQ           = 14
	ExcFIQ           = 15
)

// ReasonName returns what an I-sync's reason is called.
func ReasonName(reason int) string {
	return [4]string{"periodic", "on", "overflow", "debug exit"}[reason&3]
}

// StateWords appends the words that dumps have for a security state and mode, where
// the bits are set.
func StateWords(words []string, ns, alt, hyp bool) []string {
	for _, w := range []struct {
		on   bool
		word string
	}{{ns, "ns"}, {alt, "alt"}, {hyp, "hyp"}} {
		if w.on {
			words = append(words, w.word)
		}
	}
	return words
}

// ASync returns the zero bytes of the A-sync that buf begins with. Where there is none,
// zeros is 0, why says why (packettext.BadCut, BadForm), and need how many bytes one has.
func ASync(buf []byte) (zeros int, why uint16, need int) {
	zeros, cut := wire.ASync(buf)
	switch {
	case cut:
		return 0, packettext.BadCut, max(len(buf), wire.Zeros) + 1
	case zeros == 0:
		return 0, packettext.BadForm, 0
	}
	return zeros, 0, 0
}

// ReadTimestamp reads the timestamp packet that buf begins with, n bytes of a timestamp
// behind the first. It returns the index behind it, beyond buf where it is cut short.
// IHI0014Q, "Timestamp packet, ETMv3.5"; IHI0035B, "Timestamp packet".
func ReadTimestamp(buf []byte, wide bool) (v uint64, n uint8, end int) {
	most := 7
	if wide {
		most = 9
	}
	end = 1
	for more := true; more; end++ {
		if end >= len(buf) {
			return 0, 0, end + 1
		}
		b := uint64(buf[end])
		if more = end < most && b >= 0x80; end < most {
			b &= 0x7f
		}
		v |= b << (7*end - 7)
	}
	return v, uint8(end - 1), end
}
