package stream

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/pt"
)

// What the table of protocols has of Intel PT.

func pointsPT(st *Stream, src event.Bytes, size int64) Points {
	return pt.NewPoints(src, size, st.intelPT())
}

func rulesPT(st *Stream) isa.Rules { c := st.intelPT(); return c.Rules() }

func eventsPT(st *Stream, near bool) Decoder {
	c := st.intelPT()
	c.Ahead = near
	return pt.NewDecoder(c, event.Segment{})
}

// acceptsPT: a recording has one configuration for all its streams.
func acceptsPT(unit any) bool { _, ok := unit.(pt.Config); return ok }

// identityPT: PIP packets state CR3.
func identityPT(*Stream) event.Identity { return event.PageTable }

func packetsPT(*Stream) PacketLister { return new(ptPackets) }

// ptPackets lists packets of Intel PT.
type ptPackets struct {
	lx pt.Lexer
	p  pt.Packet
}

func (l *ptPackets) Reset(b []byte, off int64)    { l.lx.Reset(b, off) }
func (l *ptPackets) Continue(b []byte, off int64) { l.lx.Continue(b, off) }
func (l *ptPackets) Extend(end int64)             { l.p.Value = uint64(end - l.p.Off) } // that of Bad is its size
func (l *ptPackets) Sync(b []byte) (int, bool)    { return pt.FindSync(b, 0) }
func (l *ptPackets) Next() bool                   { return l.lx.Next(&l.p) }
func (l *ptPackets) Place() (int64, int64)        { return l.p.Off, l.p.Size() }
func (l *ptPackets) Kind() (string, bool)         { return l.p.Kind.String(), l.p.Kind == pt.Bad }
func (l *ptPackets) String() string               { return l.p.String() }

func (l *ptPackets) AppendFields(dst []byte) []byte { return l.p.AppendFields(dst) }

// AppendText appends the packet's text form (PacketLister).
func (l *ptPackets) AppendText(dst, raw []byte) []byte { return l.p.AppendText(dst, raw) }
