package trials

import (
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/internal/flow"
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
		b.Lay(func(uint64, uint64) bool { return false })()
		if b.Has(c.text) {
			t.Errorf("%s: it lies there still, behind a trial", c.what)
		}
	}
}
