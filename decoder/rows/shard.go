package rows

import (
	"errors"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
)

// Shard says that only part I of Of parts is listed, counted from 1 (decoder.Query.Shards).
// Anywhere is set if all of the flow before the part is given, or if what is given of it is
// enough whatever it is.
type Shard struct {
	I, Of    int
	Anywhere bool
}

// ErrLead is returned by a Maker that was given too little of the flow before its shard's
// part (decoder.Query.Lead). It has handed on no row then.
var ErrLead = errors.New("rows: too little flow before the shard's part")

// shardState is what a Maker knows of its shard.
type shardState struct {
	begun  bool // the part has begun
	failed bool // ErrLead was returned
	parted bool // some of the flow before it was not given
	common uint64
	leads  bool   // common is set: from here on the flow of all streams was given
	lacks  []bool // by stream: some of its flow before the part was not given
}

// goTo goes on to where b lies.
func (m *Maker) goTo(b *flow.Batch) error {
	s := &m.shard
	m.queue.others = b.Part != 0
	if s.begun || m.o.Shard.Anywhere {
		return nil
	}
	if s.lacks == nil {
		s.lacks = make([]bool, len(m.streams))
	}
	if b.Part&flow.Before != 0 {
		if b.Part&flow.Entire == 0 {
			s.lacks[b.Stream], s.parted = true, true
		}
		if b.Part&flow.Early == 0 && !s.leads {
			s.leads, s.common = true, m.queue.places()
		}
		return nil
	}
	s.begun = true
	if !s.parted || m.o.Level == LevelInsn || m.o.Level == LevelBlock {
		return nil
	}
	for i, l := range m.streams {
		if x, ok := l.(*branches); ok && s.lacks[i] && !x.sure() {
			return m.fails()
		}
	}
	// A place from before that was not given up yet would have to be known.
	if m.o.Level != LevelElement && (!s.leads || m.queue.places()-s.common < maxQueue) {
		return m.fails()
	}
	return nil
}

// Waits reports whether rows of the shard's part are not known yet. A decoder.Session gives
// a Maker the flow behind the part until they are.
func (m *Maker) Waits() bool { return m.queue.mine > 0 }

// places returns how many places there were.
func (q *queue) places() uint64 { return q.first + uint64(q.entries()) }

// fails is ErrLead, and says so to Close.
func (m *Maker) fails() error {
	m.shard.failed = true
	return ErrLead
}
