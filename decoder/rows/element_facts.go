package rows

import (
	"math"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// Fact is something that an element says.
type Fact struct {
	Key   string
	Word  string // what it is; "": Value is
	Value uint64
	Wide  bool // Value is an address or another value of 64 bits
}

// Facts appends what the element r says.
func (r *Row) Facts(dst []Fact) []Fact {
	if r.Note == nil {
		if r.N == 0 {
			return dst
		}
		dst = append(dst, Fact{Key: "isa", Word: ISAName(r.Mode)}, Fact{Key: "start", Value: r.IP, Wide: true},
			Fact{Key: "end", Value: r.Addr, Wide: true}, Fact{Key: "insns", Value: uint64(r.N)})
		if r.Verdict != flow.Certain {
			dst = append(dst, Fact{Key: "verdict", Word: r.Verdict.String()})
		}
		return dst
	}
	word := func(k, s string) { dst = append(dst, Fact{Key: k, Word: s}) }
	num := func(k string, v uint64) { dst = append(dst, Fact{Key: k, Value: v}) }
	addr := func(k string, v uint64) { dst = append(dst, Fact{Key: k, Value: v, Wide: true}) }
	n := r.Note
	if n.Kind == flow.NoteGap {
		addr("ip", n.Gap.IP)
		word("reason", n.Gap.Reason.String())
		return dst
	}
	e := &n.Event
	switch e.Kind {
	case event.Async, event.AsyncDisable:
		if e.Detail == event.DetailException {
			num("number", e.Value)
		}
		if e.Flags&event.FlagHere == 0 {
			addr("from", e.From)
		} else if n.IP != 0 {
			addr("from", n.IP)
		}
		if e.HasIP() {
			addr("to", e.IP)
		}
		if n.Kind == flow.NoteTrap {
			word("trap", n.Trap.String())
		}
		return dst
	}
	return payloadFacts(dst, e)
}

// payloadFacts appends what a payload or a context says.
func payloadFacts(dst []Fact, e *event.Event) []Fact {
	word := func(k, s string) { dst = append(dst, Fact{Key: k, Word: s}) }
	num := func(k string, v uint64) { dst = append(dst, Fact{Key: k, Value: v}) }
	value := func(k string, v uint64) { dst = append(dst, Fact{Key: k, Value: v, Wide: true}) }
	switch e.Detail {
	case event.DetailPE:
		return peFacts(dst, e)
	case event.DetailTimestamp:
		value("value", e.Value)
		if e.Value2&1 != 0 {
			word("clock", "changed")
		}
		if n := e.Value2 >> 8 & 0xff; n > 0 {
			num("unknown", n)
		}
	case event.DetailLocalTimestamp:
		value("local", e.Value)
		num("delta", e.Value2&event.LTTicks)
		for _, f := range [...]struct {
			bit  uint64
			word string
		}{{event.LTDelayed, "delayed"}, {event.LTPacketDelayed, "packet-delayed"}, {event.SWOverflow, "overflow"}} {
			if e.Value2&f.bit != 0 {
				word(f.word, "yes")
			}
		}
	case event.DetailCycleCount:
		if e.Value2&1 != 0 {
			word("count", "unknown")
		} else {
			num("count", e.Value)
		}
	case event.DetailInstrumentation:
		value("value", e.Value)
		num("el", e.Value2)
	case event.DetailTraceEvent:
		num("events", e.Value)
	case event.DetailTxBegin:
		word("what", "begin")
	case event.DetailTxCommit:
		word("what", "commit")
	case event.DetailTxAbort:
		word("what", "fail")
	case event.DetailSoftware, event.DetailHardware:
		return softwareFacts(dst, e)
	case event.DetailSTPSync, event.DetailStreamError, event.DetailDataSync:
		word("what", e.Detail.String())
		num("value", e.Value)
	case event.DetailCR3:
		value("cr3", e.Value)
	}
	return dst
}

// peFacts appends what a context says.
func peFacts(dst []Fact, e *event.Event) []Fact {
	x := e.Value2
	if x&event.PEHasLevel != 0 {
		isa := "A32"
		if x&event.PE64 != 0 {
			isa = "A64"
		}
		dst = append(dst, Fact{Key: "el", Value: x & event.PELevel}, Fact{Key: "state", Word: isa},
			Fact{Key: "security", Word: securities[x>>3&3]})
	}
	if x&event.PEHyp != 0 {
		dst = append(dst, Fact{Key: "mode", Word: "hyp"})
	}
	if x&event.PEHasID != 0 {
		dst = append(dst, Fact{Key: "context", Value: e.Value & math.MaxUint32})
	}
	if x&event.PEHasVMID != 0 {
		dst = append(dst, Fact{Key: "vmid", Value: e.Value >> 32})
	}
	return dst
}

// securities names a security state by the bits NS and NSE.
var securities = [4]string{"secure", "non-secure", "root", "realm"}

// softwareFacts appends what software, or the hardware's watch on it, wrote.
func softwareFacts(dst []Fact, e *event.Event) []Fact {
	x := e.Value2
	num := func(k string, v uint64) { dst = append(dst, Fact{Key: k, Value: v}) }
	if x&event.SWNoID == 0 {
		num("master", x>>event.SWMasterShift&0xffff)
		num("channel", x>>event.SWChannelShift&0xffff)
	}
	if size := x >> event.SWSizeShift & 0xff; size > 0 {
		num("bits", size)
		dst = append(dst, Fact{Key: "value", Value: e.Value, Wide: true})
	}
	for _, f := range [...]struct {
		bit  uint64
		word string
	}{
		{event.SWMarker, "marker"}, {event.SWTimestamped, "timestamped"}, {event.SWFlag, "flag"}, {event.SWTrigger, "trigger"},
		{event.SWOverflow, "overflow"}, {event.SWFrequency, "frequency"},
	} {
		if x&f.bit != 0 {
			dst = append(dst, Fact{Key: f.word, Word: "yes"})
		}
	}
	if e.Detail == event.DetailHardware {
		dst = append(dst, Fact{Key: "source", Word: "dwt"})
	}
	return dst
}
