package decoder

import (
	"context"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/internal/trials"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore"
)

// lateKey is the static key of nomitig-late that no record tells of: perf_sched_events
// in __schedule.
const lateKey = 0xffffffffb705265a

// lateConfigs are the ways to open nomitig-late: with the image of before the recording,
// with that of after it, with both.
func lateConfigs(t testing.TB) map[string]Config {
	dir := filepath.Join(dataDir(t), "kernel-pokes-x86", "nomitig-late")
	early := Config{Recording: filepath.Join(dir, "perf.data")}
	late, both := early, early
	late.Kcore = filepath.Join(dir, "kcore.after")
	both.Late = late.Kcore
	return map[string]Config{"early": early, "late": late, "both": both}
}

// lateTruth returns what the CPUs of nomitig-late executed.
func lateTruth(t testing.TB) (all [][]uint64) {
	for cpu := range 2 {
		all = append(all, testsize.Executed(t, filepath.Join(dataDir(t), "kernel-pokes-x86", "nomitig-late", fmt.Sprintf("cpu%d.ips.zst", cpu))))
	}
	return all
}

// TestLearnLate would catch a decoder that cannot do with a late copy of the code. At one
// site the copy holds what the kernel put there when the recording was over. The trace
// tells what ran, and nothing else is to be learned. It also counts the work: none where
// nothing contradicts, at most three times as much where something is learned.
func TestLearnLate(t *testing.T) {
	truth := lateTruth(t)
	for name, c := range lateConfigs(t) {
		s := opened(t, c)
		got := flowed(t, s, prints{})
		for i, ips := range truth {
			if !slices.Equal(got[i].ips, ips) {
				t.Errorf("%s: stream %d: %d instructions, %d ran, or others", name, i, len(got[i].ips), len(ips))
			}
		}
		list, work, size := learnedBy(s), s.decoded.Load(), learner{s}.size()
		if name == "early" {
			if len(list) > 0 || work != size {
				t.Errorf("early: learned %v; decoded %d bytes of %d", list, work, size)
			}
			continue
		}
		if len(list) != 1 || list[0].Addr != lateKey || (list[0].Was != nil) != (name == "both") || list[0].Against > 0 {
			t.Errorf("%s: learned %+v", name, list)
		}
		if work > 3*size {
			t.Errorf("%s: decoded %d bytes, the trace has %d; %d ideas tried, %d times all decoded", name, work, size, s.learned.tries, s.learned.whole)
		}
	}
}

// TestLearnNot would catch claims that never ran where nothing may be learned.
func TestLearnNot(t *testing.T) {
	c := lateConfigs(t)
	exact := opened(t, c["early"])
	truth := lateTruth(t)
	ran := executedBy(t, exact, func(i int) []uint64 { return truth[i] })
	for _, name := range testsize.Some(t, []string{"late", "both"}, 1) {
		cfg := c[name]
		cfg.NoLearn = true
		s := opened(t, cfg)
		got := flowed(t, s, prints{})
		var n claimCount
		for i := range ran {
			n.judge(got[i], ran[i])
		}
		if n.wrong > 0 || len(learnedBy(s)) > 0 {
			t.Errorf("%s: %d claims that never ran; learned %v", name, n.wrong, learnedBy(s))
		}
	}
}

// TestLearnPass would catch a decoding of all of the recording that is made again for the same code, or for
// code that few segments read. It would also catch one that goes on where too many contradictions were met. It counts
// bytes that were decoded.
func TestLearnPass(t *testing.T) {
	s := learner{opened(t, lateConfigs(t)["late"])}
	flowed(t, s.Session, prints{})
	l, ctx := learnedBy(s.Session)[0], context.Background()
	defer func() { s.learned.passed = passed{} }()
	pass := func(list []learn.Held, most int) (met int, work int64) {
		before := s.decoded.Load()
		all, err := s.pass(ctx, list, 1, most)
		if err != nil {
			t.Fatal(err)
		}
		return all.Len(), s.decoded.Load() - before
	}
	right := []learn.Held{{Idea: learn.Idea{Addr: l.Addr, Code: l.Code, Was: l.Had, Why: l.Why}}}
	all, whole := pass(nil, math.MaxInt)
	if met, work := pass(right, math.MaxInt); all == 0 || met != 0 || work == 0 || work > whole/2 || whole != s.size() {
		t.Errorf("%d contradictions, with the right code %d; decoded %d and %d bytes, there are %d", all, met, whole, work, s.size())
	}
	right[0].At = append(right[0].At, event.Time{}) // another visit speaks for it
	if met, work := pass(right, math.MaxInt); met != 0 || work != 0 {
		t.Errorf("the same code again: %d contradictions, decoded %d bytes", met, work)
	}
	s.learned.answers = new(trials.Answers) // nobody told anything
	if met, work := pass(nil, 0); met != 1 || work > whole/2 {
		t.Errorf("no contradiction is wanted: met %d, decoded %d bytes of %d", met, work, whole)
	}
}

// TestLearnDense would catch work that leads nowhere. The dumps of these snapshots are of
// another kernel than the one that ran. No other code at a few sites explains the trace, so
// no idea is to be tried. All the work is at most three times that of decoding alone.
func TestLearnDense(t *testing.T) {
	for _, name := range []string{"juno_r1_1", "infrastructure"} {
		s := opened(t, Config{Recording: filepath.Join(dataDir(t), "coresight", "snapshots", name)})
		flowed(t, s, prints{})
		size, work := learner{s}.size(), s.decoded.Load()
		if !s.learned.done || s.learned.tries > 0 || s.learned.whole > 0 || work > 3*size {
			t.Errorf("%s: %d ideas tried, %d times all decoded, %d bytes of %d; learned: %v", name, s.learned.tries, s.learned.whole, work, size, s.learned.done)
		}
	}
}

// learnedBy returns the sites that s learned.
func learnedBy(s *Session) []kcore.Learned {
	sites, _ := s.Learned()
	return sites
}

// TestLearnGiven would catch a file of what was learned that says less than what was
// learned.
func TestLearnGiven(t *testing.T) {
	l := kcore.Learned{Addr: lateKey, Code: []byte{1, 2}, Was: []byte{3, 4}, Had: []byte{5, 6}, Others: [][]byte{{7, 8}}, Why: "jump label", For: 3, Against: 1}
	l.Change.Lo, l.Change.Hi = 5, 9
	back, unlike, err := kcore.ParseLearned(l.AppendJSON([]byte("{\"type\":\"other\"}\n\n"), "f+0x1"), "learned.jsonl")
	if err != nil || len(back) != 1 || fmt.Sprint(back[0]) != fmt.Sprint(l) || unlike {
		t.Errorf("%+v, %v; want %+v", back, err, l)
	}
	if back, unlike, err = kcore.ParseLearned([]byte(`{"type":"unlike"}`), "learned.jsonl"); err != nil || len(back) > 0 || !unlike {
		t.Errorf("%+v, %v of code that is another one throughout", back, err)
	}
	for _, bad := range []string{"{", `{"type":"learned"}`, `{"type":"learned","addr":"x","code":"00"}`, `{"type":"learned","addr":"1","code":"0"}`, `{"type":"learned","addr":"1","code":"00","was":"0000"}`, `{"type":"learned","addr":"1 z","code":"00"}`, `{"type":"learned","addr":"0x1","code":"00"}`} {
		if _, _, err := kcore.ParseLearned([]byte(bad), "learned.jsonl"); err == nil {
			t.Errorf("%s: no error", bad)
		}
	}
}

// TestLearnTaken would catch a file of what was learned that is not followed, or read but not decoded with.
func TestLearnTaken(t *testing.T) {
	c := lateConfigs(t)["late"]
	s := opened(t, c)
	flowed(t, s, newSums())
	list := learnedBy(s)
	if len(list) != 1 {
		t.Fatalf("learned %+v", list)
	}
	c.Learned = filepath.Join(t.TempDir(), "learned.jsonl")
	if err := os.WriteFile(c.Learned, list[0].AppendJSON(nil, ""), 0o600); err != nil {
		t.Fatal(err)
	}
	again := opened(t, c)
	for i, ips := range lateTruth(t) {
		if got := flowed(t, again, prints{})[i].ips; !slices.Equal(got, ips) {
			t.Errorf("stream %d: %d instructions, %d ran, or others", i, len(got), len(ips))
		}
	}
	if work, size := again.decoded.Load(), (learner{again}).size(); work != 2*size {
		t.Errorf("decoded %d bytes twice, the trace has %d", work, size)
	}
}

// TestLearnEdited would catch a site of a file that is decoded with though it was learned over other code. It
// would catch two codes of one site, of which the last one is taken. Lines that say the same do no harm.
func TestLearnEdited(t *testing.T) {
	c := lateConfigs(t)["late"]
	site := func(addr, code, had string) string {
		return fmt.Sprintf(`{"type":"learned","addr":"%s","kind":"jump label","code":"%s","had":"%s"}`+"\n", addr, code, had)
	}
	at := fmt.Sprintf("%x", uint64(lateKey))
	right := site(at, "e9dd010000", "0f1f440000")
	for _, x := range []struct{ more, err string }{
		{site(fmt.Sprintf("%x", uint64(lateKey+6)), "9090909090", "0f1f440000"), ""},
		{right, ""},
		{site(at, "e9dd020000", "0f1f440000"), "lie over each other"},
		{site(fmt.Sprintf("%x", uint64(lateKey+2)), "9090909090", ""), "lie over each other"},
	} {
		c.Learned = folder(t)("learned.jsonl", right+x.more)
		s, err := Open(c)
		if x.err != "" {
			if err == nil || !strings.Contains(err.Error(), x.err) {
				t.Errorf("%s: %v, want an error that has %q", x.more, err, x.err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for i, ips := range lateTruth(t) {
			if got := flowed(t, s, prints{})[i].ips; !slices.Equal(got, ips) {
				t.Errorf("%s: stream %d: %d instructions, %d ran, or others", x.more, i, len(got), len(ips))
			}
		}
	}
}

// TestLearnMute would catch code that stays possible besides what images have and that a file of it does not give back: the
// same code, the same flow. The call that ran is called missing code in the image.
func TestLearnMute(t *testing.T) {
	const site = 0xffffffff908df65b
	c := Config{Recording: filepath.Join(dataDir(t), "kernel-pokes-x86", "kprobes", "perf.data")}
	c.Code = []CodeFile{{Path: folder(t)("call", "\xe8\x00\xd4\xeb\xff"), Addr: site}}
	s := opened(t, c)
	want := flowed(t, s, prints{})
	list := learnedBy(s)
	if len(list) != 1 || list[0].Addr != site || string(list[0].Code) != string(list[0].Had) || len(list[0].Others) != 1 || !list[0].Either {
		t.Fatalf("learned %+v", list)
	}
	c.Learned = folder(t)("learned.jsonl", string(list[0].AppendJSON(nil, "")))
	s = opened(t, c)
	got := flowed(t, s, prints{})
	if again := learnedBy(s); fmt.Sprint(again) != fmt.Sprint(list) {
		t.Errorf("learned %+v with the file, %+v before", again, list)
	}
	for i := range want {
		if !slices.Equal(got[i].ips, want[i].ips) {
			t.Errorf("stream %d: another flow with the file", i)
		}
	}
}

// TestLearnBehindHole would catch a site of which nothing is learned, because code is missing that ran shortly before. The
// image has a static call's other code, and 32 zeros where __vm_enough_memory lies.
func TestLearnBehindHole(t *testing.T) {
	const site, hole = 0xffffffff908f9384, 0xffffffff908ad910
	dir := filepath.Join(dataDir(t), "kernel-pokes-x86", "tracepoints-coarse")
	c := Config{Recording: filepath.Join(dir, "perf.data")}
	file := folder(t)
	c.Code = []CodeFile{{Path: file("key", "\x2e\x2e\x2e\x31\xc0"), Addr: site}, {Path: file("hole", strings.Repeat("\x00", 32)), Addr: hole}}
	s := opened(t, c)
	flowed(t, s, prints{})
	if list := learnedBy(s); len(list) != 1 || list[0].Addr != site || string(list[0].Code) != "\xe8\xf7\x9b\x75\x00" {
		t.Errorf("learned %+v, want the call at %x", list, uint64(site))
	}
}

// TestLearnAmongHoles would catch right code that is not believed since much is contradicted still: the code that is missing
// elsewhere ends the flow as often as before, or more often. The image jumps in place of a jump label's NOP, and has two
// holes. Behind these, the outcomes left over were cut so that the jump fits, and what never ran was claimed.
func TestLearnAmongHoles(t *testing.T) {
	o := readOriginal(t, "tracepoints-coarse", readSiteTables(t))
	for _, c := range []struct {
		site   uint64
		code   string
		a, b   uint64
		na, nb int
	}{
		{0xffffffff907469dc, "\xe9\x06\x01\x00\x00", 0xffffffff91200000, 0xffffffff907b79c0, 0x1000, 0x40},
		{0xffffffff9092bc25, "\xe9\xe7\x00\x00\x00", 0xffffffff90976000, 0xffffffff908cea00, 0x1000, 0x200},
	} {
		s := o.reopened(t, o.config, func(rec *recording.Recording) {
			rec.Code = append(rec.Code, recording.Code{Addr: c.site, Bytes: []byte(c.code)}, recording.Code{Addr: c.a, Bytes: make([]byte, c.na)}, recording.Code{Addr: c.b, Bytes: make([]byte, c.nb)})
		})
		n := o.claims(flowed(t, s, prints{}))
		if list := learnedBy(s); len(list) != 1 || list[0].Addr != c.site || string(list[0].Code) != string(nop5) || n.wrong > 0 {
			t.Errorf("%x: %d claims that never ran; learned %+v, want the NOP", c.site, n.wrong, list)
		}
		s.Close()
	}
}

// TestLearnOver would catch a file of what was learned that is believed against the trace. It would also catch code that
// is told as learned in its place, though the images have it, or that is learned next to it.
func TestLearnOver(t *testing.T) {
	const nop, ran = "0f1f440000", "e9dd010000"
	for _, x := range []struct{ image, had, code string }{
		{"early", ran, nop}, {"early", "", nop}, {"early", "", "e9dd020000"},
		{"late", nop, "e9dd020000"}, {"late", "", "e9dd020000"}, {"late", "", "e9ddff0000"}, {"late", "", "cc1f440000"},
	} {
		c := lateConfigs(t)[x.image]
		c.Learned = filepath.Join(t.TempDir(), "learned.jsonl")
		line := fmt.Sprintf(`{"type":"learned","addr":"%x","kind":"jump label","code":"%s","had":"%s"}`, uint64(lateKey), x.code, x.had)
		if err := os.WriteFile(c.Learned, []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
		s := opened(t, c)
		if list := learnedBy(s); len(list) != 1 {
			t.Errorf("%+v: given: %+v", x, list)
		}
		flowed(t, s, newSums())
		got := flowed(t, s, prints{})
		for i, ips := range lateTruth(t) {
			if !slices.Equal(got[i].ips, ips) {
				t.Errorf("%+v: stream %d: %d instructions, %d ran, or others", x, i, len(got[i].ips), len(ips))
			}
		}
		list := learnedBy(s)
		if x.image == "early" && len(list) > 0 {
			t.Errorf("%+v: learned, though the images have it: %+v", x, list)
		}
		if x.image == "late" && (len(list) != 1 || fmt.Sprintf("%x, had %x", list[0].Code, list[0].Had) != ran+", had "+nop) {
			t.Errorf("%+v: learned %+v", x, list)
		}
	}
}

// TestLearnChange would catch code that is believed to have lain there throughout, since
// it explains some visits, and is not tested against all others. The record of a site's
// last change is missing, so each of its two codes is right for a part of the visits.
func TestLearnChange(t *testing.T) {
	o := &original{name: "nomitig-late", config: lateConfigs(t)["early"]}
	truth := lateTruth(t)
	o.read(t, func(st *Stream) string {
		return filepath.Join(dataDir(t), "kernel-pokes-x86", "nomitig-late", fmt.Sprintf("cpu%d.ips.zst", st.CPU))
	})
	tried, changed, most := 0, 0, testsize.Of(t, 1, 2)
	for i := range o.pokes {
		p := &o.pokes[i]
		of := func(q *kcore.Poke) bool { return q.Addr == p.Addr }
		last := !slices.ContainsFunc(o.pokes[i+1:], func(q kcore.Poke) bool { return of(&q) })
		if !last || !slices.ContainsFunc(o.pokes[:i], func(q kcore.Poke) bool { return of(&q) }) || !o.executed(p.Addr) || tried == 6 || changed == most {
			continue
		}
		s := o.reopened(t, o.config, func(rec *recording.Recording) {
			rec.Pokes = slices.DeleteFunc(rec.Pokes, func(q kcore.Poke) bool { return of(&q) && q.Time == p.Time })
		})
		got := flowed(t, s, prints{})
		var n claimCount
		for i := range truth {
			n.judge(got[i], o.ran[i])
		}
		t.Logf("%x %x -> %x: %d wrong, %d missing, learned %+v", p.Addr, p.Old, p.New, n.wrong, n.missing, learnedBy(s))
		tried++
		for _, l := range learnedBy(s) {
			if l.Addr != p.Addr {
				t.Errorf("%x: learned %+v", p.Addr, l)
			} else if l.Was != nil && l.Change.Lo <= p.Time && p.Time <= l.Change.Hi {
				changed++
			}
		}
	}
	if changed == 0 {
		t.Errorf("no change of %d was learned", tried)
	}
}

// TestLearnLeaves would catch code that is believed though most contradictions stay with it. Then something else is
// wrong, which may be what led there. Beside the static key some branches lead one byte too far, which no idea
// mends. Where these hardly ran, the key is learned.
func TestLearnLeaves(t *testing.T) {
	o := &original{name: "nomitig-late", config: lateConfigs(t)["early"]}
	o.image = opened(t, o.config).Text().Image()
	times := map[uint64]int{}
	for _, ips := range lateTruth(t) {
		for _, ip := range ips {
			times[ip]++
		}
	}
	for _, c := range []struct {
		most   int // that a branch ran, times
		learns bool
	}{{2, true}, {400, false}} {
		wrong := []recording.Code{{Addr: lateKey, Bytes: nop5}}
		for _, ip := range slices.Sorted(maps.Keys(times)) {
			var b [2]byte
			if n := times[ip]; len(wrong) == 9 || n > c.most || n <= c.most/2 || !o.known(ip) || o.image.ReadAt(b[:], ip) < 2 || b[0] != 0x74 && b[0] != 0x75 {
				continue
			}
			wrong = append(wrong, recording.Code{Addr: ip, Bytes: []byte{b[0], b[1] + 1}})
		}
		s := o.reopened(t, o.config, func(rec *recording.Recording) { rec.Code = append(rec.Code, wrong...) })
		flowed(t, s, prints{})
		has := slices.ContainsFunc(learnedBy(s), func(l kcore.Learned) bool { return l.Addr == lateKey })
		if len(wrong) < 9 || has != c.learns {
			t.Errorf("%d branches that ran up to %d times are wrong: learned %+v", len(wrong), c.most, learnedBy(s))
		}
		s.Close()
	}
}
