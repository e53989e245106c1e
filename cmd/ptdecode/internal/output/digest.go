package output

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
	"strconv"
	"sync"

	"github.com/ptdecode/ptdecode/decoder"
)

// digest is a sink that hashes the addresses of the instructions that each CPU
// retired, as little-endian 64-bit words. Each stream is hashed by a goroutine
// of its own.
type digest struct {
	streams []int // whose lines are written
	out     lines
	counter *Counter
	sums    []*sum // by stream; nil: nothing yet
	free    sync.Pool
	wg      sync.WaitGroup
}

// sum hashes one stream.
type sum struct {
	h    hash.Hash
	n    uint64 // instructions
	fill *[]byte
	work chan *[]byte
}

// digestBytes is how much is hashed at once, bytes.
const digestBytes = 64 << 10

// newDigest returns a digest of streams.
func newDigest(_ *Options, streams []int, out lines, c *Counter) Sink {
	d := &digest{streams: streams, out: out, counter: c, sums: make([]*sum, len(c.streams))}
	d.free.New = func() any {
		b := make([]byte, 0, digestBytes+8*1024)
		return &b
	}
	return d
}

// stream returns the sum of stream i.
func (d *digest) stream(i int) *sum {
	u := d.sums[i]
	if u == nil {
		u = &sum{h: sha256.New(), work: make(chan *[]byte, 4), fill: d.free.Get().(*[]byte)}
		d.sums[i] = u
		d.wg.Go(func() {
			for b := range u.work {
				u.h.Write(*b)
				*b = (*b)[:0]
				d.free.Put(b)
			}
		})
	}
	return u
}

// Flow adds what b holds.
func (d *digest) Flow(b *decoder.Batch) error {
	u := d.stream(b.Stream)
	buf := *u.fill
	for i := range b.Ranges {
		r := &b.Ranges[i]
		a := r.Block.Addr
		for _, l := range r.Block.Lens[:r.N] {
			buf = binary.LittleEndian.AppendUint64(buf, a)
			a += uint64(l)
		}
		u.n += uint64(r.N)
		d.counter.Add(int(r.N), r.Verdict)
		if len(buf) >= digestBytes {
			*u.fill = buf
			u.work <- u.fill
			u.fill = d.free.Get().(*[]byte)
			buf = *u.fill
		}
	}
	*u.fill = buf
	for i := range b.Notes {
		d.counter.note(b.Stream, &b.Notes[i], &d.out)
	}
	return nil
}

// Restart begins anew (decoder.Restarter).
func (d *digest) Restart() bool {
	for _, u := range d.sums {
		if u != nil {
			close(u.work)
		}
	}
	d.wg.Wait()
	clear(d.sums)
	d.counter.restart()
	return true
}

// Close ends the hashing. It writes one line "CPU INSTRUCTIONS SHA256" for each
// stream, in order of CPU, then of thread, even if nothing was executed in it.
func (d *digest) Close() error {
	for _, i := range d.streams {
		d.stream(i)
	}
	for _, u := range d.sums {
		if u != nil {
			u.work <- u.fill
			close(u.work)
		}
	}
	d.wg.Wait()
	for _, i := range inOrderOfCPU(d.streams, d.counter) {
		st, u := &d.counter.streams[i], d.sums[i]
		d.out.buf = append(d.out.buf, st.Short()...)
		d.out.buf = append(d.out.buf, ' ')
		d.out.buf = strconv.AppendUint(d.out.buf, u.n, 10)
		d.out.buf = append(d.out.buf, ' ')
		d.out.buf = appendBytes(d.out.buf, u.h.Sum(nil))
		d.out.buf = append(d.out.buf, '\n')
	}
	return d.out.flush()
}
