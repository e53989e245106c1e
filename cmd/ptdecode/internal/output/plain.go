package output

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// plainLines writes the lines of stretches of flow (rows.Options.Plain). Of a line, the front
// depends on the stream and the time alone, and is written once for each time. The rest
// depends on the block alone, and on where it leads: it is kept. An encoder of whole rows,
// which writes both at first, is the slow twin.
type plainLines struct {
	names       *rows.Names
	level       rows.Level
	fields      []Field
	front, full encoder
	tail        int // bytes behind the fields of a line of front
	text        []byte
	kept        []keptLines // by slotOf
	calls       []keptCall  // by Row.Number
	now         moment      // of the front, of calls
}

// keptLines is what follows the fronts of the lines of a block.
type keptLines struct {
	block   *decoder.Block
	next    uint64
	n       uint16
	verdict decoder.Verdict
	text    []byte
	ends    []int // of each line in text
}

// keptBits says how many blocks' lines are kept, as a power of two.
const keptBits = 14

// plainFields returns how many of the fields make a line's front, ok if the others depend
// neither on the time nor on the stream.
func plainFields(fields []Field) (front int, ok bool) {
	timed := func(f Field) bool { return f == Time || f == CPU || f == TID || f == Comm }
	for front < len(fields) && timed(fields[front]) {
		front++
	}
	return front, !slices.ContainsFunc(fields[front:], func(f Field) bool { return timed(f) || f == SrcLine || f == Inlines })
}

// newPlain returns what writes o's lines of stretches, nil where whole rows are needed.
func newPlain(names *rows.Names, o *Options) *plainLines {
	n, ok := plainFields(o.Fields)
	tail, known := map[string]int{"text": len("\n"), "tsv": len("\t\n")}[o.Format.Name]
	if !ok || !known || o.Look != (Look{}) {
		return nil
	}
	p := &plainLines{names: names, level: o.Level, fields: o.Fields, tail: tail, full: o.Format.fromRows(names, o.Fields, &o.Look)}
	if o.Level != rows.LevelCall {
		p.kept = make([]keptLines, 1<<keptBits)
	}
	if n > 0 {
		p.front = o.Format.fromRows(names, o.Fields[:n:n], &o.Look)
	}
	return p
}

// lines appends the lines of the first n ranges of b.
func (p *plainLines) lines(dst []byte, st *rows.Stream, b *decoder.Batch, n int) []byte {
	stamp := ^uint32(0)
	next := uint64(0)
	for i := range b.Ranges[:n] {
		x := &b.Ranges[i]
		if x.Stamp != stamp {
			stamp = x.Stamp
			p.begins(&rows.Row{Stream: st, Time: b.Stamps[x.Stamp].Time, Poke: -1, IP: x.Block.Addr, Space: x.Block.Space})
		}
		if p.level == rows.LevelBranch {
			next = b.After(i).Addr
			if k := x.Block; k.Class == isa.Cond && (next != k.Target || next == k.End) {
				continue // it was not taken
			}
		}
		k := &p.kept[(x.Block.Addr^next<<1)*0x9e3779b97f4a7c15>>(64-keptBits)]
		if k.block != x.Block || k.next != next || k.n != x.N || k.verdict != x.Verdict {
			*k = keptLines{x.Block, next, x.N, x.Verdict, k.text[:0], k.ends[:0]}
			if !p.keep(k, st, b, i) {
				k.block = nil
			}
		}
		if p.front == nil {
			dst = append(dst, k.text...)
			continue
		}
		from := 0
		for _, end := range k.ends {
			dst = append(append(dst, p.text...), k.text[from:end]...)
			from = end
		}
	}
	return dst
}

// begins makes the front of the lines that have the time and stream of r.
func (p *plainLines) begins(r *rows.Row) {
	if p.front != nil {
		p.text = p.front.row(p.text[:0], r)
		p.text = p.text[:len(p.text)-p.tail]
	}
}

// keep makes the lines of range i of b, without their fronts: ok if they are the same
// whenever it runs.
func (p *plainLines) keep(k *keptLines, st *rows.Stream, b *decoder.Batch, i int) (ok bool) {
	ok = true
	p.names.Rows(p.level, st, b, i, func(r *rows.Row) {
		at := len(k.text)
		k.text = p.full.row(k.text, r)
		if p.front != nil {
			k.text = append(k.text[:at], k.text[at+len(p.text):]...)
		}
		k.ends = append(k.ends, len(k.text))
		ok = ok && p.lasts(r)
	})
	return ok
}

// lasts reports whether r has the same line at all times, but for its front.
func (p *plainLines) lasts(r *rows.Row) bool {
	for _, f := range p.fields {
		switch f {
		case Sym, Off, DSO:
			if !p.names.Lasting(r, r.IP) || r.HasAddr && !p.names.Lasting(r, r.Addr) {
				return false
			}
		case Disasm:
			if !p.names.LastingDisasm(r) {
				return false
			}
		}
	}
	return true
}
