package items

import "github.com/ptdecode/ptdecode/decoder"

// Between hands on what lies between two offsets of the trace, bytes.
type Between struct {
	To          decoder.Sink
	From, Until int64

	out decoder.Batch
}

// Restart begins anew (decoder.Restarter).
func (o *Between) Restart() bool {
	r, ok := o.To.(decoder.Restarter)
	return ok && r.Restart()
}

// Flow hands on what lies between.
func (o *Between) Flow(b *decoder.Batch) error {
	between := func(off int64) bool { return off >= o.From && off <= o.Until }
	o.out.Reset()
	o.out.Stream, o.out.Stamps = b.Stream, append(o.out.Stamps, b.Stamps...)
	for i, n := 0, 0; i <= len(b.Ranges); i++ {
		for ; n < len(b.Notes) && b.Notes[n].At <= i; n++ {
			x := b.Notes[n]
			if off := NoteOff(&x); between(off) {
				x.At = len(o.out.Ranges)
				o.out.Notes = append(o.out.Notes, x)
			}
		}
		if i < len(b.Ranges) && between(b.Stamps[b.Ranges[i].Stamp].Off) {
			o.out.Ranges = append(o.out.Ranges, b.Ranges[i])
		}
	}
	if len(o.out.Ranges)+len(o.out.Notes) == 0 {
		return nil
	}
	return o.To.Flow(&o.out)
}

// NoteOff returns where in the trace a note lies, bytes.
func NoteOff(n *decoder.Note) int64 {
	if n.Kind == decoder.NoteGap {
		return n.Gap.Off
	}
	return n.Event.Off
}
