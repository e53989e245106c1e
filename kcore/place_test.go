package kcore

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// Texts of one site, as x86 kernels write them.
var (
	nop5  = []byte{0x0f, 0x1f, 0x44, 0x00, 0x00}
	call5 = []byte{0xe8, 1, 2, 3, 4}
	jmp5  = []byte{0xe9, 5, 6, 7, 8}
	trap1 = []byte{0xcc}
)

const siteAddr = 0xffffffff81000100

// place builds the text of pokes on an image that holds img at addr.
func place(t *testing.T, pokes []Poke, addr uint64, img []byte, opt TextOptions, lost ...event.Time) *Text {
	t.Helper()
	j, err := NewJournalOf(pokes, JournalOptions{Lost: lost})
	if err != nil {
		t.Fatal(err)
	}
	m := &image.Image{}
	if err := m.AddBytes(addr, img); err != nil {
		t.Fatal(err)
	}
	return NewText(j, m, opt)
}

// at returns the n bytes at addr, as many as are known.
func at(tx *Text, addr uint64, n int, e event.Epoch) []byte {
	b := make([]byte, n)
	k, _ := tx.Fetch(b, addr, e)
	return b[:k]
}

// rec makes pokes of TEXT_POKE records, 1000 ns apart.
func rec(addr uint64, texts ...[]byte) []Poke {
	var out []Poke
	for i := 0; i+1 < len(texts); i++ {
		t := uint64(1000 * (i + 1))
		out = append(out, RecordedPoke(t, 0, addr, texts[i], texts[i+1]))
	}
	return out
}

// TestHalfDone would catch a poke in progress in the image that is taken for an
// unrecorded change, or whose trap is taken for text. Torn is a copy that saw
// part of the new tail.
func TestHalfDone(t *testing.T) {
	for name, img := range map[string][]byte{
		"old tail": append([]byte{0xcc}, nop5[1:]...),
		"new tail": append([]byte{0xcc}, call5[1:]...),
		"torn":     {0xcc, call5[1], call5[2], nop5[3], nop5[4]},
	} {
		tx := place(t, rec(siteAddr, nop5, call5, jmp5), siteAddr-2, slices.Concat([]byte{0x55, 0x56}, img, []byte{0x57}), TextOptions{})
		if fs := tx.Findings(); len(fs) != 0 {
			t.Errorf("%s: finding %s", name, &fs[0])
		}
		if p := tx.Placement(); p.Half != 1 || p.Lo > 1 {
			t.Errorf("%s: placement %+v, want one half-done poke at epoch 0 to 1", name, p)
		}
		for e, want := range [][]byte{nop5, call5, jmp5} {
			want = slices.Concat([]byte{0x55, 0x56}, want, []byte{0x57})
			if got := at(tx, siteAddr-2, 9, event.Epoch(e)); !bytes.Equal(got, want[:8]) {
				t.Errorf("%s: epoch %d: % x, want % x", name, e, got, want[:8])
			}
		}
	}
	// The tail of a poke from the page before, half new.
	edge := uint64(0xffffffff81001000)
	tx := place(t, rec(edge-2, nop5, call5), edge, []byte{call5[2], call5[3], nop5[4], 0x57}, TextOptions{})
	if p := tx.Placement(); p.Half != 1 || len(tx.Findings()) != 0 || !bytes.Equal(at(tx, edge-2, 6, 1), append(bytes.Clone(call5), 0x57)) {
		t.Errorf("tail in the next page: %+v, %v", p, tx.Findings())
	}
	// The rest of the site denies it.
	other := append(rec(siteAddr, nop5, call5), RecordedPoke(900, 0, siteAddr+4, []byte{0, 7, 7}, []byte{0, 8, 8}))
	tx = place(t, other, siteAddr, []byte{0xcc, nop5[1], nop5[2], nop5[3], 0, 9, 9}, TextOptions{})
	if p := tx.Placement(); p.Differ != 1 {
		t.Errorf("a neighbour that fits no moment: %+v", p)
	}
	// A tail of neither text is no poke in progress.
	tx = place(t, rec(siteAddr, nop5, call5), siteAddr, []byte{0xcc, 9, 9, 9, 9}, TextOptions{})
	if fs := tx.Findings(); len(fs) != 1 || fs[0].Kind != ImageDiffers {
		t.Errorf("tail of neither text: findings %v, want one", fs)
	}
}

// TestArmedOrHalfDone would catch an armed kprobe taken for a poke in progress:
// both have the trap and the old tail, and only the chain tells.
func TestArmedOrHalfDone(t *testing.T) {
	armed := append([]byte{0xcc}, nop5[1:]...)
	pokes := rec(siteAddr, nop5[:1], trap1)
	pokes = append(pokes, RecordedPoke(2000, 0, siteAddr, armed, jmp5)) // optimised
	pokes = append(pokes, RecordedPoke(3000, 0, siteAddr, jmp5, armed)) // and taken back
	pokes = append(pokes, RecordedPoke(4000, 0, siteAddr, trap1, nop5[:1]))
	pokes = append(pokes, RecordedPoke(5000, 0, siteAddr, nop5, call5))
	for e, s := range []Scheme{SchemeKprobe, SchemeBP, SchemeKprobe, SchemeKprobe, SchemeBP} {
		if pokes[e].Scheme != s {
			t.Errorf("poke %d: scheme %s, want %s", e, pokes[e].Scheme, s)
		}
	}
	tx := place(t, pokes, siteAddr, armed, TextOptions{})
	if p := tx.Placement(); p.Half != 0 || len(tx.Findings()) != 0 || p.Epoch != 1 {
		t.Errorf("placement %+v, findings %v; want the armed probe of epoch 1", p, tx.Findings())
	}
	for e, want := range [][]byte{nop5, armed, jmp5, armed, nop5, call5} {
		if got := at(tx, siteAddr, 5, event.Epoch(e)); !bytes.Equal(got, want) {
			t.Errorf("epoch %d: % x, want % x", e, got, want)
		}
	}
}

// TestMajority would catch a site placed by itself where the others tell when
// the image was taken, and one that is not let differ when its bytes say so.
func TestMajority(t *testing.T) {
	var pokes []Poke
	img := make([]byte, 0x400)
	put := func(off int, when uint64, shown []byte, texts ...[]byte) {
		for i, p := range rec(siteAddr+uint64(off), texts...) {
			p.Time = when + 1000*uint64(i)
			p.Begin, p.End = p.Time, p.Time
			pokes = append(pokes, p)
		}
		copy(img[off:], shown)
	}
	for i := range 5 { // the image shows these between 2000 and 3000
		put(i*16, 2000, call5, nop5, call5)
		put(0x100+i*16, 3000, nop5, nop5, call5)
	}
	put(0x200, 1500, nop5, nop5, call5, nop5) // NOP before 1500 and after 2500
	put(0x300, 9000, call5, nop5, call5)      // copied late: shows what came at 9000
	// A slot that came at 1600 and went at 3600: the image, of between, holds it.
	slot := []byte{0x90, 0xe9, 1, 1, 1, 1}
	put(0x380, 1600, slot, nil, slot, nil)
	pokes[len(pokes)-1].Time = 3600
	pokes[len(pokes)-1].Begin, pokes[len(pokes)-1].End = 3600, 3600
	tx := place(t, pokes, siteAddr, img, TextOptions{})
	p := tx.Placement()
	lo, _ := tx.Epochs(event.Time{Lo: 2500, Hi: 2500})
	if p.Epoch != lo || p.Moved != 1 || p.Differ != 0 || p.Held != 13 || p.Agree != 12 {
		t.Errorf("placement %+v, want epoch %d, one of 13 sites moved", p, lo)
	}
	// An image that may be of the end is of the end: recordings are followed by
	// a copy more often than cut by one.
	after := append(rec(siteAddr, nop5, call5), RecordedPoke(2000, 0, siteAddr+0x1000, nop5, call5))
	if p := place(t, after, siteAddr, call5, TextOptions{}).Placement(); p.Lo != 1 || p.Hi != 2 || p.Epoch != 2 {
		t.Errorf("placement %+v, want epoch 2 of 1 to 2", p)
	}
}

// TestBreak would catch an unrecorded change that is not found, told with wrong
// bytes or times, or whose code is taken as known. It would also catch a good
// poke's code made unknown with it.
func TestBreak(t *testing.T) {
	pokes := []Poke{
		RecordedPoke(1000, 0, siteAddr, nop5, call5),
		RecordedPoke(2000, 0, siteAddr, jmp5, nop5), // call5 became jmp5 without a record
		RecordedPoke(3000, 0, siteAddr, nop5, call5),
	}
	tx := place(t, pokes, siteAddr-1, slices.Concat([]byte{0x55}, nop5), TextOptions{}, event.Time{Lo: 3500, Hi: 3600}, event.Time{Lo: 1500, Hi: 1600})
	fs := tx.Findings()
	if len(fs) != 1 {
		t.Fatalf("findings %v, want one", fs)
	}
	f := fs[0]
	if f.Kind != Break || f.Addr != siteAddr || !bytes.Equal(f.Have, call5) || !bytes.Equal(f.Want, jmp5) ||
		f.From != 1000 || f.Until != 2000 || f.Last != 0 || f.Next != 3 || f.Span != (event.Span{From: 1, Until: 4}) || !f.Lost {
		t.Errorf("finding %+v", f)
	}
	// Epochs 2 and 3 begin at the marks of the first loss, 6 at that of the second.
	for e, want := range map[int][]byte{0: nop5, 1: {}, 2: {}, 3: {}, 4: nop5, 5: call5, 6: {}, 7: {}} {
		b := make([]byte, 6)
		n, span := tx.Fetch(b, siteAddr-1, event.Epoch(e))
		if !bytes.Equal(b[:n], slices.Concat([]byte{0x55}, want)) {
			t.Errorf("epoch %d: % x, want 55 % x", e, b[:n], want)
		}
		if from, until := [8]event.Epoch{0, 1, 1, 1, 4, 5, 6, 6}[e], [8]event.Epoch{1, 4, 4, 4, 5, 6, event.MaxEpoch, event.MaxEpoch}[e]; span.From != from || span.Until != until {
			t.Errorf("epoch %d: span %v, want %d to %d", e, span, from, until)
		}
	}
}

// TestBreakUnderProbe would catch a break seen by a one-byte poke that leaves
// the rest of the instruction known: half an instruction is worse than none.
func TestBreakUnderProbe(t *testing.T) {
	pokes := rec(siteAddr, nop5, call5)
	pokes = append(pokes, RecordedPoke(5000, 0, siteAddr, jmp5[:1], trap1))
	tx := place(t, pokes, siteAddr, nop5, TextOptions{})
	if got := at(tx, siteAddr, 5, 1); len(got) != 0 {
		t.Errorf("first byte changed unseen: % x, want unknown", got)
	}
	if got := at(tx, siteAddr+1, 4, 1); len(got) != 0 {
		t.Errorf("tail beside a byte that changed unseen: % x, want unknown", got)
	}
	if got := at(tx, siteAddr, 5, 0); !bytes.Equal(got, nop5) {
		t.Errorf("before: % x, want % x", got, nop5)
	}
}

// TestImageDiffers would catch an image of another boot that goes unnoticed,
// and its bytes taken as text at a poked place.
func TestImageDiffers(t *testing.T) {
	var pokes []Poke
	img := bytes.Repeat([]byte{0xf4}, 0x100)
	for i := range 8 {
		pokes = append(pokes, RecordedPoke(uint64(1000*i), 0, siteAddr+uint64(i*16), nop5, call5))
	}
	tx := place(t, pokes, siteAddr, img, TextOptions{})
	if p := tx.Placement(); !p.Foreign() || p.Differ != 8 {
		t.Errorf("placement %+v, want 8 sites that differ, foreign", p)
	}
	fs := tx.Findings()
	if len(fs) != 8 || !bytes.Equal(fs[0].Have, img[:5]) || !bytes.Equal(fs[0].Want, nop5) || !strings.Contains(fs[0].String(), "have f4 f4 f4 f4 f4, want 0f 1f 44 00 00") {
		t.Errorf("findings %v", fs)
	}
	if got := at(tx, siteAddr, 5, 0); len(got) != 0 {
		t.Errorf("text at a place of which image and journal disagree: % x", got)
	}
	if got := at(tx, siteAddr, 5, 8); !bytes.Equal(got, call5) {
		t.Errorf("text behind the poke: % x, want % x", got, call5)
	}
}

// TestSlots would catch text that outlives its slot or is there before it, and
// bytes of the image that are only what unmapped memory reads as.
func TestSlots(t *testing.T) {
	a, b := []byte{1, 2, 3, 4, 5, 6, 7}, []byte{9, 8, 7}
	pokes := rec(siteAddr, nil, a, nil, b, nil)
	pokes[2].Addr, pokes[3].Addr = siteAddr+2, siteAddr+2 // reused at another offset
	for name, img := range map[string][]byte{"no image": nil, "zeros": make([]byte, 32)} {
		tx := place(t, slices.Clone(pokes), siteAddr, img, TextOptions{})
		for e, want := range [][]byte{{}, a, {}, {}, {}} {
			if got := at(tx, siteAddr, 7, event.Epoch(e)); !bytes.Equal(got, want) {
				t.Errorf("%s: epoch %d: % x, want % x", name, e, got, want)
			}
		}
		if got := at(tx, siteAddr+2, 3, 3); !bytes.Equal(got, b) {
			t.Errorf("%s: reused: % x, want % x", name, got, b)
		}
		if fs := tx.Findings(); len(fs) != 0 {
			t.Errorf("%s: findings %v", name, fs)
		}
	}
	// A module's text lay there, and its image says so; whether before, between
	// or behind, only another site can tell.
	module := bytes.Repeat([]byte{0x90}, 32)
	tx := place(t, slices.Clone(pokes), siteAddr, module, TextOptions{})
	if got := at(tx, siteAddr, 8, 0); len(got) != 0 {
		t.Errorf("image of an unknown moment: % x, want unknown", got)
	}
	copy(module[20:], nop5)
	other := RecordedPoke(500, 0, siteAddr+20, nop5, call5)
	tx = place(t, append(slices.Clone(pokes), other), siteAddr, module, TextOptions{})
	if got := at(tx, siteAddr, 8, 0); !bytes.Equal(got, module[:8]) {
		t.Errorf("before the slot: % x, want the image's", got)
	}
	if got := at(tx, siteAddr, 8, 3); len(got) != 0 {
		t.Errorf("behind the slot: % x, want unknown", got)
	}
	// Zeros of that same known moment are what unmapped memory reads as.
	zeros := make([]byte, 32)
	copy(zeros[20:], nop5)
	tx = place(t, append(slices.Clone(pokes), other), siteAddr, zeros, TextOptions{})
	if got := at(tx, siteAddr, 8, 0); len(got) != 0 {
		t.Errorf("before the slot, zeros in the image: % x, want unknown", got)
	}
}

// TestCopyAscends would catch a site taken as copied at another moment than the
// rest though the image had passed it. The image was copied from low addresses to
// high ones, so that site's code was changed without a record.
func TestCopyAscends(t *testing.T) {
	var pokes []Poke
	img := bytes.Repeat([]byte{0x90}, 0x100)
	put := func(off int, when uint64, shown []byte) {
		p := RecordedPoke(when, 0, siteAddr+uint64(off), nop5, call5)
		pokes = append(pokes, p)
		copy(img[off:], shown)
	}
	put(0x00, 9000, nop5) // copied before 9000
	put(0x20, 1000, call5)
	put(0x40, 2000, call5) // copied after 2000
	put(0x60, 3000, nop5)  // copied before 3000
	put(0x80, 2500, nop5)  // copied before 2500, though the site below was copied later if at all
	put(0xa0, 9500, call5) // copied after 9500: the copy may have come that far by then
	put(0xc0, 2000, call5)
	tx := place(t, pokes, siteAddr, img, TextOptions{})
	if p := tx.Placement(); p.Differ != 0 || p.Moved != 1 {
		t.Errorf("placement %+v, want one site copied later", p)
	}
	put(0xe0, 3500, nop5) // copied before 3500, behind one copied after 9500
	img[0xa0] = 0x90
	copy(img[0xa0:], call5)
	tx = place(t, pokes, siteAddr, img, TextOptions{})
	if fs := tx.Findings(); len(fs) != 1 || fs[0].Addr != siteAddr+0xa0 || fs[0].Kind != ImageDiffers {
		t.Errorf("findings %v, placement %+v; want one at %#x", fs, tx.Placement(), uint64(siteAddr+0xa0))
	}
}
