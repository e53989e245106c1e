package coresight

import (
	"encoding/binary"
	"math/bits"
)

// take takes as much of b as it can judge: all but a few bytes, all where it
// is the end.
func (d *Deframer) take(b []byte, end bool) int {
	n := 0
	for n < len(b) {
		if d.pos == 0 && !d.hunting && len(b)-n >= frameSize {
			if k := d.frames(b[n:]); k > 0 {
				n += k
				continue
			}
		}
		k := d.step(b[n:], end)
		if k == 0 {
			break
		}
		n += k
		d.src += int64(k)
	}
	return n
}

const (
	evenBits  = 0x0001_0001_0001_0001 // bit 0 of each even byte
	evenBytes = 0x00FF_00FF_00FF_00FF
	evenTops  = 0x8000_8000_8000_8000
)

// syncNear reports whether an even byte among the eight is FF: no frame.
func syncNear(w uint64) bool {
	x := ^w & evenBytes
	return (x-evenBits)&evenTops != 0
}

// frames takes whole frames without syncs in or before them. It returns the
// number of bytes taken.
func (d *Deframer) frames(b []byte) int {
	n := 0
	for ; len(b)-n >= frameSize; n += frameSize {
		f := b[n : n+frameSize : n+frameSize]
		lo, hi := binary.LittleEndian.Uint64(f), binary.LittleEndian.Uint64(f[8:])
		if syncNear(lo) || syncNear(hi) {
			break
		}
		if d.syncs != 0 {
			d.endSyncs()
		}
		ids := lo&evenBits | hi&evenBits<<1
		aux := uint64(f[15])
		lo |= spread(aux & 15)
		hi |= spread(aux >> 4)
		if d.src != d.next {
			d.brk = true
		}
		d.next = d.src + frameSize
		if ids == 0 && d.cur != nil && !d.brk {
			// Data only: the most common frame.
			s := d.cur
			s.grow(frameSize)
			m := len(s.Data)
			out := s.Data[m : m+frameSize]
			binary.LittleEndian.PutUint64(out, lo)
			binary.LittleEndian.PutUint64(out[8:], hi)
			s.Data = s.Data[:m+frameSize-1]
		} else {
			d.mixed(lo, hi, ids, uint8(aux))
		}
		d.src += frameSize
	}
	return n
}

// spread puts bits 0 to 3 into bit 0 of the even bytes.
func spread(x uint64) uint64 { return x * (1 | 1<<15 | 1<<30 | 1<<45) & evenBits }

// gather is the inverse of spread.
func gather(x uint64) uint64 { return x & evenBits * (1<<48 | 1<<33 | 1<<18 | 1<<3) >> 48 & 15 }

// mixed takes the frame at src, whose 16 bytes are lo and hi with the auxiliary
// bits in place. ids has bit 0 (lo) or 1 (hi) of each 16 set where the even byte
// is an ID.
func (d *Deframer) mixed(lo, hi, ids uint64, aux uint8) {
	mask := uint(gather(ids) | gather(ids>>1)<<4)
	start := 0
	for ; mask != 0; mask &= mask - 1 {
		k := bits.TrailingZeros(mask)
		p := 2 * k
		d.put(lo, hi, start, p)
		start = p + 1
		first, _ := from(lo, hi, p)
		d.brk = true
		if aux>>k&1 != 0 && p < frameSize-2 {
			d.put(lo, hi, start, start+1)
			d.brk = true
			start++
		}
		d.choose(uint8(first) >> 1)
	}
	d.put(lo, hi, start, frameSize-1)
}

// from returns the bytes of a frame from byte i on.
func from(lo, hi uint64, i int) (uint64, uint64) {
	if i >= 8 {
		return hi >> (8 * uint(i-8)), 0
	}
	return lo>>(8*uint(i)) | hi<<(64-8*uint(i)), hi >> (8 * uint(i))
}

// put gives bytes i to j of the frame at src to the current source.
func (d *Deframer) put(lo, hi uint64, i, j int) {
	if i >= j {
		return
	}
	s := d.cur
	if s == nil {
		d.disown(d.src+int64(i), j-i)
		return
	}
	s.grow(frameSize)
	if d.brk {
		s.addRun(d.src+int64(i), i)
		d.brk = false
	}
	x, y := from(lo, hi, i)
	m := len(s.Data)
	out := s.Data[m : m+frameSize]
	binary.LittleEndian.PutUint64(out, x)
	binary.LittleEndian.PutUint64(out[8:], y)
	s.Data = s.Data[:m+j-i]
}

// step takes a few bytes where syncs may stand, or goes on looking for one. It
// returns how many; 0: it needs more to judge.
func (d *Deframer) step(b []byte, end bool) int {
	if d.hunting {
		return d.seek(b)
	}
	if d.pos&1 == 0 && b[0] == 0xFF {
		if len(b) < 4 && !end {
			return 0
		}
		if n := d.sync(b); n > 0 {
			return n
		}
	}
	d.endSyncs()
	d.part[d.pos], d.at[d.pos] = b[0], d.src
	if d.pos++; d.pos == frameSize {
		d.gathered()
	}
	return 1
}

// sync takes a sync at the start of b, which is FF at an even place of a frame.
// It returns its length; 0: there is none.
func (d *Deframer) sync(b []byte) int {
	switch {
	case len(b) >= 4 && binary.LittleEndian.Uint32(b) == fsync:
		d.fsync(d.src, 4)
		return 4
	case len(b) >= 3 && d.pos > 0 && d.part[d.pos-1] == 0xFF && d.at[d.pos-1] == d.src-1 && b[1] == 0xFF && b[2] == 0x7F:
		// Its first byte was taken for data.
		d.fsync(d.src-1, 3)
		return 3
	case d.format != FormatMemory && len(b) >= 2 && b[1] == 0x7F:
		return 2 // HSYNC
	case d.format != FormatMemory && len(b) >= 2 && b[1] == 0xFF:
		off := d.src
		if d.pos > 0 {
			off = d.at[0]
		}
		d.hunt(off, FaultSync)
		return d.seek(b[:1])
	}
	return 0
}

// fsync notes an FSYNC at off, of which n bytes are at src.
func (d *Deframer) fsync(off int64, n int) {
	if d.pos > 0 && d.at[0] < off {
		d.endSyncs()
		d.trouble(d.at[0], off, FaultShort)
		d.lose(off, FaultShort)
	}
	d.pos = 0
	if d.syncs == 0 {
		d.syncOff = off
	}
	if d.syncs++; d.syncs == barrierWords && d.format == FormatMemory {
		d.lose(d.src+int64(n), Reset)
	}
}

// endSyncs judges a row of FSYNCs that ends before src.
func (d *Deframer) endSyncs() {
	if d.syncs%barrierWords != 0 && d.format == FormatMemory {
		d.trouble(d.syncOff, d.src, FaultFSync)
	}
	d.syncs = 0
}

// hunt starts looking for the next FSYNC; what stands before it cannot be read.
func (d *Deframer) hunt(off int64, why Fault) {
	d.hunting, d.huntOff, d.huntFor = true, off, why
	d.pos, d.last = 0, 0
}

// seek looks for an FSYNC at any place.
func (d *Deframer) seek(b []byte) int {
	for i, c := range b {
		if d.last = d.last>>8 | uint32(c)<<24; d.last != fsync {
			continue
		}
		d.hunting = false
		off := d.src + int64(i) - 3
		if off > d.huntOff {
			d.trouble(d.huntOff, off, d.huntFor)
			d.lose(off, d.huntFor)
		}
		d.syncOff, d.syncs = off, 1
		return i + 1
	}
	return len(b)
}

// gathered takes the frame that was gathered byte by byte.
func (d *Deframer) gathered() {
	d.pos = 0
	aux := d.part[frameSize-1]
	d.brk = d.brk || d.at[0] != d.next
	d.next = d.at[frameSize-1] + 1
	for i := 0; i < frameSize-1; i++ {
		c := d.part[i]
		bit := aux >> (i / 2) & 1
		switch {
		case i&1 == 1:
			d.putByte(i, c)
		case c&1 == 0:
			d.putByte(i, c|bit)
		default:
			d.brk = true
			if bit == 1 && i < frameSize-2 {
				i++
				d.putByte(i, d.part[i])
				d.brk = true
			}
			d.choose(c >> 1)
		}
	}
}

// putByte gives byte i of the gathered frame to the current source.
func (d *Deframer) putByte(i int, c byte) {
	s := d.cur
	if s == nil {
		d.disown(d.at[i], 1)
		return
	}
	if d.brk || i > 0 && d.at[i] != d.at[i-1]+1 {
		s.addRun(d.at[i], i)
		d.brk = false
	}
	s.grow(frameSize)
	s.Data = append(s.Data, c)
}
