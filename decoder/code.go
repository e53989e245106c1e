package decoder

import (
	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// code is the code that a run reads: what was recorded of it, and what was learned.
// A session's code is replaced as a whole when more was learned.
type code struct {
	journal *kcore.Journal
	text    textView
	caches  map[reading]*flow.Cache // of blocks
	learned []kcore.Learned
}

// sources is what code is made of: it stays when more is learned.
type sources struct {
	journal *kcore.Journal // of what was recorded
	img     *image.Image
	opt     kcore.TextOptions
}

// withLearned returns the session's code with what was learned.
func (s *Session) withLearned(list []kcore.Learned) (*code, error) {
	j, err := s.from.journal.WithLearned(list)
	if err != nil {
		return nil, err
	}
	opt := s.from.opt
	opt.Learned = list
	c := &code{journal: j, learned: list}
	c.text = textView{kcore.NewText(j, s.from.img, opt), s.rec.Processes.Spaces}
	c.caches = s.newCaches()
	return c, nil
}

// newCaches returns an empty cache of blocks for each way in which text is read.
func (s *Session) newCaches() map[reading]*flow.Cache {
	caches := map[reading]*flow.Cache{}
	for _, st := range s.streams {
		if r := s.reading(st); caches[r] == nil {
			caches[r] = flow.NewCache()
		}
	}
	return caches
}

// pokedDuring reports whether some poke's moment lies inside t.
func (c *code) pokedDuring(t event.Time) bool {
	lo, hi := c.text.Epochs(t)
	return lo != hi
}
