package export

import (
	"io"

	"github.com/ptdecode/ptdecode/cmd/internal/counts"
	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/perfetto"
	"github.com/ptdecode/ptdecode/cmd/internal/tables"
	"github.com/ptdecode/ptdecode/decoder/calls"
	"github.com/ptdecode/ptdecode/decoder/report"
)

// newPerfetto returns the sink of the format perfetto.
func newPerfetto(j *job, w io.Writer) (host.Sink, error) {
	wants := j.wants
	if j.filter.Given == "" {
		wants = nil
	}
	o := perfetto.Options{
		Depth: j.depth, Shortest: uint64(j.shortest), Wants: wants,
		From: j.filter.Options.From, Until: j.filter.Options.Until, Crossed: j.crossings(),
	}
	if !j.tallied && j.filter.Given == "" {
		j.tallied = true
		o.Counted = func(n perfetto.Counts) {
			j.counter.Gaps += n.Gaps
			j.counter.Instructions.N += n.Instructions
			j.counter.Instructions.Ambiguous += n.Ambiguous
		}
	}
	return perfetto.New(j.session, w, o), nil
}

// wants reports whether the filters let a call pass, by its thread and its function.
func (j *job) wants(c *calls.Call) bool {
	only := j.filter.Only
	return only == nil || only.Call(c.Stream.Index, c.TID, c.Comm, c.Addr, c.Sym, c.File)
}

// crossings has it collected how CPUs cross the changes to the code. It returns what tells
// that by poke, once the flow has ended.
func (j *job) crossings() func(poke int) []report.Crossing {
	if j.crossed == nil {
		j.crossed = &report.Crossings{Session: j.session, From: j.filter.Query.From, Until: j.filter.Query.Until}
	}
	return j.crossed.By
}

// The formats that are tables.
func newCSV(j *job, path string) (host.Sink, error) { return j.fill(tables.NewCSV(path, j.tables)) }
func newParquet(j *job, path string) (host.Sink, error) {
	return j.fill(tables.NewParquet(path, j.tables))
}
func newSQLite(j *job, w io.Writer) (host.Sink, error) { return j.fill(tables.NewSQL(w, j.tables)) }

// fill returns the sink that fills tables.
func (j *job) fill(enc tables.Encoder, err error) (host.Sink, error) {
	if err != nil {
		return nil, err
	}
	o := tables.Options{Choice: j.tables}
	if j.tables.Crossings() {
		o.Crossed = j.crossings()
	}
	if !j.tallied {
		o.Counted = j.adds
	}
	if j.crossed != nil && !j.told {
		o.Each = j.crossed.Ran
	}
	k := tables.New(j.session, j.filter, enc, o)
	j.told = j.told || o.Each != nil && k.TellsEach()
	j.tallied = j.tallied || k.Counts()
	return k, nil
}

// adds adds what a sink counted to the job's counter.
func (j *job) adds(c *counts.Counter) {
	j.counter.Gaps += c.Gaps
	j.counter.Instructions.N += c.Instructions.N
	j.counter.Instructions.Ambiguous += c.Instructions.Ambiguous
}
