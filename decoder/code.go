package decoder

import (
	"slices"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/boot"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/decoder/internal/process"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// code is the code that a run reads: what was recorded of it, and what was learned.
// A session's code is replaced as a whole when more was learned.
type code struct {
	journal *kcore.Journal
	text    textView
	caches  map[reading]*flow.Cache // of blocks
	learned []kcore.Learned         // by address
	// Of a trial: what is read in place of text, and who is told of what events confirm.
	trial     flow.Text
	confirmed func([]flow.Range, []flow.Stamp) error
	watched   bool         // of a decoding to learn from: what of it is read is noted
	reader    *boot.Reader // of what was learned; nil: nothing was
	either    *boot.Either // what of what was learned leaves several codes possible; nil: nothing does
	rough     bool         // the code is another one throughout
	shared    bool         // caches are those that are read to learn
}

// reads is what walkers read.
func (c *code) reads() flow.Text {
	if c.trial != nil {
		return c.trial
	}
	return c.text
}

// Learned returns what was learned of the code so far, or was given (Config.Learned), by
// address. Session.Flow learns where trace and code contradict each other. Where they do so too often, the
// code is another one throughout (unlike): then nothing is learned, and little is certain.
func (s *Session) Learned() (sites []kcore.Learned, unlike bool) {
	c := s.code.Load()
	return learn.Last(c.learned), c.rough
}

// sources is what code is made of: it stays when more is learned.
type sources struct {
	given   learn.Given    // in an earlier run
	journal *kcore.Journal // of what was recorded
	img     *image.Image
	opt     kcore.TextOptions
	added   bool // the call gives code besides the kernel's: see textView
	holes   bool // the image is a kcore: see textView
}

// view returns what walkers read of t, and of the programs' code.
func (x *sources) view(users *process.Spaces, t *kcore.Text) textView {
	return textView{t, users, x.added, x.holes}
}

// withLearned returns the session's code with what was learned, mostly without caches.
func (s learner) withLearned(list []kcore.Learned) (*code, error) {
	list = learn.Again(s.from.given.List, list)
	if p := s.learned.passed.code; p != nil && slices.EqualFunc(list, p.learned, learn.Same) {
		c := *p
		c.learned = list
		return &c, nil
	}
	j, err := s.from.journal.WithLearned(list)
	if err != nil {
		return nil, err
	}
	opt := s.from.opt
	opt.Learned = list
	c := &code{journal: j, learned: list}
	c.text = s.from.view(s.rec.Processes.Spaces, s.code.Load().text.Text.Relearned(j, s.from.img, opt))
	end := event.Epoch(c.text.Len())
	fetch := func(dst []byte, addr uint64) int {
		n, _ := c.text.Text.Fetch(dst, addr, end)
		return n
	}
	steady := func(dst []byte, addr uint64) bool {
		n, span := c.text.Fetch(dst, 0, addr, end)
		return n == len(dst) && span == event.EveryEpoch
	}
	c.reader = &boot.Reader{ISA: s.isa, Mode: s.mode, Lists: &s.lists, Fetch: fetch, Steady: steady}
	c.either = boot.NewEither(list, c.reader)
	return c, nil
}

// newCaches returns an empty cache of blocks for each way in which text is read.
func (s learner) newCaches() map[reading]*flow.Cache {
	caches := map[reading]*flow.Cache{}
	for _, st := range s.streams {
		if r := s.reading(st); caches[r] == nil {
			caches[r] = flow.NewCache()
			caches[r].NumberPaths(&s.paths)
		}
	}
	return caches
}

// pokedDuring reports whether some poke's moment lies inside t.
func (c *code) pokedDuring(t event.Time) bool {
	lo, hi := c.text.Epochs(t)
	return lo != hi
}
