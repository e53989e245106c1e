package kcore

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore/image"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// TestLate would catch a second image that is not asked. What it denies must be
// unknown and told, and what it vouches for known, at poked sites and elsewhere.
// It would also catch one believed where it shows only memory that is no longer
// mapped.
func TestLate(t *testing.T) {
	addr := uint64(siteAddr)
	whole := func(site, other, plain, gone []byte) *image.Image {
		img := bytes.Repeat([]byte{0x90}, 64)
		copy(img, site)
		copy(img[16:], other)
		copy(img[32:], plain)
		copy(img[48:], gone)
		m := &image.Image{}
		if err := m.AddBytes(addr, img); err != nil {
			t.Fatal(err)
		}
		return m
	}
	pokes := append(rec(addr, nop5, call5), rec(addr+16, nop5, call5)...)
	pokes = append(pokes, rec(addr+48, nop5, call5)...)
	lost := []event.Time{{Lo: 1500, Hi: 1600}}
	j, err := NewJournalOf(pokes, JournalOptions{Lost: lost})
	if err != nil {
		t.Fatal(err)
	}
	early := whole(nop5, nop5, nop5, nop5)
	late := whole(call5, jmp5, []byte{0x0f, 0x1f, 0x44, 7, 7}, make([]byte, 5))
	if err := late.AddBytes(addr+0x5000, call5); err != nil {
		t.Fatal(err)
	}
	tx := NewText(j, early, TextOptions{Late: late})
	end := event.Epoch(tx.Len())
	for _, tt := range []struct {
		what  string
		addr  uint64
		epoch event.Epoch
		want  []byte
	}{
		{"vouched for, before", addr, 0, nop5},
		{"vouched for, the end, behind a loss", addr, end, call5},
		{"denied, before", addr + 16, 0, nop5},
		{"denied, behind the poke", addr + 16, end, nil},
		{"zeros say nothing: a loss leaves it open", addr + 48, end, nil},
		{"never poked, other at the end", addr + 32, 0, nop5[:3]},
		{"never poked, other at the end", addr + 32, end, nop5[:3]},
		{"only in the late one", addr + 0x5000, 0, call5},
	} {
		if got := at(tx, tt.addr, 5, tt.epoch); !bytes.Equal(got, tt.want) {
			t.Errorf("%s: epoch %d: % x, want % x", tt.what, tt.epoch, got, tt.want)
		}
	}
	fs := tx.Findings()
	if len(fs) != 1 || fs[0].Kind != ImageDiffers || fs[0].Addr != addr+16 || !bytes.Equal(fs[0].Have, jmp5) || !bytes.Equal(fs[0].Want, call5) {
		t.Errorf("findings %v, want the one at %#x", fs, addr+16)
	}
	if n, size := tx.Unlike(); n != 1 || size != 2 {
		t.Errorf("%d places of %d bytes differ, want 1 of 2", n, size)
	}
	if !slices.ContainsFunc(tx.Ranges(0), func(r image.Range) bool {
		return r.Addr <= addr+32 && addr+34 < r.Addr+r.Len && r.Addr+r.Len == addr+35
	}) {
		t.Errorf("ranges %v: none ends before what differs at %#x", tx.Ranges(0), addr+35)
	}
}

// TestLateHoles would catch a module that came between the copies and stays unknown, for
// its pages were zeros in the early one. It would also catch code that went meanwhile and
// is taken for what never was. A page of which only a part is zeros is no hole.
func TestLateHoles(t *testing.T) {
	addr := uint64(siteAddr) &^ (pageSize - 1)
	page := func(b byte) []byte { return bytes.Repeat([]byte{b}, pageSize) }
	early, late := &image.Image{}, &image.Image{}
	part := page(0)
	part[7] = 0x90
	for img, data := range map[*image.Image][]byte{early: slices.Concat(page(0), page(0x90), part, page(0), page(0)), late: slices.Concat(page(0xc3), page(0), page(0xc3), page(0xc3), page(0))} {
		if err := img.AddBytes(addr, data); err != nil {
			t.Fatal(err)
		}
	}
	j, err := NewJournalOf(rec(addr+3*pageSize+8, []byte{0xcc}, []byte{0xc3}), JournalOptions{})
	if err != nil {
		t.Fatal(err)
	}
	tx := NewText(j, early, TextOptions{Late: late})
	for i, want := range [][]byte{{0xc3}, {0x90}, nil, {0xc3}, {0}} {
		if got := at(tx, addr+uint64(i)*pageSize+100, 1, 0); !bytes.Equal(got, want) {
			t.Errorf("page %d: % x, want % x", i, got, want)
		}
	}
	for epoch, want := range [][]byte{{0xcc}, {0xc3}} {
		if got := at(tx, addr+3*pageSize+8, 1, event.Epoch(epoch)); !bytes.Equal(got, want) {
			t.Errorf("the poked byte, epoch %d: % x, want % x", epoch, got, want)
		}
	}
}

// TestLateFinding would catch a change of text that no poke names, between two
// images, that is not told where a symbol says that it is text.
func TestLateFinding(t *testing.T) {
	k, err := symbols.ParseKallsyms(fmt.Sprintf("%x T f\n%x T g\n", uint64(siteAddr), uint64(siteAddr+32)), "k")
	if err != nil {
		t.Fatal(err)
	}
	syms := symbols.New(k, nil, nil)
	img := func(b ...byte) *image.Image {
		m := &image.Image{}
		if err := m.AddBytes(siteAddr, b); err != nil {
			t.Fatal(err)
		}
		return m
	}
	j, _ := NewJournal(nil)
	tx := NewText(j, img(1, 2, 3, 4), TextOptions{Late: img(1, 5, 6, 4), Symbols: syms})
	fs := tx.Findings()
	if len(fs) != 1 || fs[0].Symbol != "f+0x1" || !bytes.Equal(fs[0].Have, []byte{5, 6}) || !bytes.Equal(fs[0].Want, []byte{2, 3}) {
		t.Errorf("findings %v, want f+0x1: have 05 06, want 02 03", fs)
	}
}
