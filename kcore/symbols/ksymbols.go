package symbols

import (
	"cmp"
	"math"
	"slices"
)

// Ksymbol is a symbol that came or went while recording: what the records
// KSYMBOL (BPF programs, slot pages, trampolines) state.
type Ksymbol struct {
	Name string
	Addr uint64
	Len  uint64 // bytes
	// From and Until bound its life, ns; 0 and math.MaxUint64 where no record
	// states it.
	From, Until uint64
}

// KsymbolRecord is one KSYMBOL record.
type KsymbolRecord struct {
	Time uint64 // ns
	Name string
	Addr uint64
	Len  uint64 // bytes
	Gone bool   // PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER
}

// Ksymbols pairs the records that begin and end a symbol's life. One that ends
// without a beginning had lived before the recording.
func Ksymbols(recs []KsymbolRecord) []Ksymbol {
	recs = slices.Clone(recs)
	slices.SortStableFunc(recs, func(a, b KsymbolRecord) int { return cmp.Compare(a.Time, b.Time) })
	type key struct {
		addr uint64
		name string
	}
	live := map[key]int{}
	var out []Ksymbol
	for _, r := range recs {
		k := key{r.Addr, r.Name}
		i, ok := live[k]
		switch {
		case r.Gone && ok:
			out[i].Until = r.Time
			delete(live, k)
		case r.Gone:
			out = append(out, Ksymbol{r.Name, r.Addr, r.Len, 0, r.Time})
		default:
			if ok { // its end was not recorded
				out[i].Until = r.Time
			}
			live[k] = len(out)
			out = append(out, Ksymbol{r.Name, r.Addr, r.Len, r.Time, math.MaxUint64})
		}
	}
	return out
}
