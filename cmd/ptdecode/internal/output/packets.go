package output

import (
	"context"
	"io"
	"strconv"

	"github.com/ptdecode/ptdecode/pt"
)

// Packets prints the packets of streams.
type Packets struct {
	JSON bool // JSON Lines, not text
	Raw  bool // with the packets' bytes
	Bad  uint64

	out   lines
	trace []byte // of the stream at hand
}

// NewPackets returns a Packets that writes to w.
func NewPackets(w io.Writer) *Packets { return &Packets{out: lines{w: w}} }

// Stream prints the packets of st from its first sync point on, each with its
// offset in the stream; what lies before that point, or is no packet, is a
// line of its own, too.
//
// trace is all bytes of the stream, head how many of them lie before its first
// sync point.
func (p *Packets) Stream(ctx context.Context, st *Stream, trace []byte, head int64) error {
	if p.trace = trace; head > 0 {
		p.skipped(st, head)
	}
	lx := pt.NewLexer(trace[head:], head)
	var k pt.Packet
	for n := 0; lx.Next(&k); n++ {
		if n&0xffff == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if k.Kind == pt.Bad {
			p.Bad++
		}
		if p.JSON {
			p.object(st, &k)
		} else {
			p.line(st, &k)
		}
		if err := p.out.full(); err != nil {
			return err
		}
	}
	return nil
}

// Close writes what is left.
func (p *Packets) Close() error { return p.out.flush() }

// start appends what all lines begin with: the CPU and the offset.
func (p *Packets) start(st *Stream, off int64) []byte {
	b := append(p.out.buf, st.short()...)
	b = append(b, ' ')
	return append(appendHex16(b, uint64(off)), ' ')
}

// maxRaw bounds the bytes that are shown of what is no packet.
const maxRaw = 32

// raw returns the bytes of k, the first of them where it is long.
func (p *Packets) raw(k *pt.Packet) []byte {
	return p.trace[k.Off:][:min(k.Size(), maxRaw)]
}

// line appends k as text.
func (p *Packets) line(st *Stream, k *pt.Packet) {
	b := p.start(st, k.Off)
	if p.Raw {
		from := len(b)
		b = appendBytes(b, p.raw(k))
		if k.Size() > maxRaw {
			b = append(b, "..."...)
		}
		for len(b)-from < 18 {
			b = append(b, ' ')
		}
		b = append(b, ' ')
	}
	p.out.buf = append(append(b, k.String()...), '\n')
}

// object appends k as JSON.
func (p *Packets) object(st *Stream, k *pt.Packet) {
	b := source(append(p.out.buf, `{"type":"packet"`...), &Row{Stream: st})
	b = number(b, "trace_off", uint64(k.Off))
	b = number(b, "size", uint64(k.Size()))
	raw := p.raw(k)
	b = name(b, "kind", k.Kind.String())
	if k.Kind == pt.Bad {
		b = name(b, "what", k.String())
	} else {
		b = name(b, "packet", string(pt.AppendText(nil, *k, raw)))
	}
	if p.Raw || k.Kind == pt.Bad {
		b = append(appendBytes(append(key(b, "raw"), '"'), raw), '"')
	}
	p.out.buf = append(b, "}\n"...)
}

// skipped appends a line for what lies before the first sync point.
func (p *Packets) skipped(st *Stream, head int64) {
	const what = "before the first sync point"
	if p.JSON {
		b := source(append(p.out.buf, `{"type":"packet"`...), &Row{Stream: st})
		b = number(number(b, "trace_off", 0), "size", uint64(head))
		p.out.buf = append(word(word(b, "kind", "skipped"), "what", what), "}\n"...)
		return
	}
	b := append(p.start(st, 0), "# "...)
	b = strconv.AppendInt(b, head, 10)
	p.out.buf = append(append(b, " bytes "...), what+"\n"...)
}
