package recording

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/plural"
	"github.com/ptdecode/ptdecode/kcore"
)

// ReadLearned reads a file of what was learned. t is of images and records alone. A file of which
// no site fits that is an error; where some fit, the others are left out, with a warning. unlike says that
// the code is another one throughout.
func (r *Recording) ReadLearned(data []byte, file string, t *kcore.Text) (fit []kcore.Learned, unlike bool, err error) {
	list, unlike, err := kcore.ParseLearned(data, file)
	if err != nil {
		return nil, false, err
	}
	first, unfit := uint64(0), 0
	for i := range list {
		if t.LearnedOver(&list[i]) {
			says(&list[i], t)
			fit = append(fit, list[i])
			continue
		}
		if unfit++; unfit == 1 {
			first = list[i].Addr
		}
	}
	if err := twice(fit, file); err != nil || unfit == 0 {
		return fit, unlike, err
	}
	what := fmt.Sprintf("%d of %s, the first at %#x, %s not have the code over which it was learned: it is of another recording, or of other images", unfit, plural.Count(len(list), "site"), first, plural.Word(unfit, "does", "do"))
	const do = "make it of this recording, with the same files: pokes --learned -o jsonl"
	if unfit == len(list) {
		return nil, false, &badfile.Error{File: file, What: what + "; " + do}
	}
	r.Warnf(do, "%s: %s; these are left out", file, what)
	return fit, unlike, nil
}

// twice returns an error if two sites of list lie over each other and are not the same: one of them is wrong.
func twice(list []kcore.Learned, file string) error {
	byAddr := slices.Clone(list)
	slices.SortStableFunc(byAddr, func(a, b kcore.Learned) int { return cmp.Compare(a.Addr, b.Addr) })
	for i := 1; i < len(byAddr); i++ {
		a, b := &byAddr[i-1], &byAddr[i]
		if a.Range().Last() >= b.Addr && !reflect.DeepEqual(a, b) {
			return &badfile.Error{File: file, What: fmt.Sprintf("two sites that lie over each other, at %#x and %#x: leave one out", a.Addr, b.Addr)}
		}
	}
	return nil
}

// says has l say what lies at its site in t, where the file leaves that out and it is always the same.
func says(l *kcore.Learned, t *kcore.Text) {
	had := make([]byte, len(l.Code))
	if n, span := t.Fetch(had, l.Addr, 0); l.Had == nil && l.Was == nil && n == len(had) && span == event.EveryEpoch {
		l.Had = had
	}
}
