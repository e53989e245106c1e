package output

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/ptdecode/ptdecode/decoder"
)

// digestPart is a sink that writes what digest hashes of a shard's part. A hash cannot be
// put together from those of parts, so JoinDigests makes it of what they hold.
//
// First comes a line of words INDEX:NAME, in the order in which digest prints the streams.
// Then come numbers, each a uvarint: a stream's index and how many ranges follow. A range
// is 2*ID where its block came before and was called ID. Else it is 2*ID+1, the block's first
// address, how many instructions, and a byte for the length of each. ID 0 is never named
// again.
type digestPart struct {
	out     lines
	counter *Counter
	ids     map[partBlock]uint64
}

// partBlock names instructions in a row.
type partBlock struct {
	block *decoder.Block
	n     int
}

// maxPartBlocks is how many blocks a part names by a number.
const maxPartBlocks = 1 << 18

func newDigestPart(_ *Options, streams []int, out lines, c *Counter) Sink {
	for i, s := range inOrderOfCPU(streams, c) {
		if i > 0 {
			out.buf = append(out.buf, ' ')
		}
		out.buf = append(strconv.AppendInt(out.buf, int64(s), 10), ':')
		out.buf = append(out.buf, c.streams[s].Short()...)
	}
	out.buf = append(out.buf, '\n')
	return &digestPart{out: out, counter: c, ids: map[partBlock]uint64{}}
}

// inOrderOfCPU returns streams in order of CPU, then of thread.
func inOrderOfCPU(streams []int, c *Counter) []int {
	order := slices.Clone(streams)
	slices.SortStableFunc(order, func(a, b int) int {
		s, t := &c.streams[a], &c.streams[b]
		return cmp.Or(cmp.Compare(s.CPU, t.CPU), cmp.Compare(s.TID, t.TID))
	})
	return order
}

// Flow writes what b holds.
func (d *digestPart) Flow(b *decoder.Batch) error {
	buf := binary.AppendUvarint(d.out.buf, uint64(b.Stream))
	buf = binary.AppendUvarint(buf, uint64(len(b.Ranges)))
	for i := range b.Ranges {
		r := &b.Ranges[i]
		d.counter.Add(int(r.N), r.Verdict)
		k := partBlock{r.Block, int(r.N)}
		id, known := d.ids[k]
		if known {
			buf = binary.AppendUvarint(buf, 2*id)
			continue
		}
		if len(d.ids) < maxPartBlocks {
			id = uint64(len(d.ids)) + 1
			d.ids[k] = id
		}
		buf = binary.AppendUvarint(buf, 2*id+1)
		buf = binary.AppendUvarint(buf, r.Block.Addr)
		buf = binary.AppendUvarint(buf, uint64(r.N))
		buf = append(buf, r.Block.Lens[:r.N]...)
	}
	d.out.buf = buf
	for i := range b.Notes {
		d.counter.note(b.Stream, &b.Notes[i], &d.out)
	}
	return d.out.full()
}

// Close writes what is left.
func (d *digestPart) Close() error { return d.out.flush() }

// errPart is what is wrong with a part that does not hold what digestPart writes.
var errPart = errors.New("a part of --digest is damaged: run its shard again")

// JoinDigests writes what --digest writes of all that parts hold, in their order.
func JoinDigests(parts []io.Reader, w io.Writer) error {
	var names []string
	sums := map[string]*joined{}
	for _, p := range parts {
		r := bufio.NewReaderSize(p, 64<<10)
		line, err := r.ReadString('\n')
		if err != nil {
			return errPart
		}
		names = strings.Fields(line)
		of := map[uint64]*joined{}
		for _, name := range names {
			index, _, _ := strings.Cut(name, ":")
			i, err := strconv.ParseUint(index, 10, 31)
			if err != nil {
				return errPart
			}
			if sums[name] == nil {
				sums[name] = &joined{h: sha256.New()}
			}
			of[i] = sums[name]
		}
		if err := joinDigest(r, of); err != nil {
			return err
		}
	}
	for _, name := range names {
		_, short, _ := strings.Cut(name, ":")
		if _, err := fmt.Fprintf(w, "%s %d %x\n", short, sums[name].n, sums[name].h.Sum(nil)); err != nil {
			return err
		}
	}
	return nil
}

// joined is the digest of a stream.
type joined struct {
	h hash.Hash
	n uint64 // instructions
}

// joinDigest adds what a part holds to the digests of streams.
func joinDigest(r *bufio.Reader, of map[uint64]*joined) error {
	blocks := [][]byte{nil}
	for {
		stream, err := binary.ReadUvarint(r)
		if err == io.EOF {
			return nil
		}
		n, e := binary.ReadUvarint(r)
		u := of[stream]
		if err != nil || e != nil || u == nil {
			return errPart
		}
		for range n {
			id, err := binary.ReadUvarint(r)
			if err != nil {
				return errPart
			}
			var words []byte
			switch {
			case id&1 != 0:
				if words, err = readBlock(r); err != nil {
					return errPart
				}
				if id > 1 {
					blocks = append(blocks, words)
				}
			case id/2 < uint64(len(blocks)):
				words = blocks[id/2]
			default:
				return errPart
			}
			u.n += uint64(len(words)) / 8
			u.h.Write(words)
		}
	}
}

// readBlock reads a block: the addresses of its instructions, as 64-bit words.
func readBlock(r *bufio.Reader) ([]byte, error) {
	addr, err := binary.ReadUvarint(r)
	if err != nil {
		return nil, err
	}
	n, err := binary.ReadUvarint(r)
	if err != nil || n > 1<<16 {
		return nil, errPart
	}
	words := make([]byte, 0, 8*n)
	for range n {
		words = binary.LittleEndian.AppendUint64(words, addr)
		size, err := r.ReadByte()
		if err != nil {
			return nil, err
		}
		addr += uint64(size)
	}
	return words, nil
}
