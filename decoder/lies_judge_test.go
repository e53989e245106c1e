package decoder

import (
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// The code that the judge is tried on: a site, a NOP behind it, and a jump back to the site.
// The site is a NOP, or a jump over the other one.
const (
	judgeSite = 0xffffffff81000000
	judgeOver = judgeSite + 5
	judgeBack = judgeSite + 6
)

// judgeCode returns code whose site is first, and changes to each of pokes at moment 100, 101
// and so on. Zeros behind it say that nothing was mapped there.
func judgeCode(t *testing.T, first []byte, pokes ...[]byte) *code {
	img := &image.Image{}
	b := append(append([]byte{}, first...), 0x90, 0xeb, 0xf8)
	if err := img.AddBytes(judgeSite, append(b, make([]byte, 64)...)); err != nil {
		t.Fatal(err)
	}
	var list []kcore.Poke
	for i, b := range pokes {
		at := uint64(100 + i)
		list = append(list, kcore.Poke{Time: at, Begin: at, End: at, Addr: judgeSite, Old: first, New: b, Scheme: kcore.SchemeBP})
		first = b
	}
	j, err := kcore.NewJournal(list)
	if err != nil {
		t.Fatal(err)
	}
	return &code{journal: j, text: textView{Text: kcore.NewText(j, img, kcore.TextOptions{}), holes: true}}
}

// judgePath is what ran from 90 to 110 in code c.
func judgePath(c *code, ips ...uint64) (path []passage) {
	for _, ip := range ips {
		path = append(path, passage{ip, event.Time{Lo: 90, Hi: 110}, c, false})
	}
	return path
}

// judging returns a twin of a stream of Intel PT.
func judging() *slowTwin {
	left := maxVersions
	return &slowTwin{d: x86.Decoder{}, m: isa.Mode64, compressed: true, keeps: isa.MaxStack, passed: map[int]bool{}, left: &left}
}

// TestTwinForward would catch a judge that excuses code which goes back: a site that was
// old, new and old again, though it changed once.
func TestTwinForward(t *testing.T) {
	over := direct(0xe9, judgeSite, judgeBack)
	once, twice := judgeCode(t, nop5, over), judgeCode(t, nop5, over, nop5)
	const site, nop, back = judgeSite, judgeOver, judgeBack
	for _, x := range []struct {
		name   string
		code   *code
		before []uint64
		path   []uint64
		want   bool
	}{
		{"old", once, nil, []uint64{site, nop, back, site, nop}, true},
		{"old, new", once, nil, []uint64{site, nop, back, site, back}, true},
		{"new, old", once, nil, []uint64{site, back, site, nop}, false},
		{"old, new, old", once, nil, []uint64{site, nop, back, site, back, site, nop}, false},
		{"new before, old", once, []uint64{site, back, site}, []uint64{site, nop}, false},
		{"old, new, old, changed twice", twice, nil, []uint64{site, nop, back, site, back, site, nop}, true},
		{"new, old, new, changed twice", twice, nil, []uint64{site, back, site, nop, back, site, back}, false},
	} {
		twin := judging()
		if x.before != nil {
			twin.passes(judgePath(x.code, x.before...))
		}
		if got := twin.follows(judgePath(x.code, x.path...), nil); got != x.want {
			t.Errorf("%s: follows %v, want %v", x.name, got, x.want)
		}
	}
}

// TestTwinUnknown would catch a judge that takes an image's zeros, or what no image holds,
// for code, and so excuses claims of code that is not known.
func TestTwinUnknown(t *testing.T) {
	c := judgeCode(t, nop5)
	const zeros = judgeSite + 8
	for name, path := range map[string][]uint64{
		"zeros":   {judgeBack, judgeSite, judgeOver, judgeBack, zeros, zeros + 2},
		"nothing": {judgeBack, judgeSite + 1<<20, judgeSite + 1<<20 + 1},
	} {
		if judging().follows(judgePath(c, path...), []uint64{judgeBack, path[len(path)-2]}) {
			t.Errorf("%s: followed", name)
		}
		if told, ok := judging().tells(judgePath(c, path...)); ok {
			t.Errorf("%s: the truth tells %x", name, told)
		}
	}
}

// TestTwinSync would catch a judge that lets outcomes, or return addresses, of before a sync point count
// behind it, or a flow that is elsewhere at one.
func TestTwinSync(t *testing.T) {
	branch := judgeCode(t, append(direct(0xe9, judgeSite, judgeOver), 0x74, 0xf9)) // a jump on, and JE back to it
	const site, back = judgeSite, judgeOver
	for _, x := range []struct {
		name       string
		ran, said  []uint64
		at, saidAt int // what a sync point stands before
		want       bool
	}{
		{"the same", []uint64{site, back, site, back, site}, []uint64{site, back, site, back, site}, 2, 2, true},
		{"an outcome later", []uint64{site, back, site, back, site}, []uint64{site, back, site, back, site}, 2, 0, false},
		{"elsewhere", []uint64{site, back, site}, []uint64{site, back, site}, 0, 1, false},
		{"none", []uint64{site, back, site}, []uint64{site, back, site}, 0, 9, false},
	} {
		ran, said := judgePath(branch, x.ran...), judgePath(branch, x.said...)
		for k := range ran {
			ran[k].sync, said[k].sync = k == x.at, k == x.saidAt
		}
		unit, twin := judging(), judging()
		unit.waypoints, twin.waypoints = isa.Set(isa.Cond), isa.Set(isa.Cond)
		told, ok := unit.tells(ran)
		if got := twin.follows(said, told); !ok || got != x.want {
			t.Errorf("%s: follows %v, want %v", x.name, got, x.want)
		}
	}
	ret := judgeCode(t, append(direct(0xe8, judgeSite, judgeBack), 0xc3, 0xc3, 0xc3)) // a call of a return
	path := judgePath(ret, judgeSite, judgeBack, judgeOver)
	for _, sync := range []bool{false, true} {
		path[1].sync = sync
		want := []uint64{1}
		if sync {
			want = []uint64{toldSync, judgeBack, judgeOver}
		}
		if told, _ := judging().tells(path); !slices.Equal(told, want) {
			t.Errorf("a return, sync point before it %v: %x told, want %x", sync, told, want)
		}
	}
}

// TestTwinEnds would catch a judge that excuses no flow which agrees with all to the end of the trace. It
// would also catch one that excuses a flow to which more than one outcome, or another one, is told.
func TestTwinEnds(t *testing.T) {
	branch := judgeCode(t, append(direct(0xe9, judgeSite, judgeOver), 0x74, 0xf9)) // a jump on, and JE back to it
	path := judgePath(branch, judgeSite, judgeOver, judgeSite, judgeOver, judgeSite)
	for _, c := range []struct {
		want []uint64
		ends bool
	}{
		{[]uint64{1, 1}, true}, {[]uint64{1}, true}, {[]uint64{1, 1, 0}, true},
		{nil, false}, {[]uint64{1, 1, 0, 1}, false}, {[]uint64{1, 0}, false}, {[]uint64{0, 1, 1}, false},
	} {
		twin := judging()
		twin.waypoints = isa.Set(isa.Cond)
		if got := twin.ends(path, c.want); got != c.ends {
			t.Errorf("%d: ends %v, want %v", c.want, got, c.ends)
		}
	}
}

// TestAnchors would catch a judge that looks back over a sync point, or does not know that it says where
// the CPU is. All may be ambiguous from there on.
func TestAnchors(t *testing.T) {
	const ran = "1abc2def3ghijklmn4opq5rstuvwxyz"
	for _, c := range []struct {
		printed string
		want    []anchor
	}{
		{"1abc2def3ghiJklmn4opq5rstuvwxyz", []anchor{{printed: 9, executed: 9}, {printed: 7, executed: 7}}}, // claims behind it
		{"1abc2def3[gh]iJ4opq5rstuvwxyz", []anchor{{printed: 9, executed: 9}, {printed: 7, executed: 7}}},
		{"1abc2def3[ghi]J4opq5rstuvwxyz", []anchor{{printed: 7, executed: 7}}}, // nothing claimed behind it
		{"1abc2def3Ghi4opq5rstuvwxyz", nil},                                // elsewhere
		{"1abc2def!4oJpq5rstuvwxyz", []anchor{{printed: 7, executed: 15}}}, // a gap behind it
	} {
		p, n, x := &printed{syncs: []int64{0, 3}}, &claimCount{}, truly(ran)
		p.ips, p.parts = story(c.printed)
		list := n.judge(p, x)
		if len(list) == 0 {
			t.Errorf("%s: nothing is wrong", c.printed)
			continue
		}
		var got []anchor
		for _, a := range p.anchors(x, &list[0]) {
			got = append(got, anchor{printed: a.printed, executed: a.executed})
		}
		got = slices.Compact(got) // a gap, and what was found first behind it
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v (%+v)", c.printed, got, c.want, list[0])
		}
	}
}

// TestTwinCodeOfThen would catch a judge that excuses what was printed behind the learning
// by the code of before, or what was printed before by the code that was learned.
func TestTwinCodeOfThen(t *testing.T) {
	first, next := judgeCode(t, nop5), judgeCode(t, direct(0xe9, judgeSite, judgeBack))
	s := &Session{}
	got := codedPrints{prints{}, s}
	r := flow.Range{Block: &flow.Block{Addr: judgeSite, Lens: []uint8{5, 1, 2}}, N: 3}
	short := flow.Range{Block: &flow.Block{Addr: judgeSite, Lens: []uint8{5}}, N: 1}
	back := flow.Range{Block: &flow.Block{Addr: judgeBack, Lens: []uint8{2}}, N: 1}
	for _, x := range []struct {
		code   *code
		ranges []flow.Range
	}{{first, []flow.Range{r}}, {next, []flow.Range{short, back}}} {
		s.code.Store(x.code)
		b := &flow.Batch{Ranges: x.ranges, Stamps: []flow.Stamp{{Off: 16, Time: event.Time{Lo: 90, Hi: 110}}}}
		if err := got.Flow(b); err != nil {
			t.Fatal(err)
		}
	}
	p := got.prints[0]
	if !judging().follows(p.steps(0, 5), nil) {
		t.Error("each in the code of then: not followed")
	}
	for name, c := range map[string]*code{"before": first, "learned": next} {
		one := &printed{ips: p.ips, parts: []part{{code: c}}}
		if judging().follows(one.steps(0, 5), nil) {
			t.Errorf("all in the code that was %s: followed", name)
		}
	}
	p.parts[0].code, p.parts[1].code = p.parts[1].code, p.parts[0].code
	if judging().follows(p.steps(0, 5), nil) {
		t.Error("each in the code of the other: followed")
	}
}

// TestTwinMeets would catch a judge that lets two flows meet at one place where the trace unit
// keeps other return addresses: the next return tells them apart.
func TestTwinMeets(t *testing.T) {
	path := judgePath(judgeCode(t, direct(0xe8, judgeSite, judgeBack)), judgeSite, judgeBack)
	for _, x := range []struct {
		calls []uint64
		want  bool
	}{{[]uint64{judgeOver}, true}, {nil, false}, {[]uint64{judgeBack}, false}, {[]uint64{judgeOver, judgeOver}, false}} {
		twin := judging()
		twin.meets = &x.calls
		if got := twin.follows(path, nil); got != x.want {
			t.Errorf("calls %x: follows %v, want %v", x.calls, got, x.want)
		}
	}
}

// TestTwinByOutcome would catch a judge that does not know what units of Arm tell of a branch to the newest return
// address: its outcome alone. Any other goes to an address that is told, and takes none off.
func TestTwinByOutcome(t *testing.T) {
	const inner, outer, elsewhere = judgeSite + 8, judgeSite + 4, judgeSite + 0x40
	twin := &slowTwin{byOutcome: true, keeps: 2, passed: map[int]bool{}, waypoints: isa.Set(isa.Call, isa.Return, isa.JumpInd)}
	call := version{in: isa.Insn{Class: isa.Call, Len: 4, Target: elsewhere}}
	back := version{in: isa.Insn{Class: isa.Return, Len: 4}}
	jump := version{in: isa.Insn{Class: isa.JumpInd, Len: 4}}
	for _, x := range []struct {
		name     string
		r        *version
		ip, next uint64
		want     []uint64
	}{
		{"a call that falls off at the third", &call, judgeSite - 4, elsewhere, []uint64{1}},
		{"the outer call", &call, judgeSite, elsewhere, []uint64{1}},
		{"the inner call", &call, judgeSite + 4, elsewhere, []uint64{1}},
		{"a jump to elsewhere", &jump, elsewhere, outer, []uint64{2, outer}},
		{"a jump to the newest", &jump, elsewhere, inner, []uint64{1}},
		{"a return to the next one", &back, elsewhere, outer, []uint64{1}},
		{"a return to what fell off", &back, elsewhere, judgeSite, []uint64{2, judgeSite}},
	} {
		if got := twin.step(x.r, x.ip, x.next); !slices.Equal(got, x.want) {
			t.Errorf("%s: %x is told, want %x", x.name, got, x.want)
		}
	}
}

// TestTwinMeetsBehind would catch a judge that does not look for where flows meet behind what is ambiguous, or that looks
// behind a gap. They meet there in cases 4 and 78 of dropped/ftrace.
func TestTwinMeetsBehind(t *testing.T) {
	p := &printed{ips: make([]uint64, 100), parts: []part{
		{place: place{from: 0}}, {place: place{from: 20}, ambiguous: true}, {place: place{from: 30}}, {place: place{from: 40}}, {place: place{from: 50}, ambiguous: true}, {place: place{from: 60}}, {place: place{from: 70}, gap: &event.Gap{}}, {place: place{from: 70}}, {place: place{from: 80}, ambiguous: true},
	}}
	if got, want := p.meetings(untruth{part: 0, to: 10}), []int{10, 20, 30, 50, 60}; !slices.Equal(got, want) {
		t.Errorf("meetings at %d, want %d", got, want)
	}
	if got := p.meetings(untruth{part: 5, to: 70}); got != nil {
		t.Errorf("meetings at %d, right before a gap", got)
	}
}
