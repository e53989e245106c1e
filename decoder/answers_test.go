package decoder

import (
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/decoder/internal/trials"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestAnswers would catch a job taken to tell the same under two codes though it read code at which they
// differ. It would catch a decoding that goes by what was built of other code before, too. Each time other sites of the
// image have other code. A session that knows no job, and has others decode each time, is the twin.
// It would also catch jobs that are decoded again for nothing.
func TestAnswers(t *testing.T) {
	tables := readSiteTables(t)
	names := []string{"tracepoints-coarse", "kprobes", "ftrace", "nomitig-late"}
	for _, name := range names[:testsize.Of(t, 1, len(names))] {
		o := readOriginal(t, name, tables)
		r := rand.New(rand.NewPCG(1, 13))
		var ideas []learn.Held
		for len(ideas) < 12 {
			x := o.sites[r.IntN(len(o.sites))]
			if have, other := x.other(o, r); x.ran && other != nil {
				ideas = append(ideas, learn.Held{Idea: learn.Idea{Addr: x.addr, Code: other, Was: have[:len(other)]}})
			}
		}
		s, twin := learner{opened(t, o.config)}, learner{opened(t, o.config)}
		twin.learned.answers = new(trials.Answers) // no room
		pass := func(s learner, list []learn.Held) (all []learn.Visit, work int64) {
			t.Helper()
			s.learned.passed = passed{} // it remembers the last one
			if s.Session == twin.Session {
				s.learned.answers = new(trials.Answers) // no room
				s.learned.watchers = watchers{}         // who decoded other code before knows it still
			}
			before := s.decoded.Load()
			met, err := s.pass(t.Context(), list, 2, math.MaxInt)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range met.Visits() {
				all = append(all, *v)
			}
			return all, s.decoded.Load() - before
		}
		var sum, whole int64
		for n := range testsize.Of(t, 6, 8, 16) {
			var list []learn.Held
			for range r.IntN(3) {
				if x := ideas[r.IntN(len(ideas))]; !slices.ContainsFunc(list, func(y learn.Held) bool { return y.Addr == x.Addr }) {
					list = append(list, x)
				}
			}
			got, work := pass(s, list)
			want, all := pass(twin, list)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, pass %d: -want +got\n%.3000s", name, n, cmp.Diff(want, got))
			}
			sum, whole = sum+work, whole+all
		}
		t.Logf("%s: decoded %d bytes, %d without what jobs told", name, sum, whole)
		if sum*10 > whole*9 {
			t.Errorf("%s: decoded %d bytes, %d without what jobs told", name, sum, whole)
		}
	}
}
