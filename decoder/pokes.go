package decoder

import (
	"iter"

	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// PokeInfo is a poke, which is one change to the kernel's code, and what is known about it.
type PokeInfo struct {
	*kcore.Poke
	// Index is its place in the journal (kcore.Journal.Poke), and the epoch before it. The
	// journal also counts the ends of stretches in which records were lost.
	Index  int
	Kind   kcore.Kind
	Symbol string         // symbol+offset of its address at its time; "" if it has none
	PID    int32          // the process whose thread made it; 0: not known
	Comm   string         // what that thread was called then; "" if that is not known
	Broken *kcore.Finding // its old code is not what lay there, as this shows; nil: it is
}

// Pokes gives all recorded changes to the kernel's code in order of time. What was learned
// without a record is not among them: see Learned. It makes one PokeInfo at a time.
func (s *Session) Pokes() iter.Seq[PokeInfo] {
	j := s.code.Load().journal
	kinds := kcore.Kinds(j, s.symbols)
	broken := map[int]*kcore.Finding{}
	fs := s.Text().Findings()
	for i := range fs {
		if f := &fs[i]; f.Kind == kcore.Break && f.Next >= 0 {
			broken[f.Next] = f
		}
	}
	return func(yield func(PokeInfo) bool) {
		for i := range j.Len() {
			p := j.Poke(i)
			if p.Mark() || p.Learned {
				continue
			}
			k := PokeInfo{Poke: p, Index: i, Kind: kinds[i], Symbol: s.KernelSymbol(p.Addr, p.Time), Broken: broken[i]}
			if p.TID > 0 {
				k.Comm, _ = s.rec.Processes.Tasks.Comm(p.TID, p.Time)
				k.PID, _ = s.rec.Processes.Tasks.PID(p.TID)
			}
			if !yield(k) {
				return
			}
		}
	}
}

// KernelSymbol renders symbol+offset of a kernel address at a time, ns. Where the kernel
// has no symbol there, the files that Config.Code and Config.Kcore name give it. "" if none
// has.
func (s *Session) KernelSymbol(addr, time uint64) string {
	if s.symbols != nil {
		if y, off, ok := s.symbols.Lookup(addr, time); ok {
			return y.Format(off)
		}
	}
	p, ok := s.rec.Processes.Spaces.GivenSymbol(addr)
	if !ok {
		return ""
	}
	y := symbols.Symbol{Name: p.Sym}
	return y.Format(p.Off)
}
