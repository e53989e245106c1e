package decoder

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/decoder/internal/trials"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestApproach would catch a trial that begins at a footing and comes to something else than one that begins
// where its segment does. It may be in another state there, or its idea may change code that was read before. It
// would also catch trials of which none begins at a footing. In the image, other sites have other code.
func TestApproach(t *testing.T) {
	tables := readSiteTables(t)
	names := []string{"ftrace", "kprobes", "tracepoints-coarse", "nomitig-late"}
	for _, name := range names[:testsize.Of(t, 2, len(names))] {
		o := readOriginal(t, name, tables)
		var all, behind int64
		for seed := range uint64(testsize.Of(t, 8, 8, 24)) {
			x := imageLie(o, random("image", o.name, 3000+seed))
			if x == nil || !o.executed(x.sites[0].addr) {
				continue
			}
			s := learner{o.reopened(t, o.config, x.change)}
			c := s.code.Load()
			s.learned.room = math.MaxInt64
			s.blocks()
			s.learned.answers = new(trials.Answers)
			own := *c
			own.caches = s.learned.caches
			var met learn.Gathered
			if _, err := s.contradictions(t.Context(), &own, 1, 1, math.MaxInt, &met); err != nil {
				t.Fatal(err)
			}
			g := s.source(c).Generator()
			r := rand.New(rand.NewPCG(seed, 13))
			for _, v := range chosen(r, met.Visits(), 4) {
				ideas := chosen(r, g.Ideas(v), 24)
				for i := range ideas {
					over := ideas[i:min(i+1+i%2, len(ideas))] // sometimes two
					work := func() (o learn.Outcome, n int64) {
						before := s.decoded.Load()
						o = s.try(c, v, over)
						o.Before = slices.Clone(o.Before) // the next trial has its memory
						return o, s.decoded.Load() - before
					}
					got, n := work()
					kept := s.learned.approaches
					s.learned.approaches = trials.Approaches{}
					walkers := s.learned.tryouts
					s.learned.tryouts = map[int]*tryout{} // and those that have not walked before
					want, whole := work()
					s.learned.approaches.Leave()
					s.learned.approaches, s.learned.tryouts = kept, walkers
					if d := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(learn.Calls{})); d != "" {
						t.Fatalf("%s %d, visit %#x, %v: -want +got\n%.3000s", name, seed, v.IP, over, d)
					}
					all, behind = all+whole, behind+n
				}
			}
			s.learned.approaches.Leave()
			s.Close()
		}
		t.Logf("%s: decoded %d bytes, %d from the begin of segments", name, behind, all)
		if behind*10 > all*8 {
			t.Errorf("%s: decoded %d bytes, %d from the begin of segments: footings are of no use", name, behind, all)
		}
	}
}

// chosen returns n of list, in order, at random.
func chosen[T any](r *rand.Rand, list []T, n int) (all []T) {
	for i := range list {
		if r.IntN(len(list)-i) < n-len(all) {
			all = append(all, list[i])
		}
	}
	return all
}
