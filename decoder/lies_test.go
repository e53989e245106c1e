package decoder

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// decode returns how what is printed of a case compares with the truth, and adds
// where it is wrong to facts. line says which case it is.
func (x *lie) decode(t testing.TB, o *original, line string, facts *lieFacts) (r lieRow) {
	cfg := o.config
	if x.config != nil {
		x.config(&cfg)
	}
	s := o.reopened(t, cfg, x.change)
	defer s.Close()
	got := prints{}
	if err := s.Flow(context.Background(), Query{Jobs: 1}, codedPrints{got, s}); err != nil {
		t.Error(err)
	}
	r.cases = 1
	if os.Getenv("LIES_CASE") != "" {
		t.Logf("learned: %+v", learnedBy(s))
	}
	truth := x.truth(o)
	for i, ran := range truth.ran {
		if got[i] == nil {
			got[i] = &printed{}
		}
		list := r.judge(got[i], ran)
		alike := truth.alike(s, i, got[i], list)
		if x.flips {
			alike = statedSo(s, i, got[i], list)
		}
		for k, same := range alike {
			r.rows, r.lying = r.rows+1, 1
			if same {
				r.alike++
			}
			facts.add(truth, line, i, got[i], list[k], same)
			if show := os.Getenv("LIES_SHOW"); show == "all" || show != "" && !same {
				t.Logf("%s\n%s", line, truth.show(s, i, got[i], list[k]))
			}
		}
	}
	return r
}

// truth is what is true of x, which was made of o.
func (x *lie) truth(o *original) *original {
	if x.original != nil {
		return x.original
	}
	return o
}

// lieRow is a row of the table: the cases of one kind and one recording.
type lieRow struct {
	kind, recording string
	cases, lying    int // lying: those with a row of wrong claims
	rows            int // of wrong claims, and of right ones that do not belong side by side
	alike           int // of these, those that the trace cannot tell from what was executed
	claimCount
}

func (r *lieRow) add(o *lieRow) {
	r.cases, r.lying, r.rows, r.alike = r.cases+o.cases, r.lying+o.lying, r.rows+o.rows, r.alike+o.alike
	r.claimCount.add(&o.claimCount)
}

const lieHead = "kind         recording           cases  lying       claims    wrong  foreign     rows    alike  ambiguous    missing    gaps\n"

func (r *lieRow) String() string {
	return fmt.Sprintf("%-12s %-18s %6d %6d %12d %8d %8d %8d %8d %10d %10d %7d\n",
		r.kind, r.recording, r.cases, r.lying, r.claims, r.wrong, r.foreign, r.rows, r.alike, r.ambiguous, r.missing, r.gaps)
}

// parseLieRow reads a row as String writes it.
func parseLieRow(line string) (r lieRow, err error) {
	_, err = fmt.Sscan(line, &r.kind, &r.recording, &r.cases, &r.lying, &r.claims, &r.wrong, &r.foreign, &r.rows, &r.alike, &r.ambiguous, &r.missing, &r.gaps)
	return r, err
}

// over says what of r is more than most allows; "" if nothing is.
func (r *lieRow) over(most *lieRow) (what string) {
	for _, x := range []struct {
		name      string
		have, cap int
	}{
		{"wrong claims", r.wrong, most.wrong}, {"rows of them that the trace tells from what was executed", r.rows - r.alike, most.rows - most.alike},
		{"ambiguous instructions", r.ambiguous, most.ambiguous}, {"missing instructions", r.missing, most.missing},
	} {
		if x.have > x.cap {
			what += fmt.Sprintf("; %d %s, no more than %d were", x.have, x.name, x.cap)
		}
	}
	return strings.TrimPrefix(what, "; ")
}

// lieRun is a run of TestLies.
type lieRun struct {
	t     testing.TB
	only  string   // the one case that is wanted: kind/recording/seed; "": all
	kinds []string // those that are wanted; none: all
	mu    sync.Mutex
	facts lieFacts
	rows  []lieRow
	fixed []lieRow // of the cases that ceilings are known of
}

// fixedLies is of how many seeds of a kind and a recording the ceilings are known.
const fixedLies = 2

// try decodes a case and counts it in row.
func (l *lieRun) try(o *original, x *lie, row, fixed *lieRow, seed int) {
	line := fmt.Sprintf("%s/%s/%d: %s", row.kind, row.recording, seed, x.what)
	var facts lieFacts
	one := x.decode(l.t, o, line, &facts)
	l.mu.Lock()
	defer l.mu.Unlock()
	row.add(&one)
	if seed < fixedLies {
		fixed.add(&one)
	}
	l.facts.all = append(l.facts.all, facts.all...)
	if l.only != "" || one.lying > 0 {
		one.kind, one.recording = row.kind, row.recording
		l.t.Logf("%s\n%s%s", line, lieHead, one.String())
	}
}

// cases decodes the cases of seeds 0 to n-1 of a kind, some at a time, and counts them.
func (l *lieRun) cases(o *original, kind string, n int, make func(seed int) *lie) {
	if len(l.kinds) > 0 && !slices.Contains(l.kinds, kind) {
		return
	}
	row := lieRow{kind: kind, recording: o.name}
	fixed := row
	var wg sync.WaitGroup
	var next atomic.Int64
	if l.only != "" {
		i := strings.LastIndexByte(l.only, '/')
		seed, err := strconv.Atoi(l.only[i+1:])
		if err != nil || l.only[:i] != kind+"/"+o.name {
			return
		}
		next.Store(int64(seed))
		n = seed + 1
	}
	if v, err := strconv.Atoi(os.Getenv("LIES_FIRST")); err == nil && l.only == "" {
		next.Store(int64(v))
	}
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed := int(next.Add(1) - 1); seed < n; seed = int(next.Add(1) - 1) {
				if x := make(seed); x != nil {
					l.try(o, x, &row, &fixed, seed)
				}
			}
		})
	}
	wg.Wait()
	l.t.Logf("%s", row.String())
	if l.rows = append(l.rows, row); fixed.cases > 0 {
		l.fixed = append(l.fixed, fixed)
	}
}

// recording decodes the cases that are made of a recording, n of each of kinds, and
// those that are wrong throughout.
func (l *lieRun) recording(o *original, kinds []lieKind, n int, whole map[string]*lie) {
	for _, kind := range slices.Sorted(maps.Keys(whole)) {
		l.cases(o, kind, 1, func(int) *lie { return whole[kind] })
	}
	for _, k := range kinds {
		l.cases(o, k.name, n, func(seed int) *lie { return k.make(o, random(k.name, o.name, uint64(seed))) })
	}
}

// wordsOf returns the words of an environment variable, between commas.
func wordsOf(name string) []string {
	return strings.FieldsFunc(os.Getenv(name), func(c rune) bool { return c == ',' })
}

// ceilings returns what the fixed cases came to when they were last counted.
func ceilings(t testing.TB) (list []lieRow) {
	b, err := os.ReadFile(filepath.Join("testdata", "lies.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b)) {
		if line == lieHead {
			continue
		}
		r, err := parseLieRow(line)
		if err != nil {
			t.Fatalf("lies.txt: %q: %v", line, err)
		}
		list = append(list, r)
	}
	return list
}

// TestLies would catch more claims that never ran, or more that stays unknown, where
// an input says what was not so. The image has other code at one site, or is a vmlinux,
// or the kcore of after the recording. Records of pokes are missing, or given twice,
// late or wrong.
//
// Its ceilings are what the decoder came to so far. The table of testdata/lies.txt
// shows them, and they only ever fall.
//
// LIES says how many cases of a kind to try, LIES_CASE which one alone: its
// kind/recording/seed. LIES_KINDS names the kinds to try, LIES_RECORDINGS the recordings. LIES_TABLE and LIES_FACTS
// name files to write to.
func TestLies(t *testing.T) {
	tables := readSiteTables(t)
	l := &lieRun{t: t, only: os.Getenv("LIES_CASE"), kinds: wordsOf("LIES_KINDS")}
	names, windows := []string{"kprobes", "ftrace", "tracepoints-coarse", "nomitig-late"}, armWindows()
	n := testsize.Of(t, 0, 1, 4)
	if v, err := strconv.Atoi(os.Getenv("LIES")); err == nil {
		n = (v + len(names) - 1) / len(names)
	}
	whole := n > 0 || l.only != ""
	if !whole { // small form
		names, windows, n = names[:1], nil, 1
	}
	wanted := wordsOf("LIES_RECORDINGS")
	of := func(name string) bool {
		return (l.only == "" || strings.Contains(l.only, "/"+name+"/")) && (len(wanted) == 0 || slices.Contains(wanted, name))
	}
	for _, name := range names {
		if of(name) {
			o := readOriginal(t, name, tables)
			all := map[string]*lie{}
			if whole {
				all = wholeLies(t, o, tables)
			}
			l.recording(o, lieKinds(t), n, all)
		}
	}
	for _, name := range windows {
		if of(name) {
			l.recording(readWindow(t, name), armKinds(), n, nil)
		}
	}
	table := lieHead
	for i := range l.rows {
		table += l.rows[i].String()
	}
	for _, out := range []struct{ env, text string }{{"LIES_TABLE", table + "\n" + l.facts.table()}, {"LIES_FACTS", l.facts.list()}} {
		if name := os.Getenv(out.env); name != "" {
			if err := os.WriteFile(name, []byte(out.text), 0o666); err != nil {
				t.Error(err)
			}
		}
	}
	if l.only != "" && len(l.rows) == 0 {
		t.Fatalf("LIES_CASE=%s: there is no such case", l.only)
	}
	t.Log("\n" + table)
	known := ceilings(t)
	for i := range l.fixed {
		f := &l.fixed[i]
		k := slices.IndexFunc(known, func(r lieRow) bool { return r.kind == f.kind && r.recording == f.recording })
		if k < 0 {
			t.Errorf("no ceiling is known: %s", f)
		} else if what := f.over(&known[k]); what != "" {
			t.Errorf("%s/%s, seeds 0 to %d: %s", f.kind, f.recording, fixedLies-1, what)
		}
	}
}
