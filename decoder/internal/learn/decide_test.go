package learn

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore"
)

// visitAt is a visit at ns that came by addr.
func visitAt(ns, addr uint64) *Visit {
	return &Visit{Off: int64(ns), IP: 0x9000, Path: []uint64{addr}, Time: event.Time{Lo: ns, Hi: ns}}
}

// TestDecideShort would catch an idea that is believed because others were not tried: one fits, another would, and too
// much was decoded or tried before its turn. So it would be with two of three rivals.
func TestDecideShort(t *testing.T) {
	var ideas []Idea
	for code := range byte(3) {
		ideas = append(ideas, Idea{Addr: 0x1000, Code: []byte{code}, Was: []byte{9}, Rank: rankLikely})
	}
	held := Outcome{Beyond: enough}
	for most := range 4 {
		made := 0
		byRoom := &Decider{Ideas: func(*Visit) []Idea { return ideas }, Try: func(*Visit, []Idea) Outcome {
			if made++; made > most {
				return Outcome{Untried: true}
			}
			return held
		}}
		byTries := &Decider{Ideas: byRoom.Ideas, Try: func(*Visit, []Idea) Outcome { return held }, Tries: maxTries - most}
		for _, d := range []*Decider{byRoom, byTries} {
			d.Decide([]*Visit{visitAt(1, 0x1000)})
			rivals := 0
			if most == len(ideas) {
				rivals = 1
			}
			if len(d.Held) > 0 || len(d.Rivals) != rivals {
				t.Errorf("%d of %d ideas tried: %d are believed, %d sets of rivals, want none and %d", most, len(ideas), len(d.Held), len(d.Rivals), rivals)
			}
		}
	}
}

// TestDecide would catch an idea that is believed though a visit contradicts it. It would
// also catch a change that the visits do not part, and a choice between ideas that do not
// do the same. And it would catch an idea that leads astray at each visit, where the trace
// puts the flow right each time.
func TestDecide(t *testing.T) {
	const site = 0x1000
	a := Idea{Addr: site, Code: []byte{1}, Was: []byte{9}, Rank: rankLikely}
	b := Idea{Addr: site, Code: []byte{2}, Was: []byte{9}, Rank: rankLikely}
	far := Idea{Addr: site, Code: []byte{3}, Was: []byte{9}, Rank: rankAny}
	held := Outcome{Beyond: enough}
	// lay says which code lay at the site at a moment.
	decide := func(ideas []Idea, lay func(ns uint64) byte, seek []uint64, all []uint64) (*Decider, bool) {
		d := &Decider{Ideas: func(*Visit) []Idea { return ideas }}
		d.Try = func(v *Visit, over []Idea) (o Outcome) {
			code := byte(9)
			for _, x := range over {
				code = x.Code[0]
			}
			if code == lay(v.Time.Lo) {
				return held
			}
			return o
		}
		var list []*Visit
		for _, ns := range seek {
			list = append(list, visitAt(ns, site))
		}
		d.Decide(list)
		var wrong []*Visit
		for _, ns := range all {
			if len(d.Held) > 0 && lay(ns) != d.Held[0].Code[0] {
				wrong = append(wrong, visitAt(ns, site))
			}
		}
		return d, d.Against(wrong)
	}
	always := func(code byte) func(uint64) byte { return func(uint64) byte { return code } }
	moments := []uint64{1, 2, 3, 4, 5, 6}

	if d, changed := decide([]Idea{b, a}, always(1), moments, moments); len(d.Held) != 1 || d.Held[0].Code[0] != 1 || changed {
		t.Errorf("one code throughout: %+v, %v", d.Held, changed)
	}
	later := func(ns uint64) byte {
		if ns > 3 {
			return 1
		}
		return 9
	}
	if d, changed := decide([]Idea{a}, later, []uint64{4, 5, 6}, moments); len(d.Held) != 1 || !changed || d.Held[0].Change == nil ||
		*d.Held[0].Change != (event.Time{Lo: 3, Hi: 4}) || d.Held[0].Back {
		t.Errorf("changed once: %+v, %v", d.Held, changed)
	}
	earlier := func(ns uint64) byte {
		if ns < 3 {
			return 1
		}
		return 9
	}
	if d, _ := decide([]Idea{a}, earlier, []uint64{1, 2}, moments); len(d.Held) != 1 || d.Held[0].Change == nil ||
		*d.Held[0].Change != (event.Time{Lo: 2, Hi: 3}) || !d.Held[0].Back {
		t.Errorf("changed back: %+v", d.Held)
	}
	twice := func(ns uint64) byte { return []byte{9, 1}[ns%2] }
	if d, changed := decide([]Idea{a}, twice, []uint64{1, 3, 5}, moments); len(d.Held) != 0 || !changed || !d.Dropped(site) {
		t.Errorf("changed again and again: %+v, %v", d.Held, changed)
	}
	if d, _ := decide([]Idea{far}, always(3), []uint64{1}, moments); len(d.Held) != 0 {
		t.Errorf("a target of many that held once: %+v", d.Held)
	}
	skips := &Decider{Ideas: func(*Visit) []Idea { return []Idea{a} }, Try: func(_ *Visit, over []Idea) (o Outcome) {
		if len(over) > 0 {
			o = held
			o.Calls.Astray, o.Calls.Skipped = 1, 1
		}
		return o
	}}
	skips.Decide([]*Visit{visitAt(1, site), visitAt(2, site), visitAt(3, site)})
	if len(skips.Held) != 0 {
		t.Errorf("one whose returns skip calls: %+v", skips.Held)
	}
	both := &Decider{Ideas: func(*Visit) []Idea { return []Idea{a, b} }, Try: func(*Visit, []Idea) Outcome { return held }}
	both.Decide([]*Visit{visitAt(1, site), visitAt(2, site)})
	if len(both.Held) != 0 {
		t.Errorf("two that hold and do not do the same: %+v", both.Held)
	}
}

// TestUnread would catch code that is learned where nothing but the want of code ended the flow. It may be a call of what
// looks alike to the trace, or lead astray. So it was in six of 50 kcores with holes. It would also catch such code that does
// not stay possible besides the code as it is. And it would catch such code that the recording contradicts, or that lies over
// what was learned.
func TestUnread(t *testing.T) {
	none, err := kcore.NewJournal(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		calls, site bool // site: the flow ended at the site itself
		unread      int  // of three visits
		astray      int
		want        bool
	}{{true, false, 3, 0, false}, {true, false, 2, 0, true}, {true, false, 1, 1, true}, {true, true, 3, 1, true}, {false, false, 3, 0, true}, {false, false, 3, 1, false}, {false, false, 1, 1, true}} {
		idea := Idea{Addr: 0x1000, Code: []byte{1}, Was: []byte{9}, Rank: rankDistant, Recalls: c.calls}
		d := &Decider{Ideas: func(*Visit) []Idea { return []Idea{idea} }, Try: func(_ *Visit, over []Idea) (o Outcome) {
			if len(over) > 0 {
				o.Beyond, o.Calls.Astray = enough, c.astray
			}
			return o
		}, Code: func(dst []byte, _ uint64) int { return copy(dst, []byte{9}) }}
		visits := []*Visit{visitAt(1, 0x1000), visitAt(2, 0x1000), visitAt(3, 0x1000)}
		for _, v := range visits[:c.unread] {
			if v.Unread = true; c.site {
				v.IP = idea.Addr
			}
		}
		d.Decide(visits)
		if err := d.Settle(none, 2*leastMet, false, func([]Held, int) (int, error) { return 0, nil }); err != nil || len(d.Held) > 0 != c.want || len(d.Mute) > 0 == c.want {
			t.Errorf("%+v: held %+v, mute %+v, %v", c, d.Held, d.Mute, err)
		}
		for _, h := range d.Mute {
			if l := h.Learned(); l.Code[0] != 9 || len(l.Others) != 1 || l.Others[0][0] != 1 || !l.Either {
				t.Errorf("%+v: possible besides the code as it is: %+v", c, l)
			}
			if over := []Held{{Idea: Idea{Addr: 0xfff, Code: []byte{1, 2}}}}; len(d.Possible(over)) != 1 || len(d.Possible(nil)) != 1 {
				t.Errorf("%+v: possible: %v, and besides code that lies over it: %v", c, d.Possible(nil), d.Possible(over))
			}
		}
		if d.Held = nil; c.unread == 3 && !c.want {
			if err := d.Settle(none, 2*leastMet, false, func([]Held, int) (int, error) { return 1, nil }); err != nil || len(d.Mute) > 0 {
				t.Errorf("%+v: the recording contradicts it, and it is possible: %+v, %v", c, d.Mute, err)
			}
		}
	}
}

// TestExplained would catch an idea that is sought for a visit which what holds explains,
// though too little follows to say that it holds there too.
func TestExplained(t *testing.T) {
	right := Idea{Addr: 0x1000, Code: []byte{1}, Was: []byte{9}, Rank: rankLikely}
	chance := Idea{Addr: 0x2000, Code: []byte{2}, Was: []byte{9}, Rank: rankLikely}
	for _, first := range []uint64{1, 2} {
		d := &Decider{Ideas: func(v *Visit) []Idea {
			return []Idea{{Addr: v.Path[0], Code: []byte{byte(v.Path[0] >> 12)}, Was: []byte{9}, Rank: rankLikely}}
		}}
		d.Try = func(v *Visit, over []Idea) Outcome {
			is := func(x *Idea) bool { return slices.ContainsFunc(over, func(y Idea) bool { return y.same(x) }) }
			switch {
			case v.passes(right.Addr) && is(&right):
				return Outcome{Beyond: enough}
			case v.passes(chance.Addr) && is(&chance):
				return Outcome{Ended: true, Open: enoughAtEnd}
			case v.passes(chance.Addr) && is(&right):
				return Outcome{Ended: true, Open: enoughAtEnd - 3}
			}
			return Outcome{}
		}
		visits := []*Visit{visitAt(1, right.Addr), visitAt(2, chance.Addr)}
		if first == 2 {
			slices.Reverse(visits)
		}
		if d.Decide(visits); len(d.Held) != 1 || !d.Held[0].same(&right) {
			t.Errorf("visit %d first: held %+v, want the right idea alone", first, d.Held)
		}
	}
}

// TestTurns would catch ideas of one byte that are believed together, as their flows were the same
// where they were tried, though behind it they use other outcomes. It would also catch that all of
// the recording does not choose between them.
func TestTurns(t *testing.T) {
	for _, turns := range []uint64{0x1008, 0x1009} {
		a := Idea{Addr: 0x1000, Code: []byte{1}, Was: []byte{9}, Rank: rankLikely, Straight: true, Turns: 0x1009}
		b := Idea{Addr: 0x1000, Code: []byte{2}, Was: []byte{9}, Rank: rankLikely, Straight: true, Turns: turns}
		d := &Decider{Ideas: func(*Visit) []Idea { return []Idea{a, b} }, Code: func(dst []byte, addr uint64) int { return len(dst) }}
		d.Try = func(_ *Visit, over []Idea) (o Outcome) {
			if len(over) > 0 {
				o = Outcome{Beyond: enough, Flow: make([]uint64, enough)}
			}
			return o
		}
		d.Decide([]*Visit{visitAt(1, 0x1000), visitAt(2, 0x1000)})
		if got, want := len(d.Held) == 1, turns == a.Turns; got != want {
			t.Errorf("the first branches at %x and %x: learned %v, want %v", a.Turns, turns, got, want)
		}
		if turns == a.Turns {
			continue
		}
		if err := d.Settle(nil, 10, false, func(one []Held, _ int) (int, error) { return int(one[0].Code[0]), nil }); err != nil || len(d.Held) != 1 || !d.Held[0].same(&a) {
			t.Errorf("the recording has fewer contradictions with %v: learned %+v, %v", &a, d.Held, err)
		}
	}
}

// TestShown would catch a change of two images that is put behind a visit at which the later
// code fits too: the earlier code is claimed for too long then. It would also catch one that
// is put before the trace contradicted the earlier code.
func TestShown(t *testing.T) {
	early := Idea{Addr: 0x9000, Code: []byte{1}, Other: []byte{2}, Rank: rankKnown}
	late := Idea{Addr: 0x9000, Code: []byte{2}, Other: []byte{1}, Rank: rankKnown, Late: true}
	for _, c := range []struct {
		lay  byte
		x    Idea
		want event.Time
	}{{1, early, event.Time{Lo: 1, Hi: math.MaxUint64}}, {2, late, event.Time{Hi: 9}}} {
		d := &Decider{Ideas: func(*Visit) []Idea { return []Idea{early, late} }}
		d.Try = func(v *Visit, over []Idea) Outcome {
			if v.Time.Lo > 1 || len(over) > 0 && over[0].Code[0] == c.lay {
				return Outcome{Beyond: enough} // at all visits but the first, either fits
			}
			return Outcome{Until: 9}
		}
		d.Decide([]*Visit{visitAt(1, 0x8000), visitAt(2, 0x8000), visitAt(3, 0x8000)})
		if len(d.Held) != 1 || d.Held[0].Code[0] != c.x.Code[0] {
			t.Errorf("code %d: %+v", c.lay, d.Held)
			continue
		}
		if d.Held[0].between(); *d.Held[0].Change != c.want {
			t.Errorf("code %d: the change lies in %+v, want %+v", c.lay, *d.Held[0].Change, c.want)
		}
	}
}

// TestGathered would catch visits of which only the first, or only the last are kept.
func TestGathered(t *testing.T) {
	var g Gathered
	for ns := range uint64(1000) {
		v := visitAt(ns, 1)
		v.Off, v.Begin = int64(ns*1000), int64(ns*1000)
		g.Add(v)
	}
	list := g.Visits()
	if g.Len() != 1000 || len(list) < maxKept/2 || len(list) > maxKept || list[0].Time.Lo > 100 || list[len(list)-1].Time.Lo < 400 {
		t.Errorf("%d of %d kept", len(list), g.Len())
	}
}

// TestHalved would catch right code that is given up, since flow still ends where code is missing. It would also
// catch wrong code that leads flow to missing code in place of what the trace contradicts.
func TestHalved(t *testing.T) {
	const at, elsewhere = 0x1000, 0x9000
	gathered := func(with []Held, contradicted, holes, led int) Tally {
		g := GatheredWith(with)
		for i := range contradicted + holes + led {
			v := visitAt(uint64(i), 1)
			v.Off, v.Begin, v.IP, v.Path = int64(i*1000), int64(i*1000), elsewhere+uint64(i%7)*16, nil
			if v.Unread = i >= contradicted; i >= contradicted+holes {
				v.Path = []uint64{elsewhere, at}
			}
			g.Add(v)
		}
		return g.Tally()
	}
	for _, c := range []struct {
		contradicted, holes   int // met
		left, leftHoles, leds int
		want                  bool
	}{
		{100, 0, 50, 0, 0, true}, {100, 0, 51, 0, 0, false},
		{100, 800, 0, 900, 0, true}, {100, 800, 60, 800, 0, false}, {100, 800, 0, 800, 60, false}, {100, 800, 20, 800, 20, true},
		{0, 800, 0, 800, 0, false}, {0, 800, 0, 300, 0, true}, {leastMet, 800, 0, 800, 0, false}, {2 * leastMet, 800, 0, 800, 0, true},
	} {
		met := gathered(nil, c.contradicted, c.holes, 0)
		left := gathered([]Held{{Idea: Idea{Addr: at}}}, c.left, c.leftHoles, c.leds)
		if got := met.Halved(left); got != c.want {
			t.Errorf("%+v: met %+v, left %+v: %v", c, met, left, got)
		}
	}
}

// TestDense would catch learning that is given up where one wrong site is met often, or
// where visits lie far apart. It would also catch learning that goes on where code and
// trace are of two kernels.
func TestDense(t *testing.T) {
	gathered := func(visits, places int) *Gathered {
		var g Gathered
		for i := range visits {
			v := visitAt(uint64(i), 1)
			v.Off, v.Begin, v.IP = int64(i*1000), int64(i*1000), uint64(0x1000+i%places*16)
			if i%2 == 1 {
				v.Begin = v.Off - 1000 // may follow from the one before
			}
			g.Add(v)
		}
		return &g
	}
	for _, x := range []struct {
		visits, places, apart int
		want                  bool
	}{{100, 40, 100, true}, {100, 40, enough, false}, {1000, 31, 10, false}, {1000, 1, 10, false}} {
		if got := gathered(x.visits, x.places).Dense(x.visits * x.apart); got != x.want {
			t.Errorf("%+v: %v", x, got)
		}
	}
}

// TestJoin would catch ideas that are joined though some visit tells them apart, or though
// they lie too far from each other. It would also catch a joint one that misses an
// alternative, and one that is not learned where nothing tells the ideas apart.
func TestJoin(t *testing.T) {
	long := func(at ...uint64) (flow []uint64) {
		flow = append(flow, at...)
		for i := range uint64(100) {
			flow = append(flow, 0x2000+i)
		}
		return flow
	}
	near := Idea{Addr: 0x1002, Code: []byte{0x66, 0x90}, Was: []byte{0xeb, 4}, Rank: rankDistant, Straight: true}
	over := Idea{Addr: 0x1000, Code: []byte{0xeb, 2}, Was: []byte{0x66, 0x90}, Rank: rankDistant}
	far := Idea{Addr: 0x1100, Code: []byte{0xeb, 2}, Was: []byte{0x66, 0x90}, Rank: rankDistant}
	for _, c := range []struct {
		what  string
		other Idea
		apart bool // the second visit tells them apart
		want  string
	}{
		{"nothing tells them apart", over, false, "1000 66906690 or [eb02eb04]"},
		{"a visit tells them apart", over, true, ""},
		{"they lie far from each other", far, false, ""},
	} {
		d := &Decider{Ideas: func(*Visit) []Idea { return []Idea{near, c.other} }}
		d.Code = func(dst []byte, addr uint64) int {
			return copy(dst, ("\x66\x90\xeb\x04" + strings.Repeat("\x90", 512))[addr-0x1000:])
		}
		d.Try = func(v *Visit, over []Idea) (o Outcome) {
			if len(over) == 0 {
				return o
			}
			o = Outcome{Beyond: enough, Flow: long(0x1000, 0x1002)}
			if over[0].Addr != near.Addr {
				o.Flow = long(0x1000)
				if c.apart && v.Time.Lo == 2 {
					o.Flow[50]++
				}
			}
			return o
		}
		var visits []*Visit
		for ns := range uint64(3) {
			v := visitAt(ns+1, 0x1002)
			v.Path = append(v.Path, 0x1000, 0x1100)
			visits = append(visits, v)
		}
		d.Decide(visits)
		got := ""
		for _, h := range d.Held {
			got += fmt.Sprintf("%x %x or %x", h.Addr, h.Code, h.Others)
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.what, got, c.want)
		}
	}
}

// TestHeldSite would catch two codes that are believed of one site: where the code changed, each is
// needed where it was found.
func TestHeldSite(t *testing.T) {
	a := Idea{Addr: 0x1000, Code: []byte{1}, Was: []byte{9}, Rank: rankLikely}
	b := Idea{Addr: 0x1000, Code: []byte{2}, Was: []byte{9}, Rank: rankLikely}
	d := &Decider{Ideas: func(*Visit) []Idea { return []Idea{a, b} }}
	d.Try = func(v *Visit, over []Idea) (o Outcome) {
		if want := byte(1 + v.Time.Lo/10); len(over) == 1 && over[0].Code[0] == want {
			o = Outcome{Beyond: enough}
		}
		return o
	}
	d.Decide([]*Visit{visitAt(1, 0x1000), visitAt(2, 0x1000), visitAt(11, 0x1000), visitAt(12, 0x1000)})
	if len(d.Held) != 1 || !d.Held[0].same(&a) {
		t.Errorf("held %+v, want the code that was found first", d.Held)
	}
}

// TestAgain would catch code that an earlier run learned and that stays over what was learned since, as its address is the
// higher one. It would also catch code that is said to have been in the images, and was only learned.
func TestAgain(t *testing.T) {
	site := func(addr uint64, code ...byte) kcore.Learned { return kcore.Learned{Addr: addr, Code: code} }
	// What was given has what the images have, and what was learned over it must say so.
	over := site(0x1000, 5, 5, 5, 5)
	over.Had = []byte{9, 9, 7, 7}
	under := site(0x1002, 7, 7)
	under.Had = []byte{8, 8}
	if got := Again([]kcore.Learned{under}, []kcore.Learned{over}); len(got) != 1 || string(got[0].Had) != "\x09\x09\x08\x08" || over.Had[2] != 7 {
		t.Errorf("%v, want one that had 09 09 08 08", got)
	}
	given := []kcore.Learned{site(0x1005, 1, 1, 1), site(0x2000, 2), site(0x3000, 3)}
	since := []kcore.Learned{site(0x2000, 4), site(0x1000, 5, 5, 5, 5, 5, 5, 5, 5), site(0x2fff, 6)}
	want := []kcore.Learned{since[1], given[1], since[0], since[2], given[2]}
	if got := Again(given, since); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
