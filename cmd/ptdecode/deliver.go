package main

import (
	"context"
	"slices"

	"github.com/ptdecode/ptdecode/cmd/ptdecode/internal/output"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/report"
	"github.com/ptdecode/ptdecode/decoder/rows"
)

// tellLosses gives the sink gaps for what lies before all that can be decoded, in
// the streams that q asks for. These are the bytes before the first sync point,
// and what the recorder dropped where there is no sync point.
func tellLosses(s *decoder.Session, q *decoder.Query, sink decoder.Sink) error {
	streams := s.Streams()
	for k := range streams {
		i := k
		if q.Reverse {
			i = len(streams) - 1 - k
		}
		if q.Streams != nil && !slices.Contains(q.Streams, i) {
			continue
		}
		b := decoder.Batch{Stream: i}
		for _, g := range report.Undecoded(streams[i]) {
			b.Notes = append(b.Notes, decoder.Note{Kind: decoder.NoteGap, Poke: -1, Gap: g})
		}
		if err := sink.Flow(&b); err != nil && err != rows.ErrEnough {
			return err
		}
	}
	return nil
}

// stopper ends the flow when the sink has enough.
type stopper struct {
	decoder.Sink
	enough bool
	begin  func() error // gives the sink what lies before all that can be decoded
}

// Restart has the sink begin anew, if it can (decoder.Restarter).
func (s *stopper) Restart() bool {
	r, ok := s.Sink.(decoder.Restarter)
	return ok && r.Restart() && s.begin() == nil
}

// Waits asks the sink whether it needs flow behind its shard's part (decoder.Query.Lead).
func (s *stopper) Waits() bool {
	w, ok := s.Sink.(interface{ Waits() bool })
	return ok && w.Waits()
}

// Condenser asks the sink how to condense flow (decoder.Session.Flow).
func (s *stopper) Condenser() func(out, b *decoder.Batch) {
	if c, ok := s.Sink.(interface {
		Condenser() func(out, b *decoder.Batch)
	}); ok {
		return c.Condenser()
	}
	return nil
}

// AsksPaths asks the sink whether it needs to know which ranges were walked as before.
func (s *stopper) AsksPaths() bool {
	p, ok := s.Sink.(interface{ AsksPaths() bool })
	return ok && p.AsksPaths()
}

// Flow passes b on.
func (s *stopper) Flow(b *decoder.Batch) error {
	err := s.Sink.Flow(b)
	if err != rows.ErrEnough {
		return err
	}
	s.enough = true
	return decoder.ErrStop
}

// deliver decodes what q asks for into sink and closes it. What lies before all
// that can be decoded comes first. With q.Reverse it comes last, unless the sink
// has enough by then.
func deliver(ctx context.Context, s *decoder.Session, q decoder.Query, sink output.Sink) error {
	if !q.Reverse && q.Shard <= 1 {
		if err := tellLosses(s, &q, sink); err != nil {
			return err
		}
	}
	to := &stopper{Sink: sink, begin: func() error { return tellLosses(s, &q, sink) }}
	err := s.Flow(ctx, q, to)
	if err == nil && q.Reverse && !to.enough {
		err = tellLosses(s, &q, sink)
	}
	if e := sink.Close(); err == nil {
		err = e
	}
	return err
}
