package perfdata

import (
	"encoding/binary"
	"math/bits"
)

// Mending the file header and the attributes. What the header says fits together, so one
// wrong byte of it can be told. EVENT_DESC repeats the attributes.

// maxWrongMagic is how many bytes of the magic may be wrong and are corrected.
const maxWrongMagic = 2

// mendHeader corrects the header of a file that is no pipe, where one byte of it is wrong,
// and bytes of attributes. It does nothing where the header fits, or where more than one
// change would make it fit.
func mendHeader(r *Recording, src *source) {
	b := src.data
	if len(b) < fileHeaderSize {
		return
	}
	if k := differing(b[:8], []byte(magic2)); k > 0 && k <= maxWrongMagic {
		mendedHeader(r, src, 0, "magic %q, taken as %q", b[:8], magic2)
		copy(b, magic2)
	}
	if string(b[:8]) != magic2 || binary.LittleEndian.Uint64(b[8:]) == pipeHeaderSize {
		return
	}
	if !headerFits(b) {
		at, value, ok := wrongByte(b)
		if !ok {
			return
		}
		mendedHeader(r, src, int64(at), "byte %#x does not fit the rest, taken as %#x", b[at], value)
		b[at] = value
	}
	mendAttrs(r, src)
}

// mendedHeader tells what was mended.
func mendedHeader(r *Recording, src *source, at int64, format string, args ...any) {
	r.hints.Mended++
	r.trouble(src.name, at, "header: "+format, args...)
}

// differing counts the bytes in which a and b, as long, differ.
func differing(a, b []byte) (n int) {
	for i := range a {
		if a[i] != b[i] {
			n++
		}
	}
	return n
}

// wrongByte finds the one change of one byte that makes the header of b fit.
func wrongByte(b []byte) (at int, value byte, ok bool) {
	const behind = 56 // event_types is not read; another feature bit would do for each one
	for i := 8; i < behind; i++ {
		was := b[i]
		for x := 1; x < 256; x++ {
			b[i] = was ^ byte(x)
			if !headerFits(b) {
				continue
			}
			if ok {
				b[i] = was
				return 0, 0, false
			}
			at, value, ok = i, b[i], true
		}
		b[i] = was
	}
	return at, value, ok
}

// headerFits reports whether sizes and offsets of a header that perf wrote to its end fit
// together. Attributes are as large as one of them says, and as many as EVENT_DESC has. A
// record lies where the data begins, and features in order behind their table.
func headerFits(b []byte) bool {
	le := binary.LittleEndian
	if le.Uint64(b[8:]) != fileHeaderSize {
		return false
	}
	n := uint64(len(b))
	entry, attrs, data := le.Uint64(b[16:]), readSection(b[24:]), readSection(b[40:])
	if attrs.off > n-8 || attrs.size > n || data.off > n || data.size > n-data.off {
		return false
	}
	if entry < attrSizeVer0+16 || attrs.size == 0 || attrs.size%entry != 0 {
		return false
	}
	if attrs.off+attrs.size != data.off && attrs.off != fileHeaderSize {
		return false
	}
	set := uint64(0)
	for w := 72; w < fileHeaderSize; w += 8 {
		set += uint64(bits.OnesCount64(le.Uint64(b[w:])))
	}
	at := data.off + data.size
	if set == 0 || at+16*set > n {
		return false
	}
	sizes := 0 // of attributes, as they say themselves: one may be damaged
	for o := attrs.off; o+entry <= min(attrs.off+attrs.size, n); o += entry {
		if uint64(le.Uint32(b[o+4:])) == entry-16 {
			sizes++
		}
	}
	if f, _, ok := frameAt(b, int64(data.off), int64(at)); data.size > 0 && (!ok || !known(f.typ)) {
		return false
	}
	if at, _ := descOf(b, int(attrs.size/entry)); at == nil && le.Uint64(b[72:])>>FeatureEventDesc&1 != 0 {
		return false
	}
	first := le.Uint64(b[at:])
	return sizes > 0 && (first == at+16*set || set > 1 && le.Uint64(b[at+16:]) == first+le.Uint64(b[at+8:]))
}

// descOf returns where EVENT_DESC has its copies of the attributes, and how long each is;
// nil where it has not as many as there are.
func descOf(b []byte, n int) (at []int, size int) {
	s, ok := featureSectionOf(b, FeatureEventDesc)
	if !ok {
		return nil, 0
	}
	d, whole := s.in(b)
	if !whole || len(d) < 8 || int(binary.LittleEndian.Uint32(d)) != n {
		return nil, 0
	}
	c := cursor{b: d}
	c.u32()
	size = int(c.u32())
	for range n {
		at = append(at, int(s.off)+c.off)
		if c.take(size); c.short {
			return nil, 0
		}
		ids := c.u32()
		c.perfString()
		c.words(uint64(ids))
	}
	if c.short {
		return nil, 0
	}
	return at, size
}

// featureSectionOf returns where a file has a feature; ok is false where it has none.
func featureSectionOf(b []byte, f Feature) (s section, ok bool) {
	data, flags := readSection(b[40:]), binary.LittleEndian.Uint64(b[72:])
	if flags>>f&1 == 0 {
		return s, false
	}
	before := uint64(bits.OnesCount64(flags & (1<<f - 1)))
	o := data.off + data.size + 16*before
	if o+16 > uint64(len(b)) || o < data.off {
		return s, false
	}
	return readSection(b[o:]), true
}
