package perfdata

import (
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestMendPoke would catch a TEXT_POKE that is lost with a byte of its type, whichever type
// that becomes, or is taken for a guest's with one of its misc. It would also catch another record
// that has become one: as a change, or as a reason to doubt all code.
func TestMendPoke(t *testing.T) {
	for _, a := range []tattr{
		{sampleType: SampleTID | SampleTime | SampleID | SampleCPU, flags: AttrSampleIDAll | AttrTextPoke},
		{sampleType: SampleTID | SampleTime | SampleCPU | SampleIdentifier, flags: AttrSampleIDAll | AttrTextPoke},
	} {
		mendPokes(t, a)
	}
}

// mendPokes is TestMendPoke for one layout of a sample_id.
func mendPokes(t *testing.T, a tattr) {
	t.Helper()
	who := func(time uint64) []byte { return a.trailer(ident{pid: 7, tid: 7, time: time, cpu: 1}) }
	var data []byte
	switches := func(from uint64) {
		for i := range uint64(6) {
			data = append(data, record(TypeSwitchCPUWide, 0x2000, int32(7), int32(8), who(from+i))...)
		}
	}
	switches(10)
	at := len(data)
	data = append(data, record(TypeTextPoke, MiscKernel, uint64(0xffffffff81000000), uint16(5), uint16(5), "abcdeABCDE\x00\x00", who(20))...)
	switches(30)
	open := func(at int, b byte) *Recording {
		bad := slices.Clone(data)
		bad[at] = b
		return fromBytes(t, file{attrs: []tattr{a}, data: bad}.bytes())
	}
	for b := range 256 {
		typ := Type(b)
		if typ == TypeTextPoke || typ == TypeSample && a.sampleType&SampleIdentifier == 0 {
			continue // as it was, or with a kernel's address, too
		}
		r := open(at, byte(b))
		h := r.Hints()
		if r.Counts()[TypeTextPoke] != 1 || len(h.Guessed) == 0 || h.Mended == 0 {
			t.Errorf("of type %s: %v, mended %d, %v", typ, r.Counts(), h.Mended, h.Guessed)
		}
		r = open(at+4, byte(b))
		rd := r.Records()
		for rec := (Record{}); rd.Next(&rec); {
			if rec.Type == TypeTextPoke && rec.Misc != MiscKernel && b != 0 && Misc(b) != MiscGuestKernel {
				t.Errorf("misc %#x: %#x", b, rec.Misc)
			}
		}
	}
	size := int(le.Uint16(data[6:]))
	for _, list := range [][]int{
		{at + 3, at + 51},                     // the type, and the CPU
		{at + 6, at + 64 + 2},                 // the size, and the type of the record behind it
		{at, at + 64 + size*2 - 7},            // the type, and the CPU of the second one behind it
		{at - 2*size + 2, at - 7, at + 1},     // the types of two, and the CPU of the one between
		{at + 64 + 2, at + 64 + size + 2, at}, // the types of three
	} {
		bad := slices.Clone(data)
		for _, k := range list {
			bad[k] ^= 0x6e
		}
		r := fromBytes(t, file{attrs: []tattr{a}, data: bad, features: map[Feature][]byte{FeatureNrCPUs: enc(uint32(2), uint32(2))}}.bytes())
		if n := r.Counts(); n[TypeTextPoke] != 1 || len(r.Hints().Guessed) == 0 || int(n[TypeSwitchCPUWide]) < 12-len(list) {
			t.Errorf("bytes %v: %v, %v", list, n, r.Hints().Guessed)
		}
	}
	slot := record(TypeTextPoke, MiscKernel, uint64(0xffffffffc0000000), uint16(0), uint16(3), "abc\x00", who(50))
	slot[19] ^= 0x6e // its second length, of which the other byte is right
	r := fromBytes(t, file{attrs: []tattr{a}, data: slices.Concat(data, slot)}.bytes())
	if n := r.Counts(); n[TypeTextPoke] != 2 || n[TypeDamaged] != 0 || len(r.Hints().Guessed) != 1 {
		t.Errorf("a slot with a wrong length: %v, %v", n, r.Hints().Guessed)
	}
	r = open(2*size, byte(TypeTextPoke))
	if n := r.Counts(); n[TypeTextPoke] != 1 || n[TypeDamaged] != 1 || len(r.Hints().Holes) != 0 || r.Hints().Mended == 0 {
		t.Errorf("a switch that has become a TEXT_POKE: %v, %v", n, r.Hints())
	}
}

// TestMendLengths would catch a wrong byte of a TEXT_POKE's lengths that takes other pokes with it,
// also where the one behind that is damaged, too. It would also catch a poke that is lost and makes
// no code unknown. A length that reaches no further than the padding nobody can tell.
func TestMendLengths(t *testing.T) {
	a := tattr{sampleType: SampleTID | SampleTime | SampleID | SampleCPU, flags: AttrSampleIDAll | AttrTextPoke}
	who := func(time uint64) []byte { return a.trailer(ident{pid: 1207, tid: 1207, time: time, cpu: 1}) }
	poke := func(time uint64) []byte {
		return record(TypeTextPoke, MiscKernel, 0xffffffff81000000+time, uint16(5), uint16(5), "\xe9\x93\x00\x00\x00\x0f\x1f\x44\x00\x00\x00\x00", who(time))
	}
	step := testsize.Of(t, 3, 1)
	slot := "\x44\x00\x00\x00\x0b\x00\x00\x00\x0f\x1f\x44\x00\x00\x00\x00\x00\x00\x00\x00\x00"
	for _, x := range [][]byte{
		poke(20),
		record(TypeTextPoke, MiscKernel, uint64(0xffffffffc1000000), uint16(0), uint16(13), slot, who(20)),
		record(TypeTextPoke, MiscKernel, uint64(0xffffffffc1000000), uint16(13), uint16(0), slot, who(20)),
	} {
		var data []byte
		for i := range uint64(4) {
			data = append(data, poke(10+i)...)
		}
		at := len(data)
		data = append(data, x...)
		const behind = 6
		for i := range uint64(behind) {
			data = append(data, poke(30+i)...)
		}
		for _, also := range []int{0, at + len(x) + len(poke(30)) + 2} { // the type of the second poke behind
			for k := at + 16; k < at+20; k++ {
				for v := 0; v < 256; v += step {
					bad := slices.Clone(data)
					bad[k] = byte(v)
					if also > 0 {
						bad[also] ^= 0x6e
					}
					r := fromBytes(t, file{attrs: []tattr{a}, data: bad}.bytes())
					n, h := r.Counts()[TypeTextPoke], r.Hints()
					if n < 4+behind || n < 5+behind && len(h.Holes) == 0 {
						t.Errorf("poke of %d bytes, byte %d is %d, type %d: %d pokes, holes %v", len(x), k-at, v, also, n, h.Holes)
					}
				}
			}
		}
	}
}

// TestMendOdd would catch a wrong size that is odd, of a record that may have one: it ended the
// reading. A TEXT_POKE right behind must come through, or make code unknown.
func TestMendOdd(t *testing.T) {
	a := tattr{sampleType: SampleTID | SampleTime | SampleID | SampleCPU, flags: AttrSampleIDAll | AttrTextPoke}
	who := func(time uint64) []byte { return a.trailer(ident{pid: 7, tid: 7, time: time, cpu: 1}) }
	var before, behind []byte
	for i := range uint64(6) {
		before = append(before, record(TypeSwitchCPUWide, 0x2000, int32(7), int32(8), who(10+i))...)
		behind = append(behind, record(TypeSwitchCPUWide, 0x2000, int32(7), int32(8), who(30+i))...)
	}
	id := record(TypeHeaderBuildID, MiscKernel, int32(-1), make([]byte, 24), "[kernel.kallsyms]\x00\x00\x00")
	poke := record(TypeTextPoke, MiscKernel, uint64(0xffffffff81000000), uint16(5), uint16(5), "abcdeABCDE\x00\x00", who(20))
	for less := 1; less < 8; less++ {
		bad := slices.Clone(id)
		le.PutUint16(bad[6:], uint16(len(id)-less))
		r := fromBytes(t, file{attrs: []tattr{a}, data: slices.Concat(before, bad, poke, behind)}.bytes())
		n, h := r.Counts(), r.Hints()
		if n[TypeSwitchCPUWide] != 12 || n[TypeTextPoke] != 1 && len(h.Holes) == 0 || h.CutShort {
			t.Errorf("%d bytes less: %v, holes %v, cut short %t", less, n, h.Holes, h.CutShort)
		}
	}
}

// TestSoundNoPoke would catch a sound record that is overwritten as a TEXT_POKE since its bytes
// would do for one, too: a SAMPLE of kernel code, and a kernel module's MMAP.
func TestSoundNoPoke(t *testing.T) {
	a := tattr{sampleType: SampleIP | SampleTID | SampleTime | SampleCPU | SamplePeriod, flags: AttrSampleIDAll | AttrTextPoke}
	var data []byte
	for i := range 5 {
		data = append(data, record(TypeSample, MiscKernel, uint64(0xffffffff81000000), int32(1), int32(1), uint64(100+i), uint32(0), uint32(0), uint64(1))...)
		who := a.trailer(ident{pid: 1, tid: 1, time: uint64(100 + i), cpu: 1})
		name := append([]byte("[a_module]"), make([]byte, 54)...) // as long as the address makes a poke's bytes
		data = append(data, record(TypeMmap, MiscKernel, int32(-1), int32(-1), uint64(0xffff800000500000), uint64(0), uint64(0), name, who)...)
	}
	r := fromBytes(t, file{attrs: []tattr{a}, data: data, features: map[Feature][]byte{FeatureNrCPUs: enc(uint32(2), uint32(2))}}.bytes())
	found, _ := r.Trouble()
	if n := r.Counts(); n[TypeSample] != 5 || n[TypeMmap] != 5 || len(found) != 0 {
		t.Errorf("%v, want 5 of SAMPLE and MMAP each; trouble %v", n, found)
	}
}
