package story

import (
	"cmp"
	"context"
	"encoding/hex"
	"slices"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/report"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// Source is a recording of which stories are told.
type Source struct {
	Session  *decoder.Session
	Streams  []rows.Stream // those of the session, as rows name them
	Jobs     int
	Progress func(done, total int64)
	NoFlow   bool // only what records say: nothing is decoded
}

// Whole tells all that is known of the pokes with the numbers given, in the order of
// time. gaps is how many stretches of the flow could not be followed.
func (x *Source) Whole(ctx context.Context, numbers ...int) (list []*Poke, gaps uint64, err error) {
	s := x.Session
	var crossings map[int][]report.Crossing
	c := report.Crossings{Session: s, Named: numbers}
	if !x.NoFlow {
		if crossings, gaps, err = c.Decode(ctx, decoder.Query{Jobs: x.Jobs, Progress: x.Progress}); err != nil {
			return nil, gaps, err
		}
	}
	for k := range s.Pokes() {
		if !slices.Contains(numbers, k.Index) {
			continue
		}
		p := New(s, &k, crossings[k.Index])
		p.flow = !x.NoFlow
		p.Unseen = unseen(&c, &k, p.CPUs)
		p.Before = around(s, &k, event.Epoch(k.Index))
		p.After = around(s, &k, event.Epoch(k.Index)+1)
		p.Threads = threads(crossings[k.Index])
		if !x.NoFlow {
			if p.Path, p.pathless, err = x.path(ctx, &k); err != nil {
				return list, gaps, err
			}
		}
		list = append(list, p)
	}
	return list, gaps, nil
}

// threads adds up who ran through a poke's site on all CPUs.
func threads(list []report.Crossing) (out []Thread) {
	for i := range list {
		for _, t := range list[i].Threads {
			at := slices.IndexFunc(out, func(o Thread) bool {
				return (o.TID == nil) == (t.TID < 0) && (o.TID == nil || *o.TID == t.TID) && o.Comm == t.Comm
			})
			if at < 0 {
				at = len(out)
				out = append(out, Thread{Comm: t.Comm})
				if tid := t.TID; tid >= 0 {
					out[at].TID = &tid
				}
			}
			o := &out[at]
			o.Old, o.Traps, o.New, o.Unsure = o.Old+t.Old, o.Traps+t.Traps, o.New+t.New, o.Unsure+t.Unsure
		}
	}
	slices.SortStableFunc(out, func(a, b Thread) int {
		return cmp.Compare(b.Old+b.Traps+b.New, a.Old+a.Traps+a.New)
	})
	return out
}

const (
	besides  = 2       // instructions shown before and behind a poke
	behind   = 32      // bytes that hold them
	mostCode = 4096    // bytes of a poke that are disassembled
	farthest = 1 << 16 // bytes from where a function begins to a poke
)

// around disassembles the code at a poke's site as of an epoch, with a little of what
// lies around it.
func around(s *decoder.Session, k *decoder.PokeInfo, at event.Epoch) (out []Line) {
	n := min(k.Range().Len, mostCode)
	from, end := k.Addr, k.Addr+n
	until := end + behind
	if y := s.Symbols(); y != nil {
		// Where instructions begin is known from where the function does.
		if sym, off, ok := y.Lookup(k.Addr, k.Time); ok {
			if off <= farthest {
				from = sym.Addr
			}
			until = min(until, max(end, sym.Addr+sym.Len))
		}
	}
	after := 0
	report.Disassemble(s, from, until-from, at, k.Time, func(l *report.Line) bool {
		j := Line{Addr: hex16(l.Addr), Bytes: hex.EncodeToString(l.Bytes), Insn: l.Insn}
		switch {
		case l.Addr >= end:
			if after++; after > besides {
				return false
			}
		case l.Addr+l.Len > k.Addr:
			j.Poked = true
		default:
			if len(out) == besides {
				out = slices.Delete(out, 0, 1)
			}
		}
		out = append(out, j)
		return true
	})
	return out
}
