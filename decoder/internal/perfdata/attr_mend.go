package perfdata

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
)

// Mending the attributes and their ids by what EVENT_DESC has of both.

// mendAttrs corrects bytes of attributes that differ from their copies in EVENT_DESC.
// Of both, that is taken which more of the other attributes have too, or else 0, or else the
// one that makes sense.
func mendAttrs(r *Recording, src *source) {
	b := src.data
	le := binary.LittleEndian
	entry, attrs := le.Uint64(b[16:]), readSection(b[24:])
	n := int(attrs.size / entry)
	copies, size := descOf(b, n)
	if len(copies) == 0 || uint64(size) != entry-16 || attrs.off+attrs.size > uint64(len(b)) {
		return
	}
	own := make([]int, n)
	for i := range own {
		own[i] = int(attrs.off) + i*int(entry)
	}
	mendIDs(r, src, own, copies, size)
	all, pmus := slices.Concat(own, copies), pmusOf(b)
	for i := range own {
		x, y := b[own[i]:own[i]+size], b[copies[i]:copies[i]+size]
		if bytes.Equal(x, y) || differing(x, y) > 3 {
			continue
		}
		for k := range x {
			if x[k] == y[k] {
				continue
			}
			votes := 0
			for _, o := range all {
				if b[o+k] == y[k] {
					votes++
				}
				if b[o+k] == x[k] {
					votes--
				}
			}
			if votes > 0 || votes == 0 && x[k] != 0 && (y[k] == 0 || pmus.strange(x) > pmus.strange(y)) {
				mendedHeader(r, src, int64(own[i]+k), "attribute %d: byte %#x, but %#x in EVENT_DESC, which is taken", i, x[k], y[k])
				x[k] = y[k]
			}
		}
	}
}

// pmuNames are the names of a recording's PMUs, by Attr.Type.
type pmuNames map[uint32]string

// pmusOf reads PMU_MAPPINGS: u32 number, and for each u32 type and name.
func pmusOf(b []byte) pmuNames {
	at, _ := featureSectionOf(b, FeaturePMUMappings)
	s, _ := at.in(b)
	c, names := cursor{b: s}, pmuNames{}
	for range c.u32() {
		t, name := c.u32(), c.perfString()
		if c.short {
			return nil
		}
		names[t] = name
	}
	if len(names) == 0 {
		return nil
	}
	return names
}

// ptConfig are the bits of Config that Intel PT's PMU has a name for
// (arch/x86/events/intel/pt.c, pt_formats_attr, v6.1).
const ptConfig = 1 | 1<<1 | 3<<4 | 7<<9 | 0x1f<<12 | 1<<17 | 0xf<<19 | 0xf<<24 | 1<<31 | 1<<55

// strange counts what speaks against attributes as they stand at b: a PMU that the machine
// has not, bits that its PMU has not.
func (p pmuNames) strange(b []byte) (n int) {
	if p == nil {
		return 0
	}
	t, config := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint64(b[8:])
	switch name, known := p[t]; {
	case !known:
		n++
	case name == "intel_pt":
		n += bits.OnesCount64(config &^ ptConfig)
	}
	return n
}

// mendIDs corrects where the ids of the attributes at own lie, and ids that differ from those
// of EVENT_DESC behind the copies. Ids are given out one after another, so the one nearer to
// the others is taken.
func mendIDs(r *Recording, src *source, own, copies []int, size int) {
	b, le := src.data, binary.LittleEndian
	at := uint64(fileHeaderSize) // perf writes them there, one after another
	lists := make([][2][]byte, len(own))
	var all []uint64
	for i := range own {
		c := cursor{b: b[copies[i]+size:]}
		n := uint64(c.u32())
		c.perfString()
		there, _ := section{at, 8 * n}.in(b)
		lists[i] = [2][]byte{there, c.take(int(8 * n))}
		if at+8*n > uint64(own[0]) || len(lists[i][1]) != len(there) {
			return // not as perf writes it
		}
		if have := readSection(b[own[i]+size:]); have != (section{at, 8 * n}) {
			mendedHeader(r, src, int64(own[i]+size), "attribute %d: ids [0x%x, +0x%x), taken as [0x%x, +0x%x)", i, have.off, have.size, at, 8*n)
			le.PutUint64(b[own[i]+size:], at)
			le.PutUint64(b[own[i]+size+8:], 8*n)
		}
		at += 8 * n
		for k := 0; k < len(there); k += 8 {
			all = append(all, le.Uint64(there[k:]), le.Uint64(lists[i][1][k:]))
		}
	}
	slices.Sort(all)
	for i, l := range lists {
		for k := 0; k < len(l[0]); k += 8 {
			x, y := le.Uint64(l[0][k:]), le.Uint64(l[1][k:])
			if middle := all[len(all)/2]; x != y && max(x, middle)-min(x, middle) > max(y, middle)-min(y, middle) {
				mendedHeader(r, src, int64(readSection(b[own[i]+size:]).off)+int64(k), "attribute %d: id %d, but %d in EVENT_DESC, which is taken", i, x, y)
				le.PutUint64(l[0][k:], y)
			}
		}
	}
}
