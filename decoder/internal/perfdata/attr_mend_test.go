package perfdata

import (
	"slices"
	"testing"
)

// descOfBoth is EVENT_DESC of two events.
func descOfBoth(a, b tattr) []byte {
	return enc(uint32(2), uint32(128), a.bytes(), uint32(len(a.ids)), hstr("intel_pt//"), a.ids, b.bytes(), uint32(len(b.ids)), hstr("dummy"), b.ids)
}

// attrFile is a recording of two events of a machine that has the PMUs software and intel_pt.
func attrFile(a, b tattr, desc []byte) []byte {
	return file{attrs: []tattr{a, b}, data: comm("x", 1), features: map[Feature][]byte{
		FeatureEventDesc: desc, FeaturePMUMappings: enc(uint32(2), uint32(1), hstr("software"), uint32(8), hstr("intel_pt")),
	}}.bytes()
}

// TestMendAttrs would catch a wrong byte of attributes or ids that is kept, though EVENT_DESC and the
// machine's PMUs tell that it is wrong.
func TestMendAttrs(t *testing.T) {
	pt := tattr{typ: 8, config: 0x100e601, sampleType: SampleTID | SampleTime | SampleID | SampleCPU, flags: AttrSampleIDAll, ids: []uint64{5, 6}}
	dummy := tattr{typ: 1, config: 9, sampleType: pt.sampleType, flags: AttrSampleIDAll | AttrTextPoke, ids: []uint64{7, 8}}
	whole := attrFile(pt, dummy, descOfBoth(pt, dummy))
	first := int(le.Uint64(whole[24:]))
	entry := int(le.Uint64(whole[16:]))
	for _, x := range []struct {
		what string
		at   int
		bit  byte
	}{
		{"the PMU's number", first, 0x70}, {"a bit of the config that has no name", first + 9, 0x01},
		{"an id", fileHeaderSize + 8, 0x40}, {"where the ids lie", first + entry - 16, 0x10}, {"how many ids there are", first + entry - 8, 0x08},
	} {
		bad := slices.Clone(whole)
		bad[x.at] ^= x.bit
		r := fromBytes(t, bad)
		found, _ := r.Trouble()
		got := r.Attrs()
		if len(found) != 1 || len(got) != 2 || got[0].Type != 8 || got[0].Config != pt.config || !slices.Equal(got[0].IDs, pt.ids) || !slices.Equal(got[1].IDs, dummy.ids) {
			t.Errorf("%s: trouble %v, attributes %+v", x.what, found, got[0])
		}
	}
}

// TestMendTrailer would catch a wrong bit of an event's attributes that makes the sample_id of its
// records another, though all records show how long it is. EVENT_DESC's wrong bit must not count.
func TestMendTrailer(t *testing.T) {
	pt := tattr{typ: 8, config: 0x100e601, sampleType: SampleTID | SampleTime | SampleCPU | SampleIdentifier, flags: AttrSampleIDAll, ids: []uint64{5, 6}}
	dummy := tattr{typ: 1, config: 9, sampleType: pt.sampleType, flags: AttrSampleIDAll | AttrTextPoke, ids: []uint64{7, 8}}
	var data []byte
	for i := range uint64(5) {
		data = append(data, record(TypeSwitchCPUWide, 0x2000, int32(7), int32(8), dummy.trailer(ident{pid: 7, tid: 7, time: 10 + i, cpu: 1, id: 7}))...)
	}
	for _, bit := range []uint64{SampleStreamID, SampleCPU} {
		for _, desc := range []bool{false, true} {
			own, copied := dummy, dummy
			if desc {
				copied.sampleType ^= bit
			} else {
				own.sampleType ^= bit
			}
			b := file{attrs: []tattr{pt, own}, data: data, features: map[Feature][]byte{FeatureEventDesc: descOfBoth(pt, copied)}}.bytes()
			r := fromBytes(t, b)
			found, _ := r.Trouble()
			if got := r.Attrs()[1].SampleType; got != dummy.sampleType || len(found) == 0 {
				t.Errorf("bit %#x, of EVENT_DESC %t: sample_type %#x, want %#x; trouble %v", bit, desc, got, dummy.sampleType, found)
			}
		}
	}
}

// TestAttrsStay would catch a wrong bit of EVENT_DESC that changes attributes, ids, or where these lie,
// though they are right.
func TestAttrsStay(t *testing.T) {
	pt := tattr{typ: 8, config: 0x100e601, sampleType: SampleTID | SampleTime | SampleID | SampleCPU, flags: AttrSampleIDAll, ids: []uint64{5, 6}}
	dummy := tattr{typ: 1, config: 9, sampleType: pt.sampleType | SampleIP, flags: AttrSampleIDAll | AttrTextPoke, ids: []uint64{7, 8}}
	cycles := tattr{typ: 0, sampleType: pt.sampleType, flags: AttrSampleIDAll, ids: []uint64{9}} // of no PMU with a name
	none := dummy
	none.ids = nil
	for _, both := range [][2]tattr{{pt, dummy}, {pt, cycles}, {pt, none}, {none, pt}} {
		desc := descOfBoth(both[0], both[1])
		want := fromBytes(t, attrFile(both[0], both[1], desc))
		if found, _ := want.Trouble(); len(found) != 0 {
			t.Fatalf("undamaged: %v", found)
		}
		for at := range desc {
			for bit := byte(1); bit != 0; bit <<= 1 {
				bad := slices.Clone(desc)
				bad[at] ^= bit
				r := fromBytes(t, attrFile(both[0], both[1], bad))
				for i, a := range r.Attrs() {
					if w := want.Attrs()[i]; !slices.Equal(a.Raw, w.Raw) || !slices.Equal(a.IDs, w.IDs) {
						found, _ := r.Trouble()
						t.Errorf("byte %d of EVENT_DESC, bit %#x: attribute %d changed: %v", at, bit, i, found)
					}
				}
			}
		}
	}
}
