package flow

import "slices"

// Place is code: the bytes of [Addr, End).
type Place struct{ Addr, End uint64 }

// Watch says of which of some places walks have read code. One goroutine uses it.
type Watch struct {
	Places []Place // by address, MaxPlaces at most
	Met    uint64  // bit i: code of Places[i] was read
	to     Sink
}

// MaxPlaces is how many places a Watch has at most.
const MaxPlaces = 64

// read notes that code of [addr, end) was read.
func (w *Watch) read(addr, end uint64) {
	if w == nil || end <= w.Places[0].Addr || addr >= w.Places[len(w.Places)-1].End {
		return
	}
	for i, p := range w.Places {
		if p.Addr < end && addr < p.End {
			w.Met |= 1 << i
		}
	}
}

// Sink returns a sink that notes what was executed, and hands it on. A walk tells w by itself what else
// it reads (Config.Watch).
func (w *Watch) Sink(to Sink) Sink {
	w.to = to
	return w
}

// Flow takes a batch.
func (w *Watch) Flow(b *Batch) error {
	for i := range b.Ranges {
		x := b.Ranges[i].Block
		w.read(x.Addr, x.End+mostInsn)
	}
	return w.to.Flow(b)
}

// Merged returns the places of list, by address, those that overlap as one. Of more than MaxPlaces
// it has some.
func Merged(list []Place) (all []Place) {
	list = slices.Clone(list)
	slices.SortFunc(list, func(x, y Place) int {
		if x.Addr < y.Addr {
			return -1
		}
		return 1
	})
	for _, p := range list {
		if k := len(all) - 1; k >= 0 && p.Addr <= all[k].End {
			all[k].End = max(all[k].End, p.End)
		} else if len(all) < MaxPlaces {
			all = append(all, p)
		}
	}
	return all
}
