package boot

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// What another version makes of a segment is mostly told by the flow near sites. So ranges are passed over that have
// no site, and do not lie close behind one, where the flow was kept: to tell all of it again takes no decoding.

// nearSite is how far behind a site flow is kept, instructions: more than untold looks at.
const nearSite = 2 * mostAbreast

// far reports whether what comes next need not be kept if it has no site.
func (k *ranAs) far() bool {
	return k.sparse && k.kept && (len(k.met) == 0 || k.n >= k.met[len(k.met)-1].at+nearSite)
}

// Take takes what was kept (trials.Taker). It passes over x where k needs none of it: then k has no piece, and none of the
// notes, where x would be.
func (k *ranAs) Take(x *flow.Kept) error {
	k.kept = true
	if err := k.refuted(x.Notes()); err != nil {
		return err
	}
	if k.far() && !x.Has(&k.seek) {
		k.gaps = k.gaps || x.Insns() > 0
		return k.counts(x.Insns())
	}
	k.makeRoom(x.Len())
	notes, p := x.Notes(), k.seek.Pass(x) // one p: a loop copies its own each time
	for i := 0; p.Next(); i++ {
		for ; len(notes) > 0 && notes[0].At <= i; notes = notes[1:] {
			k.notes = append(k.notes, k.n)
		}
		if p.Is {
			k.runsBy(k.sitesOf(p.Block), p.N)
		} else if k.far() {
			k.n, k.gaps = k.n+int(p.N), true
			continue
		}
		k.list = append(k.list, piece{p.Block, p.Off, int32(k.n), p.N})
		k.n += int(p.N)
	}
	if len(notes) > 0 {
		k.notes = append(k.notes, k.n)
	}
	return k.counts(0)
}

// refuted notes whether trace and code contradict each other. It returns an error if that ends k.
func (k *ranAs) refuted(notes []flow.Note) error {
	for i := range notes {
		if n := &notes[i]; n.Kind == flow.NoteGap && n.Gap.Reason != event.NoText && n.Gap.Reason.Contradicts() {
			if k.bad = true; k.strict {
				return errRefuted
			}
		}
	}
	return nil
}

// counts notes that n instructions were passed over. It returns an error if there are too many now.
func (k *ranAs) counts(n int) error {
	if k.n += n; k.n > maxInsns {
		return errTooMuch
	}
	return nil
}

// fewWhole reports whether less than half of the segments took the whole flow so far. What is told of the next one is the same
// without it: first of some, then of all.
func (d *doubts) fewWhole() bool { return 2*d.whole.Load() <= d.asked.Add(1) }

// whole has k have all of a segment, which again tells.
func (k *ranAs) whole(again Again) error {
	k.d.whole.Add(1)
	if !k.gaps {
		return nil
	}
	k.empty()
	k.sparse = false
	return again(nil, k)
}
