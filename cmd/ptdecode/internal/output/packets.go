package output

import (
	"context"
	"io"
	"iter"
	"strconv"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
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
// offset in the stream. Bytes before that point, and bytes that are no packet, are
// a line of their own.
//
// head is how many bytes lie before the first sync point. chunks gives those
// behind it, in order; each chunk begins at a sync point.
func (p *Packets) Stream(ctx context.Context, st *rows.Stream, lx decoder.PacketLister, head int64, chunks iter.Seq2[int64, []byte]) error {
	if head > 0 {
		p.skipped(st, head)
	}
	for off, b := range chunks {
		if p.trace, p.base = b, off; ctx.Err() != nil {
			return ctx.Err()
		}
		if err := p.chunk(st, lx); err != nil {
			return err
		}
	}
	return nil
}

// chunk prints the packets of p.trace.
func (p *Packets) chunk(st *rows.Stream, lx decoder.PacketLister) error {
	for lx.Reset(p.trace, p.base); lx.Next(); {
		if _, bad := lx.Kind(); bad {
			p.Bad++
		}
		if p.JSON {
			p.object(st, lx)
		} else {
			p.line(st, lx)
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
func (p *Packets) start(st *rows.Stream, off int64) []byte {
	b := append(p.out.buf, st.Short()...)
	b = append(b, ' ')
	return append(appendHex16(b, uint64(off)), ' ')
}

// maxRaw is how many bytes of a stretch without packets are shown.
const maxRaw = 32

// raw returns the size bytes at off, maxRaw at most.
func (p *Packets) raw(off, size int64) []byte {
	return p.trace[off-p.base:][:min(size, maxRaw)]
}

// line appends k as text.
func (p *Packets) line(st *rows.Stream, k decoder.PacketLister) {
	off, size := k.Place()
	b := p.start(st, off)
	if p.Raw {
		from := len(b)
		b = appendBytes(b, p.raw(off, size))
		if size > maxRaw {
			b = append(b, "..."...)
		}
		for len(b)-from < 18 {
			b = append(b, ' ')
		}
		b = append(b, ' ')
	}
	b = append(b, k.String()...)
	if _, bad := k.Kind(); bad {
		b = appendPlace(b, st, off)
	}
	p.out.buf = append(b, '\n')
}

// object appends k as JSON.
func (p *Packets) object(st *rows.Stream, k decoder.PacketLister) {
	off, size := k.Place()
	kind, bad := k.Kind()
	b := source(append(p.out.buf, `{"type":"packet"`...), st)
	b = number(b, "trace_off", uint64(off))
	if bad {
		b = fileOff(b, st, off)
	}
	b = number(b, "size", uint64(size))
	raw := p.raw(off, size)
	b = name(b, "kind", kind)
	if bad {
		b = name(b, "what", k.String())
	} else {
		b = name(b, "packet", string(k.AppendText(nil, raw)))
	}
	if p.Raw || bad {
		b = append(appendBytes(append(key(b, "raw"), '"'), raw), '"')
	}
	p.out.buf = append(b, "}\n"...)
}

// skipped appends a line for what lies before the first sync point.
func (p *Packets) skipped(st *rows.Stream, head int64) {
	const what = "before the first sync point"
	if p.JSON {
		b := source(append(p.out.buf, `{"type":"packet"`...), st)
		b = number(number(b, "trace_off", 0), "size", uint64(head))
		p.out.buf = append(word(word(b, "kind", "skipped"), "what", what), "}\n"...)
		return
	}
	b := append(p.start(st, 0), "# "...)
	b = strconv.AppendInt(b, head, 10)
	p.out.buf = append(append(b, " bytes "...), what+"\n"...)
}
