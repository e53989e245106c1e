package output

import (
	"crypto/sha256"
	"hash"
	"strconv"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
)

// Runs is a sink that prints what each stream executed as runs. A run is
// instructions executed one behind the other in memory, in one instruction set,
// with nothing between them that may hide what else was executed: a gap, an
// exception or a return from one, tracing that stops or starts.
//
// It prints a line "STREAM ISA START END INSTRUCTIONS" a run, or with digest a line
// "STREAM INSTRUCTIONS RUNS SHA256" a stream, the hash over the lines of its runs
// without the first word.
type Runs struct {
	streams []int // whose digests are written
	digest  bool
	out     lines
	counter *Counter
	lanes   []runLane
	scratch []byte
}

// runLane is the runs of one stream.
type runLane struct {
	open       bool // a run is being made
	mode       isa.Mode
	start, end uint64 // its addresses, the end excluded
	n          uint64 // its instructions

	insns, runs uint64
	sum         hash.Hash
}

// newRuns returns a Runs of streams.
func newRuns(streams []int, digest bool, out lines, c *Counter) *Runs {
	r := &Runs{streams: streams, digest: digest, out: out, counter: c, lanes: make([]runLane, len(c.streams))}
	for i := range r.lanes {
		r.lanes[i].sum = sha256.New()
	}
	return r
}

// Flow adds what b holds.
func (r *Runs) Flow(b *flow.Batch) error {
	n := 0
	for i := 0; i <= len(b.Ranges); i++ {
		for ; n < len(b.Notes) && b.Notes[n].At <= i; n++ {
			if endsRun(&b.Notes[n]) {
				r.close(b.Stream)
			}
			if err := r.counter.note(b.Stream, &b.Notes[n], &r.out); err != nil {
				return err
			}
		}
		if i < len(b.Ranges) {
			r.ran(b.Stream, &b.Ranges[i])
		}
	}
	return r.out.full()
}

// ran adds a range.
func (r *Runs) ran(stream int, x *flow.Range) {
	ln, k := &r.lanes[stream], x.Block
	if !ln.open || ln.end != k.Addr || ln.mode != k.Mode {
		r.close(stream)
		ln.open, ln.mode, ln.start, ln.n = true, k.Mode, k.Addr, 0
	}
	ln.end = rangeEnd(x)
	ln.n += uint64(x.N)
	r.counter.count(x)
	if returnsHere(&r.counter.streams[stream], x) {
		r.close(stream)
	}
}

// rangeEnd returns the address behind the last instruction of x.
func rangeEnd(x *flow.Range) uint64 {
	if x.N == x.Block.N {
		return x.Block.End
	}
	a := x.Block.Addr
	for _, l := range x.Block.Lens[:x.N] {
		a += uint64(l)
	}
	return a
}

// returnsHere reports whether x ends in an exception return of which st has no
// packet.
func returnsHere(st *Stream, x *flow.Range) bool {
	return st.SilentReturns && x.N == x.Block.N && x.Block.Class == isa.FarReturn && x.Block.Mode == isa.ModeA64
}

// endsRun reports whether what lies on both sides of n is not one run.
func endsRun(n *flow.Note) bool {
	switch n.Kind {
	case flow.NoteGap:
		return n.Gap.Reason != event.Reserved // the flow goes on there
	case flow.NoteTrap, flow.NoteTrackOff:
		return true
	case flow.NoteEvent:
		switch n.Event.Kind {
		case event.Async, event.AsyncDisable, event.Off, event.Overflow, event.Disable:
			return true
		}
		return n.Event.Detail == event.DetailExceptionRet
	}
	return false
}

// close ends the run of a stream, if it has one.
func (r *Runs) close(stream int) {
	ln := &r.lanes[stream]
	if !ln.open {
		return
	}
	ln.open = false
	ln.insns += ln.n
	ln.runs++
	b := append(append(r.scratch[:0], isaName(ln.mode)...), ' ')
	b = append(appendHex16(b, ln.start), ' ')
	b = append(appendHex16(b, ln.end), ' ')
	b = append(strconv.AppendUint(b, ln.n, 10), '\n')
	if r.scratch = b; r.digest {
		ln.sum.Write(b)
		return
	}
	r.out.buf = append(append(r.out.buf, r.counter.streams[stream].short()...), ' ')
	r.out.buf = append(r.out.buf, b...)
}

// Close ends the last runs and writes what is left.
func (r *Runs) Close() error {
	for i := range r.lanes {
		r.close(i)
	}
	if !r.digest {
		return r.out.flush()
	}
	for _, i := range r.streams {
		ln := &r.lanes[i]
		b := append(append(r.out.buf, r.counter.streams[i].short()...), ' ')
		b = append(strconv.AppendUint(b, ln.insns, 10), ' ')
		b = append(strconv.AppendUint(b, ln.runs, 10), ' ')
		r.out.buf = append(appendBytes(b, ln.sum.Sum(nil)), '\n')
	}
	return r.out.flush()
}

// isaName names a mode as runs and elements do.
func isaName(m isa.Mode) string {
	switch m {
	case isa.ModeA64:
		return "A64"
	case isa.ModeA32:
		return "A32"
	case isa.ModeT32:
		return "T32"
	}
	return m.String()
}
