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
	var reads flow.Reads
	var w flow.Watch
	if err := w.Sink(new(Insns)).Flow(&flow.Batch{Ranges: []flow.Range{{Block: &flow.Block{Addr: 0x10, End: 0x11}}}}); err != nil {
		t.Fatal(err)
	}
	reads = w.Reads
	first, second := code(1), code(2)
	clear, contradicted := Part{0, 1}, Part{0, 2}
	for i, c := range []*Code{first, second} {
		k.Keep(c, clear, &reads, &Answer{Insns: 10 + i, Flow: []*flow.Kept{}})
		k.Keep(c, contradicted, &reads, &Answer{Flow: []*flow.Kept{}, Visits: make([]learn.Visit, 1)})
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
