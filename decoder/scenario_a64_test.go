package decoder

import (
	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/decoder/internal/stream"
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
