package decoder

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/trials"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore"
)

// learnedShare counts what is learned of sites of which the code was wrong.
type learnedShare struct {
	sites   int // that ran
	told    int // of them, those where the trace contradicts the wrong code
	learned int // of these, those of which the right code is learned
	several int // of these, those where other code fits too, and stays possible
	wrong   int // of those told, those of which other code is learned, without a doubt
}

// leastLearned is how many in 100 sites were learned when they were last counted, about.
const leastLearned = 95

// TestLearnedShare would catch a decoder that learns less of what the trace tells. At one
// site that ran, the image has other plausible code. Where the trace contradicts that
// code, the right one is to be learned.
func TestLearnedShare(t *testing.T) {
	n := testsize.Of(t, 0, 30, 120)
	if v, err := strconv.Atoi(os.Getenv("LIES")); err == nil {
		n = v
	}
	if n == 0 {
		t.Skip("small form: LIES says how many cases of each recording to try")
	}
	names := wordsOf("LIES_RECORDINGS")
	if len(names) == 0 {
		names = []string{"kprobes", "ftrace", "tracepoints-coarse", "nomitig-late"}
	}
	tables := readSiteTables(t)
	by := map[siteKind]*learnedShare{}
	for _, name := range names {
		if c := os.Getenv("LIES_CASE"); c != "" && !strings.HasPrefix(c, "image/"+name+"/") {
			continue
		}
		o := readOriginal(t, name, tables)
		first, _ := strconv.Atoi(os.Getenv("LIES_FIRST"))
		for seed := first; seed < n; seed++ {
			if c := os.Getenv("LIES_CASE"); c != "" && c != fmt.Sprintf("image/%s/%d", o.name, seed) {
				continue
			}
			x := imageLie(o, random("image", o.name, uint64(seed)))
			if x == nil || !o.executed(x.sites[0].addr) {
				continue
			}
			if by[x.kind] == nil {
				by[x.kind] = &learnedShare{}
			}
			x.learn(t, o, by[x.kind], seed)
		}
	}
	var all learnedShare
	for k, c := range by {
		t.Logf("%v: %+v", k, *c)
		all.sites, all.told, all.learned, all.several, all.wrong = all.sites+c.sites, all.told+c.told, all.learned+c.learned, all.several+c.several, all.wrong+c.wrong
	}
	t.Logf("all: %+v", all)
	if all.wrong > 0 || all.told >= 20 && all.learned*100 < leastLearned*all.told {
		t.Errorf("%d of %d sites learned, %d of them wrongly; need %d of 100 and none", all.learned, all.told, all.wrong, leastLearned)
	}
}

// learn counts what is learned of the site of x in c.
func (x *lie) learn(t *testing.T, o *original, c *learnedShare, seed int) {
	cfg := o.config
	cfg.NoLearn = true
	s := o.reopened(t, cfg, x.change)
	r := s.newRun(Query{Jobs: 1})
	r.learns = true
	err := r.flow(context.Background(), new(trials.Insns))
	s.Close()
	c.sites++
	if err != errContradicted {
		return
	}
	c.told++
	s = o.reopened(t, o.config, x.change)
	defer s.Close()
	if err := s.Flow(context.Background(), Query{Jobs: 1}, new(trials.Insns)); err != nil {
		t.Fatal(err)
	}
	list := s.code.Load().learned
	site := x.sites[0]
	k := slices.IndexFunc(list, func(l kcore.Learned) bool { return site.addr-l.Addr < uint64(len(l.Code)) })
	right := func(b []byte) bool { return bytes.HasPrefix(b, site.code) }
	switch {
	case k >= 0 && possible(list, site, right):
		if c.learned++; len(list[k].Others) > 0 {
			c.several++
		}
	case k >= 0 && len(list[k].Others) == 0:
		c.wrong++
		t.Logf("WRONG %s/%d %s: %+v", o.name, seed, x.what, list)
	default:
		t.Logf("NOT %s/%d %s: %+v tries %d", o.name, seed, x.what, list, s.learned.tries)
	}
}

// possible reports whether list leaves what right accepts possible at site.
func possible(list []kcore.Learned, site learnable, right func(b []byte) bool) bool {
	for _, l := range list {
		if site.addr-l.Addr >= uint64(len(l.Code)) {
			continue
		}
		if slices.ContainsFunc(append(slices.Clip(l.Others), l.Code), func(b []byte) bool { return right(b[site.addr-l.Addr:]) }) {
			return true
		}
	}
	return false
}
