package kcore

import (
	"bytes"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// toy is the scheme of toyRules: three bytes of trap, written in batches.
const toy = SchemeUnsafe + 1

var toyTrap = []byte{0xee, 0xaa, 0xbb}

// toyRules adds to the tables a scheme and an architecture, a row each.
func toyRules() *rules {
	r := kernelRules()
	return &rules{
		schemes: append(slices.Clone(r.schemes), scheme{
			name: "toy", order: orderGuarded, trap: trapDuring, arch: archID(len(r.arches)), batches: true, torn: true,
		}),
		arches: append(slices.Clone(r.arches), arch{
			traps: []pattern{{3, 0xffffff, 0xbbaaee}},
			kind:  func(*classifier, *Poke) Kind { return KindOptprobe },
		}),
	}
}

// TestToyScheme would catch code that asks which scheme or which architecture a
// poke has, where the tables should say what follows from it. One row each adds
// another, and journal, sites, text and kinds go by it.
func TestToyScheme(t *testing.T) {
	old, new := []byte{1, 2, 3, 4, 5}, []byte{6, 7, 8, 9, 10}
	var pokes []Poke
	for i := range uint64(2) { // a batch, and another one
		for k := range uint64(2) {
			p := Poke{Time: 1000*i*batchGap + k, Addr: siteAddr + 16*k, Old: old, New: new, Scheme: toy}
			if i > 0 {
				p.Old, p.New = new, old
			}
			p.Begin, p.End = p.Time, p.Time
			pokes = append(pokes, p)
		}
	}
	pokes[1].Old, pokes[1].New = slices.Concat(toyTrap, old[3:]), new // begins with a trap
	if _, err := NewJournal(slices.Clone(pokes)); err == nil {
		t.Error("the kernel's tables have the toy scheme")
	}
	j, err := newJournal(pokes, JournalOptions{}, toyRules())
	if err != nil {
		t.Fatal(err)
	}
	if j.Poke(0).Batch != j.Poke(1).Batch || j.Poke(1).Batch == j.Poke(2).Batch {
		t.Errorf("batches %d, %d, %d; want the first two together", j.Poke(0).Batch, j.Poke(1).Batch, j.Poke(2).Batch)
	}
	if j.Floor(1) != 0 || j.Floor(2) != 2 {
		t.Errorf("floors %d and %d, want 0 and 2: order comes with guarded batches", j.Floor(1), j.Floor(2))
	}
	if got, want := j.Traits(0), (Traits{Guarded: true, TrapStands: true}); got != want {
		t.Errorf("traits %+v, want %+v", got, want)
	}
	// The image shows the trap over poke 0, and a part of its new bytes.
	img := &image.Image{}
	if err := img.AddBytes(siteAddr-1, slices.Concat([]byte{0x90}, toyTrap, []byte{new[3], old[4], 0x90})); err != nil {
		t.Fatal(err)
	}
	tx := NewText(j, img, TextOptions{})
	if p := tx.Placement(); p.Half != 1 || len(tx.Findings()) != 0 {
		t.Errorf("placement %+v, findings %v; want a poke half done", p, tx.Findings())
	}
	for e, want := range [][]byte{old, new, new, old} {
		if got := at(tx, siteAddr, 5, event.Epoch(e)); !bytes.Equal(got, want) {
			t.Errorf("epoch %d: % x, want % x", e, got, want)
		}
	}
	if !tx.TrapProves(0) || tx.TrapProves(1) {
		t.Error("a trap proves poke 0, and not poke 1, whose old code began with it")
	}
	if k := Kinds(j, nil); k[0] != KindOptprobe {
		t.Errorf("kind %v, want what the architecture's row says", k[0])
	}
}

// TestRecordedScheme would catch a record whose bytes are taken for those of
// another scheme, or of another architecture.
func TestRecordedScheme(t *testing.T) {
	a64nop, a64b, a64bl := []byte{0x1f, 0x20, 0x03, 0xd5}, []byte{1, 0, 0, 0x14}, []byte{1, 0, 0, 0x94}
	add := []byte{0x20, 0, 2, 0x8b}
	for _, tt := range []struct {
		mode     isa.Mode
		addr     uint64
		old, new []byte
		want     Scheme
	}{
		{isa.Mode64, siteAddr, nop5, call5, SchemeBP},
		{isa.Mode64, siteAddr, nil, call5, SchemeSlot},
		{isa.Mode64, siteAddr, nop5[:1], trap1, SchemeKprobe},
		{isa.Mode64, siteAddr, jmp5, slices.Concat(trap1, jmp5[1:]), SchemeKprobe},
		{isa.Mode64, siteAddr, slices.Concat(trap1, jmp5[1:]), jmp5, SchemeBP},
		{isa.ModeA64, siteAddr, a64nop, a64b, SchemeAtomic},
		{isa.ModeA64, siteAddr, a64nop, a64bl, SchemeAtomic},
		{isa.ModeA64, siteAddr + 2, a64nop, a64bl, SchemeUnsafe},
		{isa.ModeA64, siteAddr, a64nop, add, SchemeUnsafe},
		{isa.ModeA64, siteAddr, a64nop, slices.Concat(a64b, a64b), SchemeUnsafe},
		{isa.ModeA64, siteAddr, a64nop, nil, SchemeSlot},
		{isa.ModeA32, 0x8000, a64nop, a64b, SchemeUnsafe},
	} {
		if got := RecordedScheme(tt.mode, tt.addr, tt.old, tt.new); got != tt.want {
			t.Errorf("%v: % x to % x: %v, want %v", tt.mode, tt.old, tt.new, got, tt.want)
		}
	}
}
