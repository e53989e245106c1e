package stream

import (
	"fmt"

	"github.com/ptdecode/ptdecode/coresight/itm"
	"github.com/ptdecode/ptdecode/coresight/stm"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// What the table of protocols has of STM and ITM.

// noRules is how a protocol is walked that tells nothing of what ran.
func noRules(*Stream) isa.Rules { return isa.Rules{} }

func pointsSTM(st *Stream, src event.Bytes, size int64) Points {
	segs, _ := stm.Plan(src, size, st.Index)
	return newListed(segs, size)
}

func pointsITM(st *Stream, src event.Bytes, size int64) Points {
	segs, _ := itm.Plan(src, size, st.Index)
	return newListed(segs, size)
}

func packetsSTM(*Stream) PacketLister {
	head := func(p *stm.Packet) (int64, fmt.Stringer, bool) { return p.Off, p.Kind, p.Kind == stm.Bad }
	return &packetsOf[stm.Packet, *stm.Packet]{lx: new(stm.Lexer), head: head}
}

func packetsITM(*Stream) PacketLister {
	head := func(p *itm.Packet) (int64, fmt.Stringer, bool) { return p.Off, p.Kind, p.Kind == itm.Bad }
	return &packetsOf[itm.Packet, *itm.Packet]{lx: new(itm.Lexer), head: head}
}
