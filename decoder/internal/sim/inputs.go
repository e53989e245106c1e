package sim

import (
	"cmp"
	"slices"

	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
	"github.com/ptdecode/ptdecode/pt"
)

// PTConfig returns what a decoder of the packets is told of the trace units.
func (r *Run) PTConfig() pt.Config {
	return pt.Config{
		TSC:              true,
		MTC:              r.Config.Timing != TSCOnly,
		CYC:              r.Config.Timing == CYC,
		MTCFreq:          r.Config.MTCFreq,
		CTCNum:           RatioEBX,
		CTCDen:           RatioEAX,
		MaxNonTurboRatio: NomFreq,
		NoRETComp:        r.Config.NoRetComp,
	}
}

// scheme returns a scheme as package kcore names it.
func (s Scheme) scheme() kcore.Scheme {
	return [NumSchemes]kcore.Scheme{
		kcore.SchemeBP, kcore.SchemeKprobe, kcore.SchemeSlot,
		kcore.SchemeXMC, kcore.SchemeStop, kcore.SchemeAtomic, kcore.SchemeUnsafe,
	}[s]
}

// Records returns the records of the pokes as a recording gives them, in order of
// the times they state. number gives each one's index in Pokes. Begin and End are
// given where the scheme's rule does not follow from the record's time. One case is
// a store that is synchronised afterwards. The other is stop_machine, during which
// an NMI's handler may see the store early.
func (r *Run) Records() (out []kcore.Poke, number []int) {
	for i := range r.Pokes {
		if r.Pokes[i].Fate == FateRecorded {
			number = append(number, i)
		}
	}
	slices.SortStableFunc(number, func(a, b int) int { return cmp.Compare(r.Pokes[a].Stamp, r.Pokes[b].Stamp) })
	for _, i := range number {
		p := &r.Pokes[i]
		k := kcore.Poke{
			Time: p.Stamp, Begin: p.Stamp, End: p.Stamp, Addr: p.Addr, CPU: p.CPU,
			Old: p.Old, New: p.New, Scheme: p.Scheme.scheme(),
		}
		if p.Scheme == SchemeAtomic || p.Scheme == SchemeUnsafe || p.Scheme == SchemeStop {
			k.Begin, k.End = p.Begin, p.End
		}
		out = append(out, k)
	}
	return out, number
}

// Breaks returns the entries of the breakpoint exception's handler.
func (r *Run) Breaks() []uint64 {
	for _, s := range r.Symbols {
		if s.Name == vecInt3.symbol() {
			return []uint64{s.Addr}
		}
	}
	return nil
}

// NewImage returns pieces as an image.
func NewImage(pieces []Piece) (*image.Image, error) {
	img := &image.Image{}
	for _, p := range pieces {
		if err := img.AddBytes(p.Addr, p.Bytes); err != nil {
			return nil, err
		}
	}
	return img, nil
}
