package perfdata

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
)

// Mending the attributes and their ids by what EVENT_DESC has of both.

// mendAttrs corrects bytes of attributes that differ from their copies in EVENT_DESC. Other
// events say nothing of them: each may have its own. So a copy is taken only where the
// attributes as they stand are none that this machine and kernel take, and the copy's are. It
// is also taken where records have a sample_id as long as it says, and none as they say. All
// other differences are told.
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
	pmus := pmusOf(b)
	var left map[int]int // bytes of sample_ids
	for i := range own {
		x, y := b[own[i]:own[i]+size], b[copies[i]:copies[i]+size]
		if bytes.Equal(x, y) || differing(x, y) > 3 {
			continue
		}
		take := pmus.strange(x) > 0 && pmus.strange(y) == 0
		if n, m := trailerLen(x), trailerLen(y); n != m {
			if left == nil {
				left = trailers(b)
			}
			take = take || left[n] == 0 && left[m] > 0
		}
		for k := range x {
			switch {
			case x[k] == y[k]:
			case take:
				mendedHeader(r, src, int64(own[i]+k), "attribute %d: byte %#x, but %#x in EVENT_DESC, which is taken", i, x[k], y[k])
				x[k] = y[k]
			default:
				r.trouble(src.name, int64(own[i]+k), "header: attribute %d: byte %#x, but %#x in EVENT_DESC", i, x[k], y[k])
			}
		}
	}
}

// trailerLen returns how long the sample_id is that the attributes at b ask for, bytes.
func trailerLen(b []byte) int {
	if len(b) < attrSizeVer0 || AttrFlags(binary.LittleEndian.Uint64(b[40:]))&AttrSampleIDAll == 0 {
		return 0
	}
	return 8 * bits.OnesCount64(binary.LittleEndian.Uint64(b[24:])&trailerBits)
}

// trailers counts by length the sample_ids of the first records of the kernel's that have a
// fixed size otherwise.
func trailers(b []byte) map[int]int {
	const most = 1 << 14 // records, and places where none begins
	data := readSection(b[40:])
	end := int64(min(data.off+data.size, uint64(len(b))))
	n := map[int]int{}
	for off, i := int64(min(data.off, uint64(len(b)))), 0; i < most && off < end; i++ {
		f, _, ok := frameAt(b, off, end)
		if !ok || !known(f.typ) || f.odd() {
			off += 8
			continue
		}
		if f.typ < numTypes && fixedSizes[f.typ] > 0 {
			n[f.size-headerSize-int(fixedSizes[f.typ])]++
		}
		off += f.span
	}
	return n
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

// Bits that struct perf_event_attr has a name for (include/uapi/linux/perf_event.h, v6.1),
// and the kinds of events that no PMU needs.
const (
	sampleBits = 1<<25 - 1
	readBits   = 1<<5 - 1
	attrBits   = 1<<38 - 1
	fixedTypes = 6 // PERF_TYPE_MAX
)

// strange counts what speaks against attributes as they stand at b. That is a PMU that the
// machine has not, a bit that its PMU or the kernel has not, or a size that is not theirs.
func (p pmuNames) strange(b []byte) (n int) {
	le := binary.LittleEndian
	if len(b) < attrSizeVer0 {
		return 0
	}
	if int(le.Uint32(b[4:])) != len(b) {
		n++
	}
	n += bits.OnesCount64(le.Uint64(b[24:])&^sampleBits) + bits.OnesCount64(le.Uint64(b[32:])&^readBits) + bits.OnesCount64(le.Uint64(b[40:])&^attrBits)
	if p == nil {
		return n
	}
	t := le.Uint32(b)
	switch name, known := p[t]; {
	case !known && t >= fixedTypes:
		n++
	case name == "intel_pt":
		n += bits.OnesCount64(le.Uint64(b[8:]) &^ ptConfig)
	}
	return n
}

// mendIDs corrects where the ids of the attributes at own lie, and ids that differ from those
// of EVENT_DESC behind the copies. perf writes all ids behind the file header, up to the
// attributes. Where they lie so by the attributes, that stays; where they lie so by
// EVENT_DESC alone, that is taken.
func mendIDs(r *Recording, src *source, own, copies []int, size int) {
	b, le := src.data, binary.LittleEndian
	have, want, lists := make([]section, len(own)), make([]section, len(own)), make([][]byte, len(own))
	at := uint64(fileHeaderSize)
	for i := range own {
		c := cursor{b: b[copies[i]+size:]}
		n := uint64(c.u32())
		c.perfString()
		have[i], want[i], lists[i] = readSection(b[own[i]+size:]), section{at, 8 * n}, c.take(int(8*n))
		at += 8 * n
	}
	if !tile(have, own[0]) {
		if !tile(want, own[0]) {
			return // not as perf writes it, or both are damaged
		}
		for i, w := range want {
			if h := have[i]; h != w && w.size > 0 {
				mendedHeader(r, src, int64(own[i]+size), "attribute %d: ids [0x%x, +0x%x), taken as [0x%x, +0x%x)", i, h.off, h.size, w.off, w.size)
				le.PutUint64(b[own[i]+size:], w.off)
				le.PutUint64(b[own[i]+size+8:], w.size)
			}
		}
		have = want
	}
	own64, copied := idWords(b[fileHeaderSize:own[0]]), []uint64{}
	for i, l := range lists {
		if uint64(len(l)) != have[i].size {
			return // EVENT_DESC does not say which is which
		}
		copied = append(copied, idWords(l)...)
	}
	fits := newIDs(own64, copied)
	for k, y := range copied {
		if x := own64[k]; x != y && fits.better(x, y) {
			o := fileHeaderSize + 8*k
			mendedHeader(r, src, int64(o), "id %d, but %d in EVENT_DESC, which is taken", x, y)
			le.PutUint64(b[o:], y)
		}
	}
}

// tile reports whether ids lie one behind another from the file header to end. Events
// without any may say 0 for a place.
func tile(list []section, end int) bool {
	at := uint64(fileHeaderSize)
	for _, s := range list {
		if s.size == 0 && s.off == 0 {
			continue
		}
		if s.off != at || s.size%8 != 0 || s.size > uint64(end) {
			return false
		}
		at += s.size
	}
	return at == uint64(end)
}

// idWords reads b as ids.
func idWords(b []byte) []uint64 {
	c := cursor{b: b}
	return c.words(uint64(len(b) / 8))
}

// ids are those that the attributes and EVENT_DESC agree on. The kernel gives them out one
// after another, so they lie close together.
type ids struct {
	n      map[uint64]int // how often there is one, in both
	middle uint64
	spread uint64 // how far the middle is from the least and the greatest, at most
}

// newIDs looks at the ids of the attributes and, in the same order, those of EVENT_DESC.
func newIDs(own, copied []uint64) *ids {
	f := &ids{n: map[uint64]int{}}
	var agreed []uint64
	for i, x := range own {
		f.n[x]++
		f.n[copied[i]]++
		if x == copied[i] {
			agreed = append(agreed, x)
		}
	}
	if len(agreed) == 0 {
		return f
	}
	slices.Sort(agreed)
	f.middle = agreed[len(agreed)/2]
	f.spread = max(f.middle-agreed[0], agreed[len(agreed)-1]-f.middle)
	return f
}

// better reports whether an id is y rather than x. No other may be y. x must lie many times
// further from the middle than y and all that are agreed on.
func (f *ids) better(x, y uint64) bool {
	const times = 8
	far := func(id uint64) uint64 { return max(id, f.middle) - min(id, f.middle) }
	return f.middle != 0 && f.n[y] == 1 && far(x)/times > max(far(y), f.spread)
}
