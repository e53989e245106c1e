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
			if d.format != FormatMemory && binary.LittleEndian.Uint32(b[n:]) == fsync {
				n += 4
				d.src += 4
				continue
			}
			if k := d.frames(b[n:]); k > 0 {
				n += k
				continue
			}
			d.rest = len(b) - n
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
	if d.src != d.next {
		d.brk = true
	}
	n := 0
	for len(b)-n >= frameSize {
		f := (*[frameSize]byte)(b[n:])
		lo, hi := binary.LittleEndian.Uint64(f[:8]), binary.LittleEndian.Uint64(f[8:])
		if (lo|hi)&evenBits == 0 && d.cur != nil && !d.brk {
			n += d.plain(b[n:])
			continue
		}
		if syncNear(lo) || syncNear(hi) {
			break
		}
		if d.syncs != 0 {
			d.endSyncs()
		}
		d.rest = len(b) - n
		ids := lo&evenBits | hi&evenBits<<1
		aux := hi >> 56
		add := &auxBits[aux&0xff]
		lo, hi = lo|add[0], hi|add[1]
		if p := only(ids); p >= 0 && d.cur != nil && f[p]>>1 == d.cur.ID {
			d.again(lo, hi, p)
		} else {
			d.mixed(lo, hi, ids, uint(aux))
		}
		d.src += frameSize
		n += frameSize
	}
	if n > 0 {
		d.next = d.src
	}
	return n
}

// plainMost is how many frames plain takes at once.
const plainMost = 256

// plain takes frames of data only, the most common ones: they are the current
// source's and go on where its last run ended. It returns the number of bytes
// taken.
func (d *Deframer) plain(b []byte) int {
	s := d.cur
	n := min(len(b)/frameSize, plainMost) * frameSize
	s.room(n, d.src, len(b))
	m := len(s.Data)
	in, out := b[:n], s.Data[m:m+n]
	// Two frames at a time: what it costs to go on is shared.
	for len(in) >= 2*frameSize && len(out) >= 2*frameSize {
		f, to := (*[2 * frameSize]byte)(in), (*[2 * frameSize]byte)(out)
		lo, hi := binary.LittleEndian.Uint64(f[:8]), binary.LittleEndian.Uint64(f[8:16])
		lo2, hi2 := binary.LittleEndian.Uint64(f[16:24]), binary.LittleEndian.Uint64(f[24:])
		if (lo|hi|lo2|hi2)&evenBits != 0 {
			break
		}
		aux, aux2 := &auxBits[hi>>56], &auxBits[hi2>>56]
		binary.LittleEndian.PutUint64(to[:8], lo|aux[0])
		binary.LittleEndian.PutUint64(to[8:16], hi|aux[1])
		binary.LittleEndian.PutUint64(to[15:23], lo2|aux2[0])
		binary.LittleEndian.PutUint64(to[23:31], hi2|aux2[1])
		in, out = in[2*frameSize:], out[2*(frameSize-1):]
	}
	if len(in) >= frameSize && len(out) >= frameSize {
		f, to := (*[frameSize]byte)(in), (*[frameSize]byte)(out)
		lo, hi := binary.LittleEndian.Uint64(f[:8]), binary.LittleEndian.Uint64(f[8:])
		if (lo|hi)&evenBits == 0 {
			aux := &auxBits[hi>>56]
			binary.LittleEndian.PutUint64(to[:8], lo|aux[0])
			binary.LittleEndian.PutUint64(to[8:], hi|aux[1])
			in = in[frameSize:]
		}
	}
	n -= len(in)
	s.Data = s.Data[:m+n/frameSize*(frameSize-1)]
	if d.syncs != 0 && n > 0 {
		d.endSyncs()
	}
	d.src += int64(n)
	return n
}

// again takes the frame at src, whose only ID is byte p and names the current
// source again, as a formatter does from time to time. The other bytes move
// together.
func (d *Deframer) again(lo, hi uint64, p int) {
	s := d.cur
	m := len(s.Data)
	if cap(s.Data)-m < frameSize {
		s.grow(frameSize, d.src, d.rest)
	}
	if d.brk && p > 0 {
		s.addRun(m, d.src, 0)
	}
	s.addRun(m+p, d.src+int64(p)+1, p+1)
	d.brk = false
	below := uint64(1)<<(8*uint(p&7)) - 1
	if p < 8 {
		lo, hi = lo&below|lo>>8&^below|hi<<56, hi>>8
	} else {
		hi = hi&below | hi>>8&^below
	}
	out := (*[frameSize]byte)(s.Data[m : m+frameSize])
	binary.LittleEndian.PutUint64(out[:8], lo)
	binary.LittleEndian.PutUint64(out[8:], hi)
	s.Data = s.Data[:m+frameSize-2]
}

// only returns the place of a frame's only ID; -1 if there is none or another.
func only(ids uint64) int {
	if ids == 0 || ids&(ids-1) != 0 {
		return -1
	}
	at := bits.TrailingZeros64(ids)
	return at>>4<<1 + at&1<<3
}

// spread puts bits 0 to 3 into bit 0 of the even bytes.
func spread(x uint64) uint64 { return x * (1 | 1<<15 | 1<<30 | 1<<45) & evenBits }

// auxBits is what an auxiliary byte puts into the lower and the upper half of
// its frame.
var auxBits = auxTable()

func auxTable() (t [256][2]uint64) {
	for i := range t {
		t[i] = [2]uint64{spread(uint64(i) & 15), spread(uint64(i) >> 4)}
	}
	return t
}

// mixed takes the frame at src, whose 16 bytes are lo and hi with the auxiliary
// bits in place. Of ids, bit 16k is set where byte 2k is an ID, and bit 16k+1
// where byte 8+2k is.
func (d *Deframer) mixed(lo, hi, ids uint64, aux uint) {
	s, start := d.cur, 0
	// Low and high half in turn, so that the IDs come in order.
	for half := 0; half < 2; half++ {
		for set := ids >> half & evenBits; set != 0; set &= set - 1 {
			k := bits.TrailingZeros64(set)>>4 + 4*half
			p := 2 * k
			if start < p {
				d.put(s, lo, hi, start, p)
			}
			start = p + 1
			d.brk = true
			if aux>>k&1 != 0 && p < frameSize-2 {
				d.put(s, lo, hi, start, start+1)
				d.brk = true
				start++
			}
			id, _ := from(lo, hi, p)
			s = d.streams[uint8(id)>>1]
			if s == nil {
				s = d.unusual(uint8(id) >> 1)
			}
		}
	}
	d.cur = s
	if start < frameSize-1 {
		d.put(s, lo, hi, start, frameSize-1)
	}
}

// from returns the bytes of a frame from byte i on.
func from(lo, hi uint64, i int) (uint64, uint64) {
	k := uint(i&7) * 8
	if i >= 8 {
		return hi >> k, 0
	}
	return lo>>k | hi<<8<<(56-k), hi >> k
}

// put gives bytes i to j of the frame at src to a source; s is nil where they
// are nobody's.
func (d *Deframer) put(s *Stream, lo, hi uint64, i, j int) {
	if s == nil {
		d.disown(d.src+int64(i), j-i)
		return
	}
	m := len(s.Data)
	if cap(s.Data)-m < frameSize {
		s.grow(frameSize, d.src, d.rest)
	}
	if d.brk {
		s.addRun(m, d.src+int64(i), i)
		d.brk = false
	}
	lo, hi = from(lo, hi, i)
	out := (*[frameSize]byte)(s.Data[m : m+frameSize])
	binary.LittleEndian.PutUint64(out[:8], lo)
	binary.LittleEndian.PutUint64(out[8:], hi)
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
			if d.cur = d.streams[c>>1]; d.cur == nil {
				d.cur = d.unusual(c >> 1)
			}
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
		s.addRun(len(s.Data), d.at[i], i)
		d.brk = false
	}
	s.room(1, d.src, d.rest)
	s.Data = append(s.Data, c)
}
