package recording

import (
	"fmt"

	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore"
)

// ReadLearned reads a file of what was learned. t is of images and records alone. A file of which
// no site fits that is an error; where some fit, the others are a warning.
func (r *Recording) ReadLearned(data []byte, file string, t *kcore.Text) ([]kcore.Learned, error) {
	list, err := kcore.ParseLearned(data, file)
	if err != nil {
		return nil, err
	}
	first, unfit := uint64(0), 0
	for i := range list {
		if t.LearnedOver(&list[i]) {
			says(&list[i], t)
			continue
		}
		if unfit++; unfit == 1 {
			first = list[i].Addr
		}
	}
	if unfit == 0 {
		return list, nil
	}
	what := fmt.Sprintf("%d of %d sites, the first at %#x, do not have the code over which it was learned: it is of another recording, or of other images", unfit, len(list), first)
	const do = "make it of this recording, with the same files: pokes --learned -o jsonl"
	if unfit == len(list) {
		return nil, &badfile.Error{File: file, What: what + "; " + do}
	}
	r.Warnf(do, "%s: %s", file, what)
	return list, nil
}

// says has l say what lies at its site in t, where the file leaves that out and it is always the same.
func says(l *kcore.Learned, t *kcore.Text) {
	had := make([]byte, len(l.Code))
	if n, span := t.Fetch(had, l.Addr, 0); l.Had == nil && l.Was == nil && n == len(had) && span == event.EveryEpoch {
		l.Had = had
	}
}
