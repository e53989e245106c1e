package output

import (
	"context"
	"io"
	"iter"
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
	base  int64  // of trace in its stream, bytes
}

// NewPackets returns a Packets that writes to w.
func NewPackets(w io.Writer) *Packets { return &Packets{out: lines{w: w}} }

// Stream prints the packets of st from its first sync point on, each with its
// offset in the stream; what lies before that point, or is no packet, is a
// line of its own, too.
//
// chunks gives the stream's bytes behind the head bytes that lie before its
// first sync point, in order, each piece beginning at a sync point.
func (p *Packets) Stream(ctx context.Context, st *Stream, head int64, chunks iter.Seq2[int64, []byte]) error {
	if head > 0 {
		p.skipped(st, head)
	}
	for off, b := range chunks {
		if p.trace, p.base = b, off; ctx.Err() != nil {
			return ctx.Err()
		}
		if err := p.chunk(st); err != nil {
			return err
		}
	}
	return nil
}

// chunk prints the packets of p.trace.
func (p *Packets) chunk(st *Stream) error {
	lx := pt.NewLexer(p.trace, p.base)
	var k pt.Packet
	for lx.Next(&k) {
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
	return p.trace[k.Off-p.base:][:min(k.Size(), maxRaw)]
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
