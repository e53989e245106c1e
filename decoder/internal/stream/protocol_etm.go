package stream

import (
	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// What the table of protocols has of the trace units of Arm's cores.

// ptmConfig is what st's packets leave out.
func ptmConfig(st *Stream, near bool) ptm.Config {
	return ptm.Config{Trace: st.CoreSight(), TimeConv: st.Clock, Ahead: near}
}

func pointsPTM(st *Stream, src event.Bytes, size int64) Points {
	segs, _ := ptm.Plan(src, size, st.Index, ptmConfig(st, false))
	return newListed(segs, size)
}

func rulesPTM(st *Stream) isa.Rules {
	c := ptmConfig(st, false)
	return c.Rules()
}

func eventsPTM(st *Stream, near bool) Decoder {
	return ptm.NewDecoder(ptmConfig(st, near), event.Segment{})
}

func packetsPTM(st *Stream) PacketLister {
	c := ptmConfig(st, false)
	lx := ptm.NewLexer(c.Format(), nil, 0)
	return &packetsOf[ptm.Packet]{
		lx:    lx,
		fill:  placed(lx, ptm.Place),
		place: func(p *ptm.Packet) (int64, int64) { return p.Off, p.Size() },
		kind:  func(p *ptm.Packet) (string, bool) { return p.Kind.String(), p.Kind == ptm.Bad },
		line:  func(p *ptm.Packet) string { return p.String() },
		text:  func(dst []byte, p *ptm.Packet, raw []byte) []byte { return p.AppendText(dst, raw) },
	}
}

// v4Config is what st's packets leave out.
func v4Config(st *Stream, near bool) etmv4.Config {
	return etmv4.Config{Trace: st.CoreSight(), TimeConv: st.Clock, Ahead: near}
}

func pointsV4(st *Stream, src event.Bytes, size int64) Points {
	return etmv4.NewPoints(src, size, v4Config(st, false))
}

func rulesV4(st *Stream) isa.Rules {
	c := v4Config(st, false)
	return c.Rules()
}

func eventsV4(st *Stream, near bool) Decoder {
	return etmv4.NewDecoder(v4Config(st, near), event.Segment{})
}

func stampsV4(st *Stream, buf []byte, all bool) (first, last uint64) {
	c := v4Config(st, false)
	return c.Stamps(buf, all)
}

func packetsV4(st *Stream) PacketLister {
	lx := etmv4.NewLexer(st.CoreSight(), nil, 0)
	return &packetsOf[etmv4.Packet]{
		lx:    lx,
		fill:  placed(lx, etmv4.Place),
		place: func(p *etmv4.Packet) (int64, int64) { return p.Off, p.Size() },
		kind:  func(p *etmv4.Packet) (string, bool) { return p.Kind.String(), p.Kind == etmv4.Bad },
		line:  func(p *etmv4.Packet) string { return p.String() },
		text:  func(dst []byte, p *etmv4.Packet, raw []byte) []byte { return p.AppendText(dst, raw) },
	}
}

// v3Config is what st's packets leave out.
func v3Config(st *Stream, near bool) etmv3.Config {
	return etmv3.Config{Trace: st.CoreSight(), TimeConv: st.Clock, Ahead: near}
}

func pointsV3(st *Stream, src event.Bytes, size int64) Points {
	segs, _ := etmv3.Plan(src, size, st.Index, v3Config(st, false))
	return newListed(segs, size)
}

func rulesV3(st *Stream) isa.Rules {
	c := v3Config(st, false)
	return c.Rules()
}

func eventsV3(st *Stream, near bool) Decoder {
	return etmv3.NewDecoder(v3Config(st, near), event.Segment{})
}

func packetsV3(st *Stream) PacketLister {
	c := v3Config(st, false)
	lx := etmv3.NewLexer(c.Format(), nil, 0)
	return &packetsOf[etmv3.Packet]{
		lx:    lx,
		fill:  placed(lx, etmv3.Place),
		place: func(p *etmv3.Packet) (int64, int64) { return p.Off, p.Size() },
		kind:  func(p *etmv3.Packet) (string, bool) { return p.Kind.String(), p.Kind == etmv3.Bad },
		line:  func(p *etmv3.Packet) string { return p.String() },
		text:  func(dst []byte, p *etmv3.Packet, raw []byte) []byte { return p.AppendText(dst, raw) },
	}
}

func timedV4(st *Stream) bool { c := st.CoreSight(); return c.V4.Timestamps() }

func timedV3(st *Stream) bool { c := st.CoreSight(); return c.V3.Timestamps() }

// narrowV3: before version 8 of the architecture there are no 64-bit addresses.
func narrowV3(st *Stream) bool { return st.CoreSight().Arch.Major < 8 }

// identityV4: Linux writes the thread's number to CONTEXTIDR. Where VMIDs are
// traced, what the trace states is that of EL2's.
func identityV4(st *Stream) event.Identity {
	const vmid, vmidOpt = 1 << 7, 1 << 15 // TRCCONFIGR
	if st.CoreSight().V4.CONFIGR&(vmid|vmidOpt) != 0 {
		return event.ThreadInVMID
	}
	return event.ThreadInContext
}
