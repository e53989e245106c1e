package stream

import (
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

func eventsSTM(st *Stream, _ bool) Decoder { return stm.NewDecoder(st.CoreSight(), event.Segment{}) }

func packetsSTM(*Stream) PacketLister {
	return &packetsOf[stm.Packet]{
		lx:    new(stm.Lexer),
		place: func(p *stm.Packet) (int64, int64) { return p.Off, p.End() - p.Off },
		kind:  func(p *stm.Packet) (string, bool) { return p.Kind.String(), p.Kind == stm.Bad },
		line:  func(p *stm.Packet) string { return p.String() },
		text:  func(dst []byte, p *stm.Packet, raw []byte) []byte { return p.AppendText(dst, raw) },
	}
}

func pointsITM(st *Stream, src event.Bytes, size int64) Points {
	segs, _ := itm.Plan(src, size, st.Index)
	return newListed(segs, size)
}

func eventsITM(st *Stream, _ bool) Decoder { return itm.NewDecoder(st.CoreSight(), event.Segment{}) }

func packetsITM(*Stream) PacketLister {
	return &packetsOf[itm.Packet]{
		lx:    new(itm.Lexer),
		place: func(p *itm.Packet) (int64, int64) { return p.Off, p.End() - p.Off },
		kind:  func(p *itm.Packet) (string, bool) { return p.Kind.String(), p.Kind == itm.Bad },
		line:  func(p *itm.Packet) string { return p.String() },
		text:  func(dst []byte, p *itm.Packet, raw []byte) []byte { return p.AppendText(dst, raw) },
	}
}
