package stream

import (
	"fmt"

	"github.com/ptdecode/ptdecode/coresight/etmv3"
	"github.com/ptdecode/ptdecode/coresight/etmv4"
	"github.com/ptdecode/ptdecode/coresight/ptm"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// What the table of protocols has of the trace units of Arm's cores.

// ptmConfig, v4Config and v3Config are what st's packets leave out.
func ptmConfig(st *Stream, near bool) ptm.Config {
	return ptm.Config{Trace: st.CoreSight(), TimeConv: st.Clock, Ahead: near}
}

func v4Config(st *Stream, near bool) etmv4.Config {
	return etmv4.Config{Trace: st.CoreSight(), TimeConv: st.Clock, Ahead: near}
}

func v3Config(st *Stream, near bool) etmv3.Config {
	return etmv3.Config{Trace: st.CoreSight(), TimeConv: st.Clock, Ahead: near}
}

func pointsPTM(st *Stream, src event.Bytes, size int64) Points {
	segs, _ := ptm.Plan(src, size, st.Index, ptmConfig(st, false))
	return newListed(segs, size)
}

func pointsV4(st *Stream, src event.Bytes, size int64) Points {
	return etmv4.NewPoints(src, size, v4Config(st, false))
}

func pointsV3(st *Stream, src event.Bytes, size int64) Points {
	segs, _ := etmv3.Plan(src, size, st.Index, v3Config(st, false))
	return newListed(segs, size)
}

func stampsV4(st *Stream, buf []byte, all bool) (first, last uint64) {
	c := v4Config(st, false)
	return c.Stamps(buf, all)
}

func packetsPTM(st *Stream) PacketLister {
	c := ptmConfig(st, false)
	lx := ptm.NewLexer(c.Format(), nil, 0)
	head := func(p *ptm.Packet) (int64, fmt.Stringer, bool) { return p.Off, p.Kind, p.Kind == ptm.Bad }
	return &packetsOf[ptm.Packet, *ptm.Packet]{lx: lx, fill: placed[ptm.Packet](lx), head: head}
}

func packetsV4(st *Stream) PacketLister {
	lx := etmv4.NewLexer(st.CoreSight(), nil, 0)
	head := func(p *etmv4.Packet) (int64, fmt.Stringer, bool) { return p.Off, p.Kind, p.Kind == etmv4.Bad }
	return &packetsOf[etmv4.Packet, *etmv4.Packet]{lx: lx, fill: placed[etmv4.Packet](lx), head: head}
}

func packetsV3(st *Stream) PacketLister {
	c := v3Config(st, false)
	lx := etmv3.NewLexer(c.Format(), nil, 0)
	head := func(p *etmv3.Packet) (int64, fmt.Stringer, bool) { return p.Off, p.Kind, p.Kind == etmv3.Bad }
	return &packetsOf[etmv3.Packet, *etmv3.Packet]{lx: lx, fill: placed[etmv3.Packet](lx), head: head}
}

// goesOnV4: a trace unit that is switched on says so by a Trace On before anything that ran, one
// that lost trace by an Overflow (IHI0064, DDI0487, "Trace On", "Overflow").
func goesOnV4(st *Stream, buf []byte) bool {
	lx := etmv4.NewLexer(st.CoreSight(), buf, 0)
	for p := (etmv4.Packet{}); lx.Next(&p); {
		switch p.Kind {
		case etmv4.TraceOn, etmv4.Overflow, etmv4.Discard, etmv4.Bad:
			return false
		case etmv4.AtomF1, etmv4.AtomF2, etmv4.AtomF3, etmv4.AtomF4, etmv4.AtomF5, etmv4.AtomF6, etmv4.Q, etmv4.Exception,
			etmv4.ExceptionReturn, etmv4.FuncReturn, etmv4.SrcMatch, etmv4.SrcShort, etmv4.Src32, etmv4.Src64, etmv4.TxStart, etmv4.TxCommit:
			return true
		}
	}
	return false
}

// periodic is the reason of an I-sync that repeats what is known (IHI0035B, IHI0014Q,
// "Reason codes").
const periodic = 0

// goesOnPTM: the first I-sync says why it was sent.
func goesOnPTM(st *Stream, buf []byte) bool {
	c := ptmConfig(st, false)
	lx := ptm.NewLexer(c.Format(), buf, 0)
	for p := (ptm.Packet{}); lx.Next(&p) && p.Kind != ptm.Bad; {
		if p.Kind == ptm.ISync {
			return p.Reason() == periodic
		}
	}
	return false
}

// goesOnV3: as goesOnPTM.
func goesOnV3(st *Stream, buf []byte) bool {
	c := v3Config(st, false)
	lx := etmv3.NewLexer(c.Format(), buf, 0)
	for p := (etmv3.Packet{}); lx.Next(&p) && p.Kind != etmv3.Bad; {
		if p.Kind == etmv3.ISync || p.Kind == etmv3.ISyncCycles {
			return p.Reason() == periodic
		}
	}
	return false
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
