package shard

import (
	"encoding/binary"
	"math"

	"github.com/klauspost/compress/zstd"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// Flow in a part is batches, one behind the other, packed by zstd: a stream's index plus one,
// stamps, notes, ranges; 0 is the end. Numbers are LEB128, signed ones zigzag.
//
// A range is a byte, and what the byte says follows: its block, its stamp, how much of the block
// ran. Blocks are numbered as they come. Most are one of the two that followed the one before
// lately.
const (
	blockBits  = 3 // the block:
	blockNext  = 0 // that which followed last time
	blockOther = 1 // that which followed before that
	blockKnown = 2 // its number follows
	blockNew   = 3 // all of it follows

	stampSame = 1 << 2 // the stamp of the range before; else what it is more follows
	rangePart = 1 << 3 // how many instructions ran follows; else all
	rangeDoes = 1 << 4 // BatchRange.Either
	verdictAt = 5
)

// recorder writes flow to a part. It is a Sink of the flow in order.
type recorder struct {
	zip          *zstd.Encoder
	out          []byte
	numbers      map[*decoder.Block]uint32
	tips         []following // by block
	last         []uint32    // by stream: the block before
	stamps       []decoder.Stamp
	gaps         uint64
	contradicted bool // by the trace: the code is another one than what ran
}

// following is the numbers of the blocks that followed one lately, the newest first.
type following [2]uint32

// goes notes that to follows, in front of what did before.
func (f *following) goes(to uint32) {
	if f[0] != to {
		f[0], f[1] = to, f[0]
	}
}

// writeBytes is how much is packed at once, bytes.
const writeBytes = 64 << 10

// newRecorder returns a recorder of the flow of so many streams that writes to p.
func newRecorder(p *Part, streams int) (*recorder, error) {
	z, err := zstd.NewWriter(p, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	return &recorder{
		zip: z, numbers: map[*decoder.Block]uint32{}, last: make([]uint32, streams), stamps: make([]decoder.Stamp, streams),
		tips: make([]following, 1), // number 0: before the first block of a stream
	}, err
}

// Flow writes b, if it is of the shard's own part.
func (r *recorder) Flow(b *decoder.Batch) error {
	if b.Part != 0 {
		return nil
	}
	first, stamps := needed(b)
	r.put(uint64(b.Stream) + 1)
	r.put(uint64(len(stamps)))
	for i := range stamps {
		r.stamp(&r.stamps[b.Stream], &stamps[i])
	}
	r.put(uint64(len(b.Notes)))
	at := 0
	for i := range b.Notes {
		if b.Notes[i].Kind == decoder.NoteGap {
			r.gaps++
			r.contradicted = r.contradicted || b.Notes[i].Gap.Reason.Contradicts()
		}
		r.put(uint64(b.Notes[i].At - at))
		at = b.Notes[i].At
		r.putNote(&b.Notes[i])
	}
	r.put(uint64(len(b.Ranges)))
	stamp, last := first, r.last[b.Stream]
	for i := range b.Ranges {
		x := &b.Ranges[i]
		last = r.putRange(x, stamp, last)
		stamp = x.Stamp
	}
	r.last[b.Stream] = last
	if len(r.out) < writeBytes {
		return nil
	}
	return r.flush()
}

// needed returns those of b's stamps that its ranges have, and the one that comes behind; first
// is the index of the first.
func needed(b *decoder.Batch) (first uint32, list []decoder.Stamp) {
	if len(b.Ranges) == 0 {
		return 0, nil
	}
	first = b.Ranges[0].Stamp
	until := first
	for i := range b.Ranges {
		first, until = min(first, b.Ranges[i].Stamp), max(until, b.Ranges[i].Stamp)
	}
	place := b.Stamps[until].Off
	for until++; int(until) < len(b.Stamps); until++ {
		if b.Stamps[until].Off != place {
			until++
			break
		}
	}
	return first, b.Stamps[first:until]
}

// flush packs what there is.
func (r *recorder) flush() error {
	_, err := r.zip.Write(r.out)
	r.out = r.out[:0]
	return err
}

// Close ends the flow.
func (r *recorder) Close() error {
	r.put(0)
	if err := r.flush(); err != nil {
		return err
	}
	return r.zip.Close()
}

func (r *recorder) put(n uint64)      { r.out = binary.AppendUvarint(r.out, n) }
func (r *recorder) putSigned(n int64) { r.out = binary.AppendVarint(r.out, n) }

// text writes a string.
func (r *recorder) text(s string) {
	r.put(uint64(len(s)))
	r.out = append(r.out, s...)
}

// moment writes t, by how much it is behind from. 0 stands for an upper bound that is not known.
func (r *recorder) moment(from uint64, t event.Time) {
	r.putSigned(int64(t.Lo - from))
	if t.Hi == math.MaxUint64 {
		r.put(0)
		return
	}
	r.put(1)
	r.putSigned(int64(t.Hi - t.Lo))
}

// stamp writes s, by what it is more than last.
func (r *recorder) stamp(last, s *decoder.Stamp) {
	r.putSigned(s.Off - last.Off)
	r.moment(last.Time.Lo, s.Time)
	*last = *s
}

// putRange writes x, and returns the number of its block. stamp and last are of the range before.
func (r *recorder) putRange(x *decoder.BatchRange, stamp, last uint32) uint32 {
	at := len(r.out)
	head := byte(x.Verdict) << verdictAt
	r.out = append(r.out, 0)
	n, known := r.numbers[x.Block]
	tips := &r.tips[last]
	switch {
	case known && n == tips[0]:
		head |= blockNext
	case known && n == tips[1]:
		head |= blockOther
	case known:
		head |= blockKnown
		r.put(uint64(n))
	default:
		head |= blockNew
		n = uint32(len(r.tips))
		r.numbers[x.Block] = n
		r.tips = append(r.tips, following{})
		r.putBlock(x.Block)
	}
	r.tips[last].goes(n)
	if x.Stamp == stamp {
		head |= stampSame
	} else {
		r.putSigned(int64(x.Stamp) - int64(stamp))
	}
	if x.N != x.Block.N {
		head |= rangePart
		r.put(uint64(x.N))
	}
	if x.Either() {
		head |= rangeDoes
	}
	r.out[at] = head
	return n
}

// putBlock writes b.
func (r *recorder) putBlock(b *decoder.Block) {
	r.put(uint64(b.Space))
	r.put(b.Addr)
	r.put(uint64(b.Span.From))
	r.put(uint64(b.Span.Until))
	r.putSigned(int64(b.Target - b.Addr))
	r.put(uint64(b.Class))
	r.put(uint64(b.Flags))
	r.put(uint64(b.Mode))
	r.put(uint64(b.Stop))
	r.text(string(b.Lens[:b.N]))
}

// putNote writes n, but for its place.
func (r *recorder) putNote(n *decoder.Note) {
	r.put(uint64(n.Kind))
	r.put(uint64(n.Verdict))
	r.put(uint64(n.Trap))
	r.putSigned(int64(n.Poke))
	r.put(n.IP)
	r.put(uint64(n.Space))
	e, g := &n.Event, &n.Gap
	for _, v := range [...]uint64{
		uint64(e.Kind), uint64(e.Detail), uint64(e.Flags), uint64(e.N), uint64(e.Mode), uint64(e.Reason), uint64(e.Last),
		e.IP, e.From, e.Value, e.Value2, uint64(e.Off), uint64(e.End), e.Time.Lo, e.Time.Hi,
		uint64(g.Reason), uint64(g.Stream), uint64(g.Off), uint64(g.End), g.IP, g.Time.Lo, g.Time.Hi,
	} {
		r.put(v)
	}
	r.text(g.What)
	r.put(uint64(len(n.Others)))
	for _, o := range n.Others {
		r.put(o.IP)
		r.put(o.End)
		r.putSigned(int64(o.N))
		r.put(uint64(o.At))
	}
}
