package shard

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"

	"github.com/klauspost/compress/zstd"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// replayer gives the flow that parts hold. Parts share its blocks: each is there once, as in
// the flow of one process.
type replayer struct {
	streams []*decoder.Stream
	blocks  map[string]*decoder.Block // by the machine, and what a part has of them
}

// newReplayer returns a replayer of the flow of streams.
func newReplayer(streams []*decoder.Stream) *replayer {
	return &replayer{streams: streams, blocks: map[string]*decoder.Block{}}
}

// errFlow is what is wrong with a part that holds what nothing writes.
var errFlow = errors.New("what it holds is no flow of this recording: run its shard again")

// reading is what is known of a part that is read.
type reading struct {
	*replayer
	in     *bufio.Reader
	wrong  bool
	blocks []*decoder.Block // by number, from 1 on
	tips   []following
	last   []uint32
	stamps []decoder.Stamp
	out    decoder.Batch
	text   []byte
}

// play gives sink the flow that body holds, and stops where that has enough.
func (p *replayer) play(body io.Reader, sink decoder.Sink) error {
	z, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(2))
	if err != nil {
		return err
	}
	defer z.Close()
	r := &reading{
		replayer: p, in: newIn(z), blocks: make([]*decoder.Block, 1), tips: make([]following, 1),
		last: make([]uint32, len(p.streams)), stamps: make([]decoder.Stamp, len(p.streams)),
	}
	return r.all(sink)
}

// newIn returns what reads of z.
func newIn(z io.Reader) *bufio.Reader { return bufio.NewReaderSize(z, 64<<10) }

// all gives sink all batches.
func (r *reading) all(sink decoder.Sink) error {
	for {
		more := r.batch()
		if r.wrong {
			return errFlow
		}
		if !more {
			return nil
		}
		if err := sink.Flow(&r.out); err != nil {
			return err
		}
	}
}

// number reads a number. Where there is none, what is read is wrong.
func (r *reading) number() uint64 {
	n, err := binary.ReadUvarint(r.in)
	r.wrong = r.wrong || err != nil
	return n
}

// signed reads a signed number.
func (r *reading) signed() int64 {
	n, err := binary.ReadVarint(r.in)
	r.wrong = r.wrong || err != nil
	return n
}

// count reads how many of something follow. It is no more than most.
func (r *reading) count(most int) int {
	n := r.number()
	if n > uint64(most) {
		r.wrong = true
	}
	if r.wrong {
		return 0
	}
	return int(n)
}

// byteOr0 reads a byte.
func (r *reading) byteOr0() byte {
	b, err := r.in.ReadByte()
	r.wrong = r.wrong || err != nil
	return b
}

// maxText and maxItems are more than a part has in one text, or of one kind in a batch.
const (
	maxText  = 1 << 16
	maxItems = 1 << 28
)

// bytes reads text. It is lent until the next call.
func (r *reading) bytes() []byte {
	n := r.count(maxText)
	if cap(r.text) < n {
		r.text = make([]byte, n)
	}
	_, err := io.ReadFull(r.in, r.text[:n])
	r.wrong = r.wrong || err != nil
	return r.text[:n]
}

// batch reads the next batch, and reports whether there is one.
func (r *reading) batch() bool {
	stream := r.count(len(r.streams))
	if stream == 0 {
		return false
	}
	b := &r.out
	b.Reset()
	b.Stream = stream - 1
	s := &r.stamps[b.Stream]
	for n := r.count(maxItems); n > 0 && !r.wrong; n-- {
		s.Off += r.signed()
		s.Time.Lo += uint64(r.signed())
		if s.Time.Hi = math.MaxUint64; r.number() != 0 {
			s.Time.Hi = s.Time.Lo + uint64(r.signed())
		}
		b.Stamps = append(b.Stamps, *s)
	}
	at := 0
	for n := r.count(maxItems); n > 0 && !r.wrong; n-- {
		at += r.count(maxItems)
		x := r.note()
		x.At = at
		b.Notes = append(b.Notes, x)
	}
	stamp := int64(0)
	for n := r.count(maxItems); n > 0 && !r.wrong; n-- {
		r.ran(b, &stamp)
	}
	if at > len(b.Ranges) {
		r.wrong = true
	}
	return true
}

// ran reads a range. stamp is that of the one before.
func (r *reading) ran(b *decoder.Batch, stamp *int64) {
	head, last := r.byteOr0(), &r.last[b.Stream]
	tips := &r.tips[*last]
	var n uint32
	switch head & blockBits {
	case blockNext:
		n = tips[0]
	case blockOther:
		n = tips[1]
	case blockKnown:
		n = uint32(r.count(len(r.blocks) - 1))
	case blockNew:
		n = uint32(len(r.blocks))
		r.blocks, r.tips = append(r.blocks, r.block()), append(r.tips, following{})
	}
	r.tips[*last].goes(n)
	*last = n
	if head&stampSame == 0 {
		*stamp += r.signed()
	}
	k := r.blocks[n]
	if k == nil || *stamp < 0 || *stamp >= int64(len(b.Stamps)) {
		r.wrong = true
		return
	}
	x := decoder.BatchRange{Block: k, Stamp: uint32(*stamp), N: k.N, Verdict: decoder.Verdict(head >> verdictAt)}
	if head&rangePart != 0 {
		x.N = uint16(r.count(int(k.N)))
	}
	if head&rangeDoes != 0 {
		x.MarkEither()
	}
	if x.N == 0 || x.Verdict > decoder.Ambiguous {
		r.wrong = true
		return
	}
	b.Ranges = append(b.Ranges, x)
}

// block reads a block.
func (r *reading) block() *decoder.Block {
	k := decoder.Block{Space: uint32(r.number()), Addr: r.number()}
	k.Span.From, k.Span.Until = event.Epoch(r.number()), event.Epoch(r.number())
	k.Target = k.Addr + uint64(r.signed())
	k.Class, k.Flags, k.Mode, k.Stop = isa.Class(r.number()), isa.Flags(r.number()), isa.Mode(r.number()), event.Reason(r.number())
	lens := r.bytes()
	if r.wrong || len(lens) == 0 {
		r.wrong = true
		return nil
	}
	key := binary.LittleEndian.AppendUint64(nil, k.Addr)
	for _, n := range [...]uint32{uint32(r.streams[r.out.Stream].Guest), k.Space, uint32(k.Span.From), uint32(k.Span.Until), uint32(k.Class)<<16 | uint32(k.Flags)<<8 | uint32(k.Mode)} {
		key = binary.LittleEndian.AppendUint32(key, n)
	}
	key = append(key, lens...)
	known := r.replayer.blocks[string(key)]
	if known == nil {
		k.Lens = append([]byte(nil), lens...)
		k.N = uint16(len(lens))
		known = k.Part(0, len(lens)) // which knows its last instruction
		known.Number = uint32(len(r.replayer.blocks))
		r.replayer.blocks[string(key)] = known
	}
	return known
}

// note reads a note, but for its place.
func (r *reading) note() (n decoder.Note) {
	n.Kind, n.Verdict, n.Trap = decoder.NoteKind(r.number()), decoder.Verdict(r.number()), decoder.TrapKind(r.number())
	n.Poke, n.IP, n.Space = int(r.signed()), r.number(), uint32(r.number())
	e, g := &n.Event, &n.Gap
	e.Kind, e.Detail, e.Flags = event.Kind(r.number()), event.Detail(r.number()), event.Flags(r.number())
	e.N, e.Mode, e.Reason, e.Last = uint8(r.number()), uint8(r.number()), event.Reason(r.number()), uint8(r.number())
	e.IP, e.From, e.Value, e.Value2 = r.number(), r.number(), r.number(), r.number()
	e.Off, e.End, e.Time.Lo, e.Time.Hi = int64(r.number()), int64(r.number()), r.number(), r.number()
	g.Reason, g.Stream = event.Reason(r.number()), int(r.number())
	g.Off, g.End, g.IP, g.Time.Lo, g.Time.Hi = int64(r.number()), int64(r.number()), r.number(), r.number(), r.number()
	g.What = string(r.bytes())
	for i := r.count(maxText); i > 0 && !r.wrong; i-- {
		n.Others = append(n.Others, decoder.Stretch{IP: r.number(), End: r.number(), N: int(r.signed()), At: event.Epoch(r.number())})
	}
	return n
}
