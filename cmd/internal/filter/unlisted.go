package filter

import (
	"context"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// Unlisted returns the hint for who finds nothing at a level, where instructions pass all the same.
// Then no branch leaves from them, or the handler of a trap ran them, whose branches are folded away.
// It decodes again until the first, and has no hint where none passes. Ctrl-C ends it with an error.
func (f *Filter) Unlisted(ctx context.Context, q decoder.Query, streams []rows.Stream, level rows.Level) (hint []string, err error) {
	why := map[rows.Level]string{rows.LevelBranch: "no branch from there or to there is listed", rows.LevelCall: "no entry to a function is listed there"}[level]
	if why == "" || f.flags != nil || f.depths != nil || q.Shards > 0 {
		return nil, nil
	}
	o := rows.Options{Level: rows.LevelInsn}
	f.Rows(&o)
	m := rows.New(f.s, streams, q.Streams, o, func(r *rows.Row) error {
		if r.Kind == rows.KindInsn {
			hint = []string{"it ran, but " + why + ": try --level insn"}
			return rows.ErrEnough
		}
		return nil
	})
	q.Merged = true
	if err = f.s.Flow(ctx, q, m); err == nil {
		err = m.Close()
	}
	if err == rows.ErrEnough {
		err = nil
	}
	return hint, err
}
