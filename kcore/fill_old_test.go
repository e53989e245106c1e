package kcore

import (
	"fmt"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// TestFillOld would catch code before a poke that the poke does not say, taken from an
// image that does not tell it, or not taken from one that does. A letter is a word. A
// site is its word in the image, and the words that pokes bring, in order.
func TestFillOld(t *testing.T) {
	const base = 0xffff800080010000
	for _, c := range []struct{ name, sites, want string }{
		{"copied before: the image holds what a later poke brings", "a bca, d ed", "a b c, d e"},
		{"copied before: the poke brings what the image holds", "b bab", "? b a"},
		{"an image of before", "a b", "a"},
		{"there and back: any image", "a ba", "a b"},
		{"there and back and there", "a bab, c de", "a b a, c d"},
		{"the image holds what the poke brings", "b b", "?"},
		{"and back: it may be a later one", "b bab", "? b a"},
		{"a third code, no image of before", "a bca", "? b c"},
		{"a third code, and another site says before", "a bca, d e", "? b c, d"},
		{"codes that no poke brings", "a bcb", "a b c"},
		{"nothing at all is said", "a ?", "?"},
		{"nothing is said, behind a word", "a b?", "? b"},
		{"no image", ". bcb", "? b c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			img := &image.Image{}
			var pokes []Poke
			word := func(r byte) []byte { return []byte{r, r, r, 0x14} }
			sites := strings.Split(c.sites, ", ")
			for n, s := range sites {
				addr := base + uint64(n)*64
				if s[0] != '.' {
					if err := img.AddBytes(addr, word(s[0])); err != nil {
						t.Fatal(err)
					}
				}
				for k, r := range s[2:] {
					at := uint64(1000 + 1000*k + n)
					p := Poke{Time: at, Begin: at - 1, End: at + 1, Addr: addr, Scheme: SchemeAtomic}
					if p.New = word(byte(r)); r == '?' {
						p.New, p.Len = nil, 4
					}
					pokes = append(pokes, p)
				}
			}
			j, err := NewJournal(pokes)
			if err != nil {
				t.Fatal(err)
			}
			opt := TextOptions{}
			if strings.HasPrefix(c.name, "copied before") {
				opt.Taken = &event.Time{Hi: 900}
			}
			tx := NewText(j, img, opt)
			for i := range j.Len() {
				if tx.NothingBeside(i) {
					t.Errorf("poke %d: nothing lay beside it", i)
				}
			}
			tx.FillOld()
			got := make([]string, len(sites))
			for i := range j.Len() {
				p := j.Poke(i)
				what := "?"
				if len(p.Old) > 0 {
					what = string(p.Old[:1])
				}
				n := (p.Addr - base) / 64
				got[n] = strings.TrimSpace(got[n] + " " + what)
				var b [4]byte
				if k, _ := tx.Fetch(b[:], p.Addr, event.Epoch(i)); (k == 4) != (what != "?") {
					t.Errorf("poke %d: %d bytes known before it, old %s", i, k, what)
				}
				if k, _ := tx.Fetch(b[:], p.Addr, event.Epoch(i+1)); (k == 4) != (len(p.New) > 0) {
					t.Errorf("poke %d: %d bytes known behind it", i, k)
				}
			}
			if have := strings.Join(got, ", "); have != c.want {
				t.Errorf("have %s, want %s", have, c.want)
			}
		})
	}
}

// TestUnsaid would catch a poke without any text taken for one that a journal may have,
// or one that stands for code taken for none.
func TestUnsaid(t *testing.T) {
	for _, c := range []struct {
		p    Poke
		want string
	}{
		{Poke{Len: 4, Scheme: SchemeUnsafe}, ""},
		{Poke{Scheme: SchemeUnsafe}, "neither"},
		{Poke{Len: 4, Scheme: SchemeSlot}, "neither"},
		{Poke{Len: -1, New: word(1), Scheme: SchemeAtomic}, "-1 bytes"},
		{Poke{Len: 1 << 16, Scheme: SchemeAtomic}, "at most"},
	} {
		c.p.Addr = 0xffff800080010000
		if err := c.p.Check(); (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.p, err, c.want)
		}
		if c.want == "" && (c.p.Mark() || c.p.Range().Len != 4 || fmt.Sprint(Kinds(mustJournal(t, c.p), nil)) != "[unknown]") {
			t.Errorf("%+v: a mark, or of another length or kind", c.p)
		}
	}
}

// word is four bytes alike.
func word(b byte) []byte { return []byte{b, b, b, b} }

// mustJournal is the journal of one poke.
func mustJournal(t *testing.T, p Poke) *Journal {
	j, err := NewJournal([]Poke{p})
	if err != nil {
		t.Fatal(err)
	}
	return j
}
