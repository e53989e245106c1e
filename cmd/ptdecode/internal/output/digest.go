// Package output holds the sinks of ptdecode: what turns decoded flow into
// lines on a writer, one file a format. It takes flow.Batch values as package
// decoder delivers them, for each stream in order, and keeps none of their
// memory. What the lines look like is docs/formats/output.md.
package output

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"slices"
	"sync"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/flow"
)

// Digest is a sink that hashes the addresses of the instructions that each CPU
// retired, as little-endian 64-bit words. Each stream is hashed by a goroutine
// of its own.
type Digest struct {
	s    *decoder.Session
	w    io.Writer
	gap  func(*flow.Note) error
	gaps uint64
	sums []*sum // by stream; nil: nothing yet
	free sync.Pool
	wg   sync.WaitGroup
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

// NewDigest returns a Digest that writes its lines to w when it is closed. gap
// is called for each gap as it is met.
func NewDigest(s *decoder.Session, w io.Writer, gap func(*flow.Note) error) *Digest {
	d := &Digest{s: s, w: w, gap: gap, sums: make([]*sum, len(s.Streams()))}
	d.free.New = func() any {
		b := make([]byte, 0, digestBytes+8*4096)
		return &b
	}
	return d
}

// stream returns the sum of stream i.
func (d *Digest) stream(i int) *sum {
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
func (d *Digest) Flow(b *flow.Batch) error {
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
		if len(buf) >= digestBytes {
			*u.fill = buf
			u.work <- u.fill
			u.fill = d.free.Get().(*[]byte)
			buf = *u.fill
		}
	}
	*u.fill = buf
	for i := range b.Notes {
		if b.Notes[i].Kind == flow.NoteGap {
			d.gaps++
			if err := d.gap(&b.Notes[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// Gaps returns how many gaps were met.
func (d *Digest) Gaps() uint64 { return d.gaps }

// Close ends the hashing and writes a line a stream, in order of CPU (then of
// thread, for a thread's stream, which is named tidN): also for one in which
// nothing was executed.
func (d *Digest) Close() error {
	for i := range d.sums {
		u := d.stream(i)
		u.work <- u.fill
		close(u.work)
	}
	d.wg.Wait()
	order := slices.Clone(d.s.Streams())
	slices.SortStableFunc(order, func(a, b *decoder.Stream) int {
		return cmp.Or(cmp.Compare(a.CPU, b.CPU), cmp.Compare(a.TID, b.TID))
	})
	for _, st := range order {
		u := d.sums[st.Index]
		if _, err := fmt.Fprintf(d.w, "%s %d %x\n", CPUName(st), u.n, u.h.Sum(nil)); err != nil {
			return err
		}
	}
	return nil
}

// CPUName returns how lines name a stream: its CPU's number, or tidN for a
// thread's.
func CPUName(st *decoder.Stream) string {
	if st.CPU < 0 {
		return fmt.Sprintf("tid%d", st.TID)
	}
	return fmt.Sprint(st.CPU)
}

// GapLines returns a function that tells each gap by say, as
// "<stream>+0x<off>: <reason> at <ip>: <what>".
func GapLines(s *decoder.Session, say func(format string, args ...any)) func(*flow.Note) error {
	return func(n *flow.Note) error {
		g := &n.Gap
		what := ""
		if g.What != "" {
			what = ": " + g.What
		}
		say("%s+0x%x: gap: %s at %016x, %d bytes of trace%s", s.Streams()[g.Stream].Name, g.Off, g.Reason, g.IP, g.End-g.Off, what)
		return nil
	}
}
