package output

import (
	"context"
	"io"
	"iter"

	"github.com/ptdecode/ptdecode/cmd/internal/plural"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// Packets prints the packets of streams.
type Packets struct {
	JSON bool // JSON Lines, not text
	Raw  bool // with the packets' bytes
	Bad  uint64

	out lines
}

// NewPackets returns a Packets that writes to w.
func NewPackets(w io.Writer) *Packets { return &Packets{out: lines{w: w}} }

// Stream prints the packets of st from its first sync point on, each with its
// offset in the stream. Bytes before that point, and bytes that are no packet, are
// a line of their own.
//
// head is how many bytes lie before the first sync point. packets gives what is
// behind it, in order, each packet with its first bytes.
func (p *Packets) Stream(ctx context.Context, st *rows.Stream, head int64, packets iter.Seq2[decoder.PacketLister, []byte]) error {
	if head > 0 {
		p.skipped(st, head)
	}
	n := 0
	for k, raw := range packets {
		if n++; n%1024 == 0 && ctx.Err() != nil {
			break
		}
		raw = raw[:min(len(raw), maxRaw)]
		if _, bad := k.Kind(); bad {
			p.Bad++
		}
		if p.JSON {
			p.object(st, k, raw)
		} else {
			p.line(st, k, raw)
		}
		if err := p.out.full(); err != nil {
			return err
		}
	}
	return ctx.Err()
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

// line appends k, which begins with raw, as text.
func (p *Packets) line(st *rows.Stream, k decoder.PacketLister, raw []byte) {
	off, size := k.Place()
	b := p.start(st, off)
	if p.Raw {
		from := len(b)
		b = appendBytes(b, raw)
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

// object appends k, which begins with raw, as JSON.
func (p *Packets) object(st *rows.Stream, k decoder.PacketLister, raw []byte) {
	off, size := k.Place()
	kind, bad := k.Kind()
	b := source(append(p.out.buf, `{"type":"packet"`...), st)
	b = number(b, "trace_off", uint64(off))
	if bad {
		b = fileOff(b, st, off)
	}
	b = number(b, "size", uint64(size))
	b = name(b, "kind", kind)
	if bad {
		b = name(b, "what", k.String())
	} else {
		b = name(b, "packet", string(k.AppendText(nil, raw)))
		b = k.AppendFields(key(b, "fields"))
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
	p.out.buf = append(b, plural.Count(head, "byte")+" "+what+"\n"...)
}
