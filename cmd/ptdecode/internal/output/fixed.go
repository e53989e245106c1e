package output

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/flow"
)

// Addresses is a sink for the fixed forms of the level insn: "CPU IP" or
// "CPU IP VERDICT" an instruction, in each CPU's order. It formats nothing but
// these and does so fast.
type Addresses struct {
	out     lines
	prefix  [][]byte // by stream
	suffix  [][]byte // by verdict: the line's end
	counter *Counter
}

// IsFixed reports whether fields are those of a fixed form.
func IsFixed(l Level, fields []Field) bool {
	return l == LevelInsn && (slices.Equal(fields, []Field{CPU, IP}) || slices.Equal(fields, []Field{CPU, IP, Verdict}))
}

// newAddresses returns the sink for fields, which are a fixed form's.
func newAddresses(streams []Stream, out lines, fields []Field, c *Counter) *Addresses {
	a := &Addresses{out: out, counter: c}
	for i := range streams {
		a.prefix = append(a.prefix, append([]byte(streams[i].short()), ' '))
	}
	for v := flow.Certain; v <= flow.Ambiguous; v++ {
		end := "\n"
		if len(fields) > 2 {
			end = " " + v.String() + "\n"
		}
		a.suffix = append(a.suffix, []byte(end))
	}
	return a
}

// Flow prints b.
func (a *Addresses) Flow(b *flow.Batch) error {
	buf, prefix, notes := a.out.buf, a.prefix[b.Stream], b.Notes
	for i := range b.Ranges {
		for len(notes) > 0 && notes[0].At <= i {
			a.out.buf = buf
			if err := a.counter.note(b.Stream, &notes[0], &a.out); err != nil {
				return err
			}
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
		a.counter.count(r)
	}
	a.out.buf = buf
	for i := range notes {
		if err := a.counter.note(b.Stream, &notes[i], &a.out); err != nil {
			return err
		}
	}
	return a.out.full()
}

// Close writes what is left.
func (a *Addresses) Close() error { return a.out.flush() }
