package export

import (
	"context"
	"io"
	"slices"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/perfetto"
	"github.com/ptdecode/ptdecode/cmd/internal/tables"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// newPerfetto returns the sink of the format perfetto. How CPUs crossed changes to the code
// is known at the end only, and takes a second decoding.
func newPerfetto(j *job, w io.Writer) (host.Sink, error) {
	return perfetto.New(j.session, w, perfetto.Options{
		Depth: j.depth, Shortest: uint64(j.shortest), Wants: j.wantsThread(),
		Crossed: func() (map[int][]perfetto.Crossing, error) { return j.crossings() },
	}), nil
}

// wantsThread returns what tells whether the filters let a thread pass; nil: all.
func (j *job) wantsThread() func(tid int32) bool {
	tids := j.filter.Options.TIDs
	if tids == nil {
		return nil
	}
	return func(tid int32) bool { return slices.Contains(tids, tid) }
}

// crossings returns how CPUs crossed the changes to the code, by poke.
func (j *job) crossings() (map[int][]report.Crossing, error) {
	if j.session.Text().Len() == 0 {
		return nil, nil
	}
	q := j.filter.Query
	q.Bounds = true // as in the flow that is written
	by, _, err := report.Crossings(context.Background(), j.session, j.host.Again(j.session, q))
	return by, err
}

// The formats that are tables.
func newCSV(j *job, path string) (host.Sink, error)     { return j.tables(tables.NewCSV(path)) }
func newParquet(j *job, path string) (host.Sink, error) { return j.tables(tables.NewParquet(path)) }
func newSQLite(j *job, w io.Writer) (host.Sink, error)  { return j.tables(tables.NewSQL(w)) }

// tables returns the sink that fills tables.
func (j *job) tables(enc tables.Encoder, err error) (host.Sink, error) {
	if err != nil {
		return nil, err
	}
	return tables.New(j.session, j.filter, enc, j.wantsThread(), j.crossings), nil
}
