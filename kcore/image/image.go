package image

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/decoder/files"
)

// Range is the addresses Addr <= a < Addr+Len.
type Range struct {
	Addr uint64
	Len  uint64 // bytes, above 0; Addr+Len does not exceed 2^64
}

// Last returns the last address in r.
func (r Range) Last() uint64 { return r.Addr + r.Len - 1 }

// seg is a stretch of an image that one source holds.
type seg struct {
	Range
	data []byte      // the bytes, if they are in memory
	src  io.ReaderAt // else where they are read from,
	off  int64       // from this offset
}

// Image is the text of one snapshot: the bytes of some ranges of addresses.
// What lies outside is unknown. Images are layered: what is added later hides
// what was there. An Image must not be added to once it is shared.
type Image struct {
	segs  []seg // by address, not overlapping
	close []io.Closer
	short *badfile.Error
}

// Short returns a *badfile.Error if an ELF file of the image is cut short. It names the
// first segment that the file does not hold whole. The bytes that are missing are unknown,
// unless another image has them. nil if none are.
func (m *Image) Short() error {
	if m.short == nil {
		return nil
	}
	return m.short
}

// AddBytes lays data over the image at addr. The image keeps data. It is an
// error if data reaches beyond the last address.
func (m *Image) AddBytes(addr uint64, data []byte) error {
	if len(data) == 0 {
		return nil
	}
	return m.add(seg{Range: Range{addr, uint64(len(data))}, data: data})
}

// AddFile lays n bytes of f, from off on, over the image at addr. They are read
// where they are needed, through a mapping where the system has one, so that the
// holes of a file cost nothing. The image closes f if that can be closed. It is an
// error if the bytes reach beyond the last address.
func (m *Image) AddFile(addr uint64, f io.ReaderAt, off, n int64) error {
	s := seg{Range: Range{addr, uint64(n)}, src: f, off: off}
	if c, ok := f.(io.Closer); ok {
		m.close = append(m.close, c)
	}
	if b := files.Mapped(nil); b.Map(f, off+n) {
		m.close = append(m.close, b)
		s.data = b[off : off+n : off+n]
	}
	return m.add(s)
}

// Add lays o over m and leaves o empty. The files of o are closed by m.Close from now on.
func (m *Image) Add(o *Image) {
	m.short = cmp.Or(m.short, o.short)
	for _, s := range o.segs {
		m.insert(s)
	}
	m.close = append(m.close, o.close...)
	o.segs, o.close = nil, nil
}

// View returns a copy of the image to which bytes can be added without changing m. It reads
// from m's files, and does not close them.
func (m *Image) View() *Image { return &Image{segs: slices.Clone(m.segs), short: m.short} }

// add checks s and lays it over the image.
func (m *Image) add(s seg) error {
	if s.Len == 0 {
		return nil
	}
	if s.Addr+(s.Len-1) < s.Addr {
		return fmt.Errorf("%d bytes at %#x reach beyond the last address", s.Len, s.Addr)
	}
	m.insert(s)
	return nil
}

// insert lays s over the image, cutting away what it covers.
func (m *Image) insert(s seg) {
	// Segments [i, k) overlap s.
	i := sort.Search(len(m.segs), func(i int) bool { return m.segs[i].Last() >= s.Addr })
	k := i
	for k < len(m.segs) && m.segs[k].Addr <= s.Last() {
		k++
	}
	var with []seg
	if i < k && m.segs[i].Addr < s.Addr {
		with = append(with, m.segs[i].cut(m.segs[i].Addr, s.Addr-m.segs[i].Addr))
	}
	with = append(with, s)
	if i < k && m.segs[k-1].Last() > s.Last() {
		with = append(with, m.segs[k-1].cut(s.Last()+1, m.segs[k-1].Last()-s.Last()))
	}
	m.segs = slices.Replace(m.segs, i, k, with...)
}

// Remove makes the addresses of r unknown.
func (m *Image) Remove(r Range) {
	if r.Len == 0 {
		return
	}
	m.insert(seg{Range: r})
	i := sort.Search(len(m.segs), func(i int) bool { return m.segs[i].Addr >= r.Addr })
	m.segs = slices.Delete(m.segs, i, i+1)
}

// patch changes bytes that the image holds in memory of its own.
func (m *Image) patch(addr uint64, b []byte) {
	i := sort.Search(len(m.segs), func(i int) bool { return m.segs[i].Last() >= addr })
	for ; i < len(m.segs) && m.segs[i].Addr <= addr+uint64(len(b)-1); i++ {
		s := &m.segs[i]
		for k := range b {
			if d := addr + uint64(k) - s.Addr; d < s.Len {
				s.data[d] = b[k]
			}
		}
	}
}

// cut returns the part of s from addr on, n bytes, both inside s.
func (s seg) cut(addr, n uint64) seg {
	d := addr - s.Addr
	c := seg{Range: Range{addr, n}, src: s.src, off: s.off + int64(d)}
	if s.data != nil {
		c.data = s.data[d : d+n : d+n]
	}
	return c
}

// ReadAt copies the bytes at addr and on into dst, up to the first that the
// image does not hold, and returns how many. It allocates nothing and may be
// called by many goroutines.
func (m *Image) ReadAt(dst []byte, addr uint64) (n int) {
	lo, hi := 0, len(m.segs)
	for lo < hi { // the first segment that ends at or behind addr
		mid := int(uint(lo+hi) >> 1)
		if m.segs[mid].Last() < addr {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	for ; n < len(dst) && lo < len(m.segs); lo++ {
		s := &m.segs[lo]
		at := addr + uint64(n)
		if s.Addr > at || at < addr { // a hole, or behind the last address
			return n
		}
		d := at - s.Addr
		want := min(uint64(len(dst)-n), s.Len-d)
		if s.data != nil {
			n += copy(dst[n:n+int(want)], s.data[d:])
			continue
		}
		got, _ := s.src.ReadAt(dst[n:n+int(want)], s.off+int64(d))
		n += got
		if uint64(got) < want { // the file shrank, or the disk failed
			return n
		}
	}
	return n
}

// Ranges returns what the image holds, by address, adjoining ranges joined.
func (m *Image) Ranges() []Range {
	var rs []Range
	for i := range m.segs {
		s := &m.segs[i]
		if k := len(rs) - 1; k >= 0 && rs[k].Addr+rs[k].Len == s.Addr {
			rs[k].Len += s.Len
			continue
		}
		rs = append(rs, s.Range)
	}
	return rs
}

// Next returns the first address from addr on that the image holds; ok is false
// where there is none.
func (m *Image) Next(addr uint64) (held uint64, ok bool) {
	i := sort.Search(len(m.segs), func(i int) bool { return m.segs[i].Last() >= addr })
	if i == len(m.segs) {
		return 0, false
	}
	return max(addr, m.segs[i].Addr), true
}

// Within appends to dst what the image holds of r, as ranges by address.
func (m *Image) Within(dst []Range, r Range) []Range {
	i := sort.Search(len(m.segs), func(i int) bool { return m.segs[i].Last() >= r.Addr })
	for ; i < len(m.segs) && m.segs[i].Addr <= r.Last(); i++ {
		from, to := max(m.segs[i].Addr, r.Addr), min(m.segs[i].Last(), r.Last())
		if k := len(dst) - 1; k >= 0 && dst[k].Addr+dst[k].Len == from {
			dst[k].Len += to - from + 1
			continue
		}
		dst = append(dst, Range{from, to - from + 1})
	}
	return dst
}

// Close closes the files that the image reads from.
func (m *Image) Close() error {
	var first error
	for _, c := range m.close {
		if err := c.Close(); err != nil && first == nil {
			first = err
		}
	}
	m.close = nil
	return first
}
