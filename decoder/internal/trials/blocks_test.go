package trials

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
	"github.com/ptdecode/ptdecode/decoder/internal/learn"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/isa/x86"
	"github.com/ptdecode/ptdecode/kcore"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// TestBlocks would catch blocks that are taken for those of other code than they are of. Code of which a record
// tells as well lies in other epochs. A trial takes away what was learned.
func TestBlocks(t *testing.T) {
	journal := func(pokes ...kcore.Poke) *kcore.Journal {
		j, err := kcore.NewJournal(pokes)
		if err != nil {
			t.Fatal(err)
		}
		return j
	}
	text := func(j *kcore.Journal, list ...kcore.Learned) *kcore.Text {
		j, err := j.WithLearned(list)
		if err != nil {
			t.Fatal(err)
		}
		return kcore.NewText(j, new(image.Image), kcore.TextOptions{Learned: list})
	}
	poked := journal(kcore.Poke{Time: 5, Addr: 0x1010, Old: []byte{0}, New: []byte{1}})
	at := func(addr uint64) kcore.Learned { return kcore.Learned{Addr: addr, Code: []byte{2}} }
	changed := at(0x1020)
	changed.Was, changed.Change = []byte{0}, event.Time{Lo: 1, Hi: 2}
	base := text(poked)
	for _, c := range []struct {
		what string
		text *kcore.Text
		list []kcore.Learned
		ok   bool
	}{
		{"code that lay there throughout", text(poked, at(0x1020)), []kcore.Learned{at(0x1020)}, true},
		{"code of which a record tells", text(poked, at(0x1010)), []kcore.Learned{at(0x1010)}, false},
		{"code that changed", text(poked, changed), []kcore.Learned{changed}, false},
		{"other records", text(journal()), nil, false},
	} {
		b := NewBlocks([]*flow.Cache{flow.NewCache()})
		if ok := b.Learn(base, c.text, c.list); ok != c.ok || b.Has(c.text) != c.ok || b.Has(nil) == c.ok {
			t.Errorf("%s: %v, want %v", c.what, ok, c.ok)
		}
		b.Lay(learn.Over{})()
		if b.Has(c.text) {
			t.Errorf("%s: it lies there still, behind a trial", c.what)
		}
	}
}

// walkedText is code that a walk reads.
type walkedText struct{ *kcore.Text }

func (t walkedText) Fetch(dst []byte, _ uint32, addr uint64, at event.Epoch) (int, event.Span) {
	return t.Text.Fetch(dst, addr, at)
}

func (t walkedText) Between(dst []int, addr uint64, n int, lo, hi event.Epoch) []int {
	return t.Text.Between(addr, n, lo, hi, dst)
}

func (t walkedText) Poke(int) flow.Poke { return flow.Poke{} }

// statements is events of a trace.
type statements []event.Event

func (s *statements) Next(e *event.Event) bool {
	if len(*s) == 0 {
		return false
	}
	*e, *s = (*s)[0], (*s)[1:]
	return true
}

// countOf counts instructions.
type countOf int

func (n *countOf) Flow(b *flow.Batch) error {
	for i := range b.Ranges {
		*n += countOf(b.Ranges[i].N)
	}
	return nil
}

// TestBlocksLaid would catch blocks that lead through code which does not lie there: of before it was learned,
// or what was learned or tried when that was taken away. Four bytes are four instructions, three with what
// was learned, and two with what is tried.
func TestBlocksLaid(t *testing.T) {
	img := new(image.Image)
	if err := img.AddBytes(0x1000, []byte("\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\x90\xc3")); err != nil {
		t.Fatal(err)
	}
	records, err := kcore.NewJournal(nil)
	if err != nil {
		t.Fatal(err)
	}
	text := func(list ...kcore.Learned) *kcore.Text {
		return kcore.NewText(records, img, kcore.TextOptions{Learned: list})
	}
	list := []kcore.Learned{{Addr: 0x1001, Code: []byte("\x66\x90")}}
	other := learn.Over{{Addr: 0x1001, Code: []byte("\x0f\x1f\x00")}}
	base, learned, tried := text(), text(list...), text(kcore.Learned{Addr: other[0].Addr, Code: other[0].Code})
	c := flow.NewCache()
	b := NewBlocks([]*flow.Cache{c})
	holds := func(what string, text *kcore.Text, want countOf) {
		t.Helper()
		var got countOf
		w := flow.NewWalker(walkedText{text}, c, flow.Config{ISA: x86.Decoder{}, Mode: isa.Mode64,
			Rules: isa.Rules{Waypoints: isa.Set(isa.Cond), Returns: isa.ReturnsCompressed}})
		err := w.Run(&statements{{Kind: event.Sync, Flags: event.FlagIP, IP: 0x1000},
			{Kind: event.AsyncDisable, From: 0x1004}, {Kind: event.End}}, &got)
		if err != nil || got != want {
			t.Errorf("%s: %d instructions, %v; want %d", what, got, err, want)
		}
	}
	learns := func() {
		t.Helper()
		if !b.Learn(base, learned, list) {
			t.Fatal("nothing was laid over the blocks")
		}
	}
	holds("at first", base, 4)
	learns()
	holds("learned", learned, 3)
	b.Lift()
	holds("lifted", base, 4)
	learns()
	lift := b.Lay(other)
	holds("tried", tried, 2)
	lift()
	holds("tried and lifted", base, 4)
	learns()
	holds("learned again", learned, 3)
	b.Keep()
	if !b.Has(nil) {
		t.Error("what was kept can be lifted")
	}
	holds("kept", learned, 3)
}
