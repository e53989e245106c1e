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

// Skip passes over x if k needs none of it (trials.Skipper). k has no piece then, and none of the notes, where x
// would be.
func (k *ranAs) Skip(x *flow.Kept) (bool, error) {
	k.kept = true
	if !k.far() || x.Has(&k.seek) {
		return false, nil
	}
	if err := k.refuted(x.Notes()); err != nil {
		return false, err
	}
	return true, k.counts(x.Insns())
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
	k.gaps = k.gaps || n > 0
	return nil
}

// whole has k have all of a segment, which again tells.
func (k *ranAs) whole(again Again) error {
	if !k.gaps {
		return nil
	}
	k.empty()
	k.sparse = false
	return again(nil, k)
}
