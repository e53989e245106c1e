package stream

import (
	"github.com/ptdecode/ptdecode/coresight/itm"
	"github.com/ptdecode/ptdecode/coresight/stm"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// What the table of protocols has of STM and ITM.

// noRules is how a protocol is walked that tells nothing of what ran.
func noRules(*Stream) isa.Rules { return isa.Rules{} }

func pointsSTM(st *Stream, src Bytes, size int64) Points {
	segs, _ := stm.Plan(src, size, st.Index)
	return newListed(segs, size)
}

func pointsITM(st *Stream, src Bytes, size int64) Points {
	segs, _ := itm.Plan(src, size, st.Index)
	return newListed(segs, size)
}

func packetsSTM(*Stream) PacketLister {
	off := func(p *stm.Packet) int64 { return p.Off }
	kind := func(p *stm.Packet) (string, bool) { return p.Kind.String(), p.Kind == stm.Bad }
	return &packetsOf[stm.Packet, *stm.Packet]{lx: new(stm.Lexer), off: off, kind: kind}
}

func packetsITM(*Stream) PacketLister {
	off := func(p *itm.Packet) int64 { return p.Off }
	kind := func(p *itm.Packet) (string, bool) { return p.Kind.String(), p.Kind == itm.Bad }
	return &packetsOf[itm.Packet, *itm.Packet]{lx: new(itm.Lexer), off: off, kind: kind}
}
