package perfdata

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"
)

// Mending TEXT_POKE records: their times, their lengths, and whether they are such records
// at all.

// identAt reads the sample_id of the kernel's record at off; end is where it ends, and ok
// whether it states CPU and time.
func (m *mender) identAt(off int64) (d Ident, end int64, ok bool) {
	f, _, ok := frameAt(m.b, off, m.end)
	if !ok || f.typ >= firstUserType || m.ev == nil {
		return d, 0, false
	}
	_, d, _, ok = m.ev.ident(f.typ, m.b[off+headerSize:off+int64(f.size)])
	return d, off + f.span, ok && d.HasTime() && d.Has&SampleCPU != 0
}

// sameCPU reads the times of the records at off and at prev, before it, and returns
// whether both are of one CPU.
func (m *mender) sameCPU(prev, off int64, cpu int32) (time uint64, end int64, ok bool) {
	if prev < 0 {
		return 0, 0, false
	}
	d, end, ok := m.identAt(prev)
	return d.Time, end, ok && d.CPU == cpu
}

// pokeTime looks at the time of a TEXT_POKE record at off that does not lie between those of
// the records beside it, of the same CPU. A CPU's records are in order. Where the next
// ones but one fit, a time beside it may be the wrong one. Else it gets the earliest that it
// can be. prev and prev2 are where the records before it lie, -1: nowhere.
func (m *mender) pokeTime(prev2, prev, off int64) {
	d, end, ok := m.identAt(off)
	if !ok || prev < 0 {
		return
	}
	first, _, ok := m.identAt(prev)
	after, end2, ok1 := m.sameCPU(end, off, first.CPU)
	if before := first.Time; !ok || !ok1 || before <= d.Time && d.Time <= after {
		return
	}
	from, to := first.Time, after
	if t, _, ok := m.sameCPU(prev2, off, first.CPU); ok && t <= d.Time && d.Time < from {
		from = t
	}
	if t, _, ok := m.sameCPU(end2, off, first.CPU); ok && t >= d.Time && d.Time > to {
		to = t
	}
	if from > to {
		return // that one beside it is wrong is more likely
	}
	time := d.Time
	if time < from || time > to {
		time = from
		f, _, _ := frameAt(m.b, off, m.end)
		body := m.b[off+headerSize : off+int64(f.size)]
		a, _, n, _ := m.ev.ident(f.typ, body)
		at := len(body) - n
		if a.SampleType&SampleTID != 0 { // the only field of a sample_id before the time
			at += 8
		}
		binary.LittleEndian.PutUint64(body[at:], time)
	}
	m.doubt(off, from, to)
	m.tell(off, end, "time %d ns is not between those of the records beside it, taken as %d to %d", d.Time, from, to)
}

// doubt notes that the TEXT_POKE record at off was mended; it was made in [from, to], ns.
func (m *mender) doubt(off int64, from, to uint64) {
	if d, _, ok := m.identAt(off); ok {
		addr := binary.LittleEndian.Uint64(m.b[off+headerSize:])
		m.r.hints.Guessed = append(m.r.hints.Guessed, GuessedPoke{addr, d.Time, min(from, d.Time), max(to, d.Time)})
		return
	}
	m.r.hints.Holes = append(m.r.hints.Holes, Hole{0, math.MaxUint64}) // one without a time, or none at all
}

// pokeLengths corrects the lengths of a TEXT_POKE record at off, where one of them is wrong.
// Both are the same as a rule, and one is 0 where code appears or goes. Few pokes have 256 bytes.
// Where the length of what appears or goes is wrong itself, it is up to the last byte that is not 0.
func (m *mender) pokeLengths(off int64, f *frame) {
	body := m.b[off+headerSize : off+int64(f.size)]
	_, _, n, ok := m.ev.ident(f.typ, body)
	if !ok {
		return // it has no room for a sample_id
	}
	if body = body[:len(body)-n]; len(body) < 16 || likelyPoke(body) {
		return
	}
	le := binary.LittleEndian
	a, b := le.Uint16(body[8:]), le.Uint16(body[10:])
	tries := [][2]uint16{{a, a}, {b, b}, {a, 0}, {0, b}, {a, b & 0xff}, {a & 0xff, b}}
	if n := uint16(len(bytes.TrimRight(body[12:], "\x00"))); a == 0 {
		tries = append(tries, [2]uint16{0, n})
	} else if b == 0 {
		tries = append(tries, [2]uint16{n, 0})
	}
	for _, x := range tries {
		le.PutUint16(body[8:], x[0])
		le.PutUint16(body[10:], x[1])
		if likelyPoke(body) {
			m.doubt(off, math.MaxUint64, 0)
			m.tell(off, off+int64(f.size), "lengths %d and %d do not fit its %d bytes, taken as %d and %d", a, b, f.size, x[0], x[1])
			return
		}
	}
	le.PutUint16(body[8:], a)
	le.PutUint16(body[10:], b)
}

// likelyPoke is isPoke of one as the kernel writes them. It replaces as many bytes as it
// brings, or one of both is none. It is padded with zeros (kernel/events/core.c,
// perf_event_text_poke, v6.1).
func likelyPoke(body []byte) bool {
	if !isPoke(body) {
		return false
	}
	a, b := binary.LittleEndian.Uint16(body[8:]), binary.LittleEndian.Uint16(body[10:])
	if a != b && a != 0 && b != 0 {
		return false
	}
	for _, x := range body[12+int(a)+int(b):] {
		if x != 0 {
			return false
		}
	}
	return true
}

// isPoke reports whether a body without sample_id is a TEXT_POKE's: u64 address, u16 two
// lengths, then as many bytes, padded to 8.
func isPoke(body []byte) bool {
	if len(body) < 16 {
		return false
	}
	n := int(binary.LittleEndian.Uint16(body[8:])) + int(binary.LittleEndian.Uint16(body[10:]))
	return n > 0 && (12+n+7)&^7 == len(body)
}

// poke looks at the TEXT_POKE record f at off. prev and prev2 are where the records before it
// lie, -1: nowhere.
func (m *mender) poke(prev2, prev, off int64, f *frame) {
	if m.ev == nil {
		return
	}
	m.pokeLengths(off, f)
	body := m.b[off+headerSize : off+int64(f.size)]
	_, _, n, ok := m.ev.ident(f.typ, body)
	if !ok || !isPoke(body[:len(body)-n]) {
		hides := uint16(0)
		if mayBePoke(m.b[off+headerSize : m.end]) {
			hides = miscHidesPoke
		}
		m.tell(off, off+f.span, "its bytes are none's, and are stepped over")
		m.damaged(off, f.span, hides)
		return
	}
	if f.misc == 0 || f.misc == MiscKernel || f.misc == MiscGuestKernel {
		m.misc = f.misc
	} else {
		binary.LittleEndian.PutUint16(m.b[off+4:], uint16(m.misc))
		m.doubt(off, math.MaxUint64, 0)
		m.tell(off, off+f.span, "misc %#x says that no kernel changed code, taken as %#x", f.misc, m.misc)
	}
	m.pokeAddress(off, f)
	m.pokeTime(prev2, prev, off)
}

// pokeAddress corrects the highest byte of a TEXT_POKE's address: it is 0xff in all kernels of
// 64 bits. So is the next one, where those below say that it is of the kernel's code.
func (m *mender) pokeAddress(off int64, f *frame) {
	addr := m.b[off+headerSize:][:8]
	was, k := binary.LittleEndian.Uint64(addr), 0
	switch {
	case addr[7] != 0xff && addr[6] == 0xff && addr[5] == 0xff:
		k = 7
	case addr[7] == 0xff && addr[6] != 0xff && addr[5] == 0xff && addr[4] == 0xff:
		k = 6
	default:
		return
	}
	addr[k] = 0xff
	m.doubt(off, math.MaxUint64, 0)
	m.tell(off, off+f.span, "address %#x is no kernel's, taken as %#x", was, binary.LittleEndian.Uint64(addr))
}

// pokeSize corrects the size of a TEXT_POKE record f at off by its lengths: where records follow
// each other by these, and do not by its size. No others may begin before, nor another TEXT_POKE:
// then a length is the wrong one.
func (m *mender) pokeSize(off int64, f *frame) bool {
	next, ok := m.pokeAt(off, m.end)
	if !ok || m.headers(off+int64(f.size)) || !m.chain(next) && !m.headers(next) || m.next(off+headerSize) < next {
		return false
	}
	for o := off + headerSize; o < next; o += 8 {
		if _, ok := m.pokeAt(o, next); ok {
			return false
		}
	}
	m.size(off, next)
	return true
}

// mayBePoke reports whether a body without sample_id, whose lengths do not fit, may be a
// TEXT_POKE's: whether it has a kernel's address. Otherwise two bytes were wrong.
func mayBePoke(body []byte) bool {
	return len(body) >= 16 && binary.LittleEndian.Uint16(body[6:]) == math.MaxUint16
}

// wasPoke makes a TEXT_POKE record of one at off that its type, where a byte is wrong, takes
// for another. It has a kernel's address, as many bytes as its lengths say, and is not sound
// as what its type says.
func (m *mender) wasPoke(off int64, f *frame) bool {
	if m.ev == nil || f.misc != MiscKernel || f.size < pokeLen || f.span != int64(f.size) && f.typ != TypeAuxtrace {
		return false
	}
	body := m.b[off+headerSize : off+int64(f.size)]
	if !mayBePoke(body) || m.kernels(f.typ, body) {
		return false
	}
	_, d, n, ok := m.ev.ident(TypeTextPoke, body)
	if c := m.r.header.CPUsAvail; !ok || c > 0 && d.Has&SampleCPU != 0 && (d.CPU < -1 || d.CPU >= int32(c)) || !likelyPoke(body[:len(body)-n]) {
		return false
	}
	m.tell(off, off+int64(f.size), "its bytes are a %s record's", TypeTextPoke)
	binary.LittleEndian.PutUint32(m.b[off:], uint32(TypeTextPoke))
	m.doubt(off, math.MaxUint64, 0)
	return true
}

// kernels reports whether a record of MiscKernel whose body begins with a kernel's address may
// be what its type says. A SAMPLE begins with its event's id if all events state that there.
// A KSYMBOL has one of two types and one of two flags. Records of kernel modules have
// -1 for a thread where an address has its upper half (tools/perf/util/synthetic-events.c,
// v6.1). What others have there is never that large: threads, sizes, times and ids.
func (m *mender) kernels(t Type, body []byte) bool {
	name := len(body)
	switch t {
	case TypeSample:
		return slices.ContainsFunc(m.ev.attrs, func(a *Attr) bool { return a.SampleType&SampleIdentifier == 0 })
	case TypeKsymbol:
		const types, flags = 2, 1 // the highest ones (include/uapi/linux/perf_event.h, v6.12)
		if kind := binary.LittleEndian.Uint16(body[12:]); kind == 0 || kind > types || binary.LittleEndian.Uint16(body[14:]) > flags {
			return false
		}
		name = 16
	case TypeMmap:
		name = 32
	case TypeMmap2:
		name = 64
	case TypeHeaderBuildID:
		name = 28
	}
	if name >= len(body) {
		return false
	}
	n := bytes.IndexByte(body[name:], 0)
	if n <= 0 {
		return false
	}
	for _, c := range body[name : name+n] {
		if c < ' ' || c == 0x7f {
			return false
		}
	}
	return true
}

// pokeAt reports whether a TEXT_POKE record lies at off whose header is damaged, and where it
// ends by its lengths: at end at the latest.
func (m *mender) pokeAt(off, end int64) (next int64, ok bool) {
	x := &m.fixed
	if m.ev == nil || !x.known || end-off < pokeLen {
		return 0, false
	}
	a, b := binary.LittleEndian.Uint16(m.b[off+16:]), binary.LittleEndian.Uint16(m.b[off+18:])
	next = off + headerSize + int64((12+int(a)+int(b)+7)&^7)
	if next+int64(x.ident) > end {
		return 0, false
	}
	body := m.b[off+headerSize : next]
	return next + int64(x.ident), likelyPoke(body) && mayBePoke(body)
}

// startsAt reports whether a record may start at off, before end: one that the kernel writes,
// or a TEXT_POKE whose header is damaged.
func (m *mender) startsAt(off, end int64) bool {
	if _, ok := m.pokeAt(off, end); ok {
		return true
	}
	_, ok := m.header(off)
	return ok
}
