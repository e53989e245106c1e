package kcore

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// TestRelearned would catch a text with learned code that is another one than a text made anew of the same journal,
// images and code. It would also catch one that is made anew though the code before and the code now lie in no page that
// records change.
func TestRelearned(t *testing.T) {
	const base, pages = 0x10000, 8
	m := new(image.Image)
	for pg := range uint64(pages) {
		if err := m.AddBytes(base+pg*pageSize, make([]byte, pageSize-8*pg)); err != nil {
			t.Fatal(err)
		}
	}
	j, err := NewJournal([]Poke{
		{Time: 5, Addr: base + 0x10, Old: []byte{0}, New: []byte{1}},
		{Time: 7, Addr: base + 3*pageSize - 1, Old: []byte{0, 0}, New: []byte{1, 2}},
		{Time: 9, Addr: base + 0x10, Old: []byte{1}, New: []byte{3}},
	})
	if err != nil {
		t.Fatal(err)
	}
	poked := map[uint64]bool{base: true, base + 2*pageSize: true, base + 3*pageSize: true}
	r := rand.New(rand.NewPCG(1, 2))
	some := func() (list []Learned, apart bool) {
		apart = true
		for range r.IntN(3) {
			l := Learned{Addr: base + r.Uint64N(pages*pageSize), Code: make([]byte, 1+r.IntN(4))}
			for i := range l.Code {
				l.Code[i] = byte(r.Uint32())
			}
			apart = apart && !poked[l.Addr&^(pageSize-1)] && !poked[l.Range().Last()&^(pageSize-1)]
			list = append(list, l)
		}
		return list, apart
	}
	shared, anew := 0, 0
	for range 2000 {
		before, apart := some()
		list, too := some()
		text := NewText(j, m, TextOptions{Learned: before})
		got, want := text.Relearned(j, m, TextOptions{Learned: list}), NewText(j, m, TextOptions{Learned: list})
		if !reflect.DeepEqual(got, want) {
			t.Fatalf("%+v in place of %+v: the text is\n%+v, want\n%+v", list, before, got, want)
		}
		if same := &got.order[0] == &text.order[0]; same != (apart && too) {
			t.Fatalf("%+v in place of %+v: shared with the text before: %v", list, before, same)
		} else if same {
			shared++
		} else {
			anew++
		}
	}
	if shared < 100 || anew < 100 {
		t.Errorf("%d texts share pages, %d were made anew", shared, anew)
	}
	list := []Learned{{Addr: base + 5*pageSize, Code: []byte{1}}}
	once := []Learned{{Addr: base + 5*pageSize, Code: []byte{1}, Was: []byte{0}, Change: event.Time{Lo: 1, Hi: 2}}}
	changed, err := j.WithLearned(once)
	if err != nil {
		t.Fatal(err)
	}
	fewer, err := NewJournal([]Poke{{Time: 5, Addr: base + 0x10, Old: []byte{0}, New: []byte{1}}})
	if err != nil {
		t.Fatal(err)
	}
	other := new(image.Image)
	if err := other.AddBytes(base, make([]byte, pages*pageSize)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what string
		j    *Journal
		img  *image.Image
		opt  TextOptions
	}{
		{"a change", changed, m, TextOptions{Learned: once}},
		{"other records", fewer, m, TextOptions{Learned: list}},
		{"another image", j, other, TextOptions{Learned: list}},
		{"a late copy", j, m, TextOptions{Learned: list, Late: other}},
	} {
		opt := c.opt
		opt.Learned = nil
		if got, want := NewText(j, m, opt).Relearned(c.j, c.img, c.opt), NewText(c.j, c.img, c.opt); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: the text is\n%+v, want\n%+v", c.what, got, want)
		}
	}
}
