package output

import (
	"crypto/sha256"
	"hash"
	"strconv"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// runs is a sink that prints what each stream executed as runs. A run is
// instructions of one instruction set that were executed in a row and lie in a
// row in memory. A run ends where something may hide what else was executed: at a
// gap, at an exception or a return from one, where tracing stops or starts.
//
// For each run it prints a line "STREAM ISA START END INSTRUCTIONS". With digest
// it prints one line "STREAM INSTRUCTIONS RUNS SHA256" for each stream. The hash
// is over the lines of its runs without the first word.
type runs struct {
	streams []int // whose digests are written
	digest  bool
	out     lines
	counter *Counter
	open    []run // by stream
	scratch []byte
}

// run is the run of one stream that is being made, and what came before it.
type run struct {
	begun      bool
	mode       isa.Mode
	start, end uint64 // its addresses, the end excluded
	n          uint64 // its instructions

	insns, runs uint64 // of the runs before
	sum         hash.Hash
}

func newRuns(_ *Options, streams []int, out lines, c *Counter) Sink {
	r := &runs{streams: streams, out: out, counter: c, open: make([]run, len(c.streams))}
	for i := range r.open {
		r.open[i].sum = sha256.New()
	}
	return r
}

func newRunsDigest(o *Options, streams []int, out lines, c *Counter) Sink {
	r := newRuns(o, streams, out, c).(*runs)
	r.digest = true
	return r
}

// Flow adds what b holds.
func (r *runs) Flow(b *decoder.Batch) error {
	n := 0
	for i := 0; i <= len(b.Ranges); i++ {
		for ; n < len(b.Notes) && b.Notes[n].At <= i; n++ {
			if endsRun(&b.Notes[n]) {
				r.close(b.Stream)
			}
			r.counter.note(b.Stream, &b.Notes[n], &r.out)
		}
		if i < len(b.Ranges) {
			r.ran(b.Stream, &b.Ranges[i])
		}
	}
	return r.out.full()
}

// ran adds a range.
func (r *runs) ran(stream int, x *decoder.BatchRange) {
	u, k := &r.open[stream], x.Block
	if !u.begun || u.end != k.Addr || u.mode != k.Mode {
		r.close(stream)
		u.begun, u.mode, u.start, u.n = true, k.Mode, k.Addr, 0
	}
	u.end = x.End()
	u.n += uint64(x.N)
	r.counter.Add(int(x.N), x.Verdict)
	if r.counter.streams[stream].SilentReturn(x) {
		r.close(stream)
	}
}

// endsRun reports whether n parts the run before it from the one behind it.
func endsRun(n *decoder.Note) bool {
	switch n.Kind {
	case decoder.NoteGap:
		return n.Gap.Reason != event.Reserved // the flow goes on there
	case decoder.NoteTrap, decoder.NoteTrackOff:
		return true
	case decoder.NoteEvent:
		switch n.Event.Kind {
		case event.Async, event.AsyncDisable, event.Off, event.Overflow, event.Disable:
			return true
		}
		return n.Event.Detail == event.DetailExceptionRet
	}
	return false
}

// close ends the run of a stream, if it has one.
func (r *runs) close(stream int) {
	u := &r.open[stream]
	if !u.begun {
		return
	}
	u.begun = false
	u.insns += u.n
	u.runs++
	b := append(append(r.scratch[:0], rows.ISAName(u.mode)...), ' ')
	b = append(appendHex16(b, u.start), ' ')
	b = append(appendHex16(b, u.end), ' ')
	b = append(strconv.AppendUint(b, u.n, 10), '\n')
	if r.scratch = b; r.digest {
		u.sum.Write(b)
		return
	}
	r.out.buf = append(append(r.out.buf, r.counter.streams[stream].Short()...), ' ')
	r.out.buf = append(r.out.buf, b...)
}

// Close ends the last runs and writes what is left.
func (r *runs) Close() error {
	for i := range r.open {
		r.close(i)
	}
	if !r.digest {
		return r.out.flush()
	}
	for _, i := range r.streams {
		u := &r.open[i]
		b := append(append(r.out.buf, r.counter.streams[i].Short()...), ' ')
		b = append(strconv.AppendUint(b, u.insns, 10), ' ')
		b = append(strconv.AppendUint(b, u.runs, 10), ' ')
		r.out.buf = append(appendBytes(b, u.sum.Sum(nil)), '\n')
	}
	return r.out.flush()
}
