package output

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// addresses is a sink for the fixed forms of the level insn: a line "CPU IP" or
// "CPU IP VERDICT" for each instruction, in the order of each CPU. It formats
// nothing else, and does so fast.
type addresses struct {
	out     lines
	prefix  [][]byte // by stream
	suffix  [][]byte // by verdict: the line's end
	counter *Counter
}

// newAddresses returns the sink for a fixed form, nil if o asks for another one.
func newAddresses(o *Options, _ []int, out lines, c *Counter) Sink {
	withVerdict := slices.Equal(o.Fields, []Field{CPU, IP, Verdict})
	if o.Level != rows.LevelInsn || !withVerdict && !slices.Equal(o.Fields, []Field{CPU, IP}) {
		return nil
	}
	if o.Events || o.Reverse || o.Filters() {
		return nil
	}
	a := &addresses{out: out, counter: c}
	for i := range c.streams {
		a.prefix = append(a.prefix, append([]byte(c.streams[i].Short()), ' '))
	}
	for v := decoder.Certain; v <= decoder.Ambiguous; v++ {
		end := "\n"
		if withVerdict {
			end = " " + v.String() + "\n"
		}
		a.suffix = append(a.suffix, []byte(end))
	}
	return a
}

// Flow prints b.
func (a *addresses) Flow(b *decoder.Batch) error {
	buf, prefix, notes := a.out.buf, a.prefix[b.Stream], b.Notes
	for i := range b.Ranges {
		for len(notes) > 0 && notes[0].At <= i {
			a.out.buf = buf
			a.counter.note(b.Stream, &notes[0], &a.out)
			buf, notes = a.out.buf, notes[1:]
		}
		r := &b.Ranges[i]
		suffix := a.suffix[r.Verdict]
		ip := r.Block.Addr
		for _, l := range r.Block.Lens[:r.N] {
			buf = append(buf, prefix...)
			buf = appendHex16(buf, ip)
			buf = append(buf, suffix...)
			ip += uint64(l)
		}
		a.counter.Add(int(r.N), r.Verdict)
	}
	a.out.buf = buf
	for i := range notes {
		a.counter.note(b.Stream, &notes[i], &a.out)
	}
	return a.out.full()
}

// Close writes what is left.
func (a *addresses) Close() error { return a.out.flush() }
