package trials

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/kcore"
)

// TestTwins would catch a twin that is not asked because another one before it does not bear the trace alike. It would catch
// a segment that is told out of flow which the trace contradicts.
func TestTwins(t *testing.T) {
	code := func(c byte) *Code {
		return &Code{Learned: []kcore.Learned{{Addr: 0x10, Code: []byte{c}, Had: []byte{0}}}}
	}
	k := &Answers{Most: 1 << 20}
	var w flow.Watch
	if err := w.Sink(new(Insns)).Flow(&flow.Batch{Ranges: []flow.Range{{Block: &flow.Block{Addr: 0x10, End: 0x11}}}}); err != nil {
		t.Fatal(err)
	}
	reads := w.Read()
	first, second := code(1), code(2)
	clear, contradicted := Part{0, 1}, Part{0, 2}
	for i, c := range []*Code{first, second} {
		k.Keep(c, clear, reads, &Answer{Insns: 10 + i, Flow: []*flow.Kept{}})
		k.Keep(c, contradicted, reads, &Answer{Flow: []*flow.Kept{}, Visits: make([]learn.Visit, 1)})
	}
	a := Ask(k, code(3).Learned)
	asked := 0
	bears := func(yes bool) func(tell func(to flow.Sink) error) bool {
		return func(func(to flow.Sink) error) bool { asked++; return yes }
	}
	a.Twins = []Twin{{bears(false), first}, {bears(true), second}}
	if x := a.Answer(clear); x == nil || x.Insns != 11 || asked != 2 {
		t.Errorf("told by %+v, %d twins asked; want the second one's", x, asked)
	}
	if x := a.Answer(contradicted); x != nil || asked != 2 {
		t.Errorf("told by %+v, which the trace contradicts", x)
	}
}

// TestClear would catch a part in which nothing is contradicted that is decoded to learn that. It would catch one that is told so
// under other code, or behind where that is known, or whose flow is asked for.
func TestClear(t *testing.T) {
	base := &Code{Learned: []kcore.Learned{{Addr: 0x10, Code: []byte{1}, Had: []byte{0}}}}
	same, other := &Code{Learned: base.Learned}, &Code{}
	k := &Answers{Most: 1 << 20}
	if k.Clear(base, map[int]int64{3: 100}) {
		t.Error("something was said before")
	}
	for _, c := range []struct {
		what string
		code *Code
		part Part
		flow bool
		want bool
	}{
		{"before the end", same, Part{3, 99}, false, true},
		{"behind the end", same, Part{3, 100}, false, false},
		{"another stream", same, Part{2, 99}, false, false},
		{"flow", same, Part{3, 99}, true, false},
		{"other code", other, Part{3, 99}, false, false},
	} {
		if x := k.Known(c.code, c.part, c.flow); (x != nil) != c.want || x != nil && len(x.Visits) > 0 {
			t.Errorf("%s: told by %v, want that something does: %v", c.what, x != nil, c.want)
		}
	}
	if !k.Clear(nil, nil) || k.Known(same, Part{3, 99}, false) != nil {
		t.Error("it is told still")
	}
}
