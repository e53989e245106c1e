package perfdata

import (
	"encoding/binary"
	"math"

	"github.com/ptdecode/ptdecode/decoder/internal/plural"
)

// Mending records whose headers were damaged. Where the header that should follow a
// record is none, either its own bytes or the size of the one before it are wrong. The
// next headers that make a chain tell which. What can be told is written over the
// damaged header, in memory: the file is mapped privately. The rest becomes records of
// type DAMAGED, so that all that follows is read.

// TypeDamaged stands for bytes that are no record: no file has it.
const TypeDamaged Type = 127

// mender mends the records of a part.
type mender struct {
	r    *Recording
	ev   *events // nil: the pipe's, whose attributes stand among the records
	b    []byte
	src  int
	end  int64 // of the part
	from int64 // where it begins
	misc Misc  // of the last TEXT_POKE record

	fixed  fixed
	chains [8]chainFrom // by the lowest bits of where records lie
	looked int          // places at which next looked for a chain
}

// chainFrom is what next found: from off on the first chain begins at at, 0: it never looked.
type chainFrom struct{ off, at int64 }

// newMender returns what mends the records of p.
func newMender(r *Recording, p *part) *mender {
	m := &mender{r: r, b: r.srcs[p.src].data, src: p.src, end: p.end, from: p.start, misc: MiscKernel}
	if len(r.attrs) > 0 {
		m.events()
	}
	return m
}

// events takes the events that are known so far.
func (m *mender) events() {
	m.ev, m.fixed, m.chains = newEvents(m.r.attrs), newFixed(m.r.attrs), [8]chainFrom{}
}

// known reports whether t is a type that perf or simpleperf writes.
func known(t Type) bool {
	return t < numTypes && typeNames[t] != "" || t > TypeSimpleStart && int(t-TypeSimpleKernelSymbol) < len(simpleNames)
}

// knownAt reports whether the type of a record stands at off, or the end is there.
func knownAt(b []byte, off, end int64) bool {
	return off == end || end-off >= headerSize && known(Type(binary.LittleEndian.Uint32(b[off:])))
}

// header reports whether a record's header may stand at off, and where the next would.
func (m *mender) header(off int64) (next int64, ok bool) {
	f, _, ok := frameAt(m.b, off, m.end)
	if !ok || !known(f.typ) || f.want > f.span || f.odd() {
		return 0, false
	}
	return off + f.span, true
}

// sound is header, and the sample_id must be one.
func (m *mender) sound(off int64) (next int64, ok bool) {
	if next, ok = m.header(off); !ok || m.ev == nil {
		return next, ok
	}
	f, _, _ := frameAt(m.b, off, m.end)
	if f.typ >= firstUserType {
		return next, true
	}
	_, d, _, ok := m.ev.ident(f.typ, m.b[off+headerSize:off+int64(f.size)])
	if n := m.r.header.CPUsAvail; ok && n > 0 && d.Has&SampleCPU != 0 {
		ok = d.CPU >= -1 && d.CPU < int32(max(n, 1))
	}
	return next, ok
}

// chainLength is how many headers in a row are taken for records.
const chainLength = 3

// chain reports whether records follow each other from off on.
func (m *mender) chain(off int64) bool {
	for i := range chainLength {
		if off == m.end {
			return i > 1
		}
		next, ok := m.sound(off)
		if !ok {
			return false
		}
		off = next
	}
	return true
}

// next returns where the next chain begins, from off on in steps of 8 bytes; the end if
// it does not. It looks at no place twice. What is mended meanwhile lies before the chain,
// and another may begin there: that is read without being looked for.
func (m *mender) next(off int64) int64 {
	have := &m.chains[off&7]
	at := off
	for ; m.end-at >= headerSize; at += 8 {
		if have.off <= at && at <= have.at {
			off, at = min(off, have.off), have.at
			break
		}
		m.looked++
		if known(Type(binary.LittleEndian.Uint32(m.b[at:]))) && m.chain(at) {
			break
		}
	}
	if m.end-at < headerSize {
		at = m.end
	}
	*have = chainFrom{off, at}
	return at
}

// mend makes records of what lies at off, where no header is, or behind prev, the record
// before it; prev < 0: there is none. It returns from where to go on, which is prev
// or off; ok is false where no record follows.
func (m *mender) mend(prev, off int64) (from int64, ok bool) {
	if prev >= 0 {
		start := prev + headerSize
		if f, _, ok := frameAt(m.b, prev, m.end); ok && f.typ == TypeAuxtrace {
			start = prev + auxtraceSize
		}
		if at := m.next(start); at < off || at < m.end && (m.isAuxtrace(prev) || m.wrong(prev)) {
			m.size(prev, at)
			return prev, true
		}
	}
	at := m.next(off + headerSize)
	if prev >= 0 && prev+auxtraceSize == off && m.isAuxtraceOf(prev, at) {
		m.aux(prev, at)
		return prev, true
	}
	if at >= m.end && prev >= 0 && m.end-off > headerSize && !knownAt(m.b, off, m.end) && [headerSize]byte(m.b[prev:]) == enc8(uint32(TypeAuxtrace), 0, auxtraceSize) {
		m.aux(prev, m.lastRecords())
		return prev, true
	}
	if k := (off - m.from) & 7; at >= m.end && k != 0 { // an odd size led here
		if x := m.next(off - k + 16); x < m.end {
			m.stretch(off, x)
			return off, true
		}
	}
	if at >= m.end && (knownAt(m.b, off, m.end) || !m.isAuxtraceOf(off, m.end)) {
		return off, false // the file may be cut short
	}
	if f, _, ok := frameAt(m.b, off, m.end); ok && off+f.span == at && f.typ < newTypes {
		if t, ok := m.kind(off, at); !ok || t != TypeTextPoke {
			return off, true // of a type that came later
		}
	}
	m.stretch(off, at)
	return off, true
}

// lastRecords returns where the records begin that end the part: those that say that a round
// is finished, or the end.
func (m *mender) lastRecords() int64 {
	at := m.end
	for at-headerSize > m.from && [headerSize]byte(m.b[at-headerSize:]) == enc8(uint32(TypeFinishedRound), 0, headerSize) {
		at -= headerSize
	}
	return at
}

// wrong reports whether the record at off cannot have the size that its header says.
func (m *mender) wrong(off int64) bool {
	f, _, ok := frameAt(m.b, off, m.end)
	if !ok || f.typ >= firstUserType || m.ev == nil {
		return !ok
	}
	if _, ok = m.sound(off); !ok || f.size != auxtraceSize && f.size < m.fixed.least(f.typ) {
		return true
	}
	if f.typ != TypeTextPoke {
		return false
	}
	body := m.b[off+headerSize : off+int64(f.size)]
	_, _, n, _ := m.ev.ident(f.typ, body)
	return !isPoke(body[:len(body)-n])
}

// newTypes is above all types that later perf may write.
const newTypes = 256

// auxtraceSize is the size of an AUXTRACE record, without its data.
const auxtraceSize = 48

// isAuxtrace reports whether an AUXTRACE record lies at off.
func (m *mender) isAuxtrace(off int64) bool {
	return m.end-off >= auxtraceSize && Type(binary.LittleEndian.Uint32(m.b[off:])) == TypeAuxtrace
}

// enc8 is a record's header.
func enc8(t uint32, misc, size uint16) [headerSize]byte {
	var b [headerSize]byte
	binary.LittleEndian.PutUint32(b[:], t)
	binary.LittleEndian.PutUint16(b[4:], misc)
	binary.LittleEndian.PutUint16(b[6:], size)
	return b
}

// isAuxtraceOf reports whether what lies in [off, end) is an AUXTRACE record and its data.
// A byte or two of its header may be wrong: its size field says so.
func (m *mender) isAuxtraceOf(off, end int64) bool {
	if end-off <= auxtraceSize || binary.LittleEndian.Uint64(m.b[off+headerSize:]) != uint64(end-off-auxtraceSize) {
		return false
	}
	same := 0 // bytes of the header that are those of such a record
	for i, b := range enc8(uint32(TypeAuxtrace), 0, auxtraceSize) {
		if m.b[off+int64(i)] == b {
			same++
		}
	}
	return same >= headerSize-2
}

// size corrects the size of the record at off, which ends at end.
func (m *mender) size(off, end int64) {
	t := Type(binary.LittleEndian.Uint32(m.b[off:]))
	switch {
	case t == TypeAuxtrace && end-off >= auxtraceSize:
		m.aux(off, end)
	case known(t) && (t < firstUserType || end-off == headerSize) && end-off <= math.MaxUint16:
		binary.LittleEndian.PutUint16(m.b[off+6:], uint16(end-off))
		if t == TypeTextPoke {
			m.doubt(off, math.MaxUint64, 0)
		}
		m.tell(off, end, "size is wrong, it has %s by what follows", plural.Count(end-off, "byte"))
	default:
		m.stretch(off, end)
	}
}

// aux makes [off, end) an AUXTRACE record and its data.
func (m *mender) aux(off, end int64) {
	binary.LittleEndian.PutUint32(m.b[off:], uint32(TypeAuxtrace))
	binary.LittleEndian.PutUint16(m.b[off+6:], auxtraceSize)
	binary.LittleEndian.PutUint64(m.b[off+headerSize:], uint64(end-off-auxtraceSize))
	m.tell(off, end, "header is damaged; %s of trace %s it", plural.Count(end-off-auxtraceSize, "byte"), plural.Word(end-off-auxtraceSize, "follows", "follow"))
}

// stretch makes records of [off, end), of which no header at off can be told: of those
// whose bytes still say what they are, else DAMAGED ones. Whole ones may lie behind the first.
func (m *mender) stretch(off, end int64) {
	for off = m.first(off, end); off < end; {
		next, ok := m.header(off)
		if !ok || next > end || next < end && !m.startsAt(next, end) {
			next = m.first(off, end)
		}
		off = next
	}
}

// first makes the first records of [off, end), and returns where they end.
func (m *mender) first(off, end int64) (next int64) {
	n := end - off
	if m.isAuxtraceOf(off, end) {
		m.aux(off, end)
		return end
	}
	if t, ok := m.kind(off, end); ok {
		binary.LittleEndian.PutUint32(m.b[off:], uint32(t))
		binary.LittleEndian.PutUint16(m.b[off+6:], uint16(n))
		if t == TypeTextPoke {
			m.doubt(off, math.MaxUint64, 0)
		}
		m.tell(off, end, "type or size is wrong, its bytes are a %s record's", t)
		return end
	}
	if next, ok := m.pokeAt(off, end); ok && next < end {
		m.stretch(off, next)
		return next
	}
	if o, next, ok := m.between(off, end); ok {
		m.stretch(off, o)
		if _, whole := m.sound(o); !whole {
			m.stretch(o, next)
		}
		return next
	}
	if m.found(off, end) {
		return end
	}
	m.r.hints.Damaged += uint64(n)
	misc := uint16(0)
	if m.hidesPoke(off, end) {
		misc = miscHidesPoke
	}
	m.tell(off, end, "%s %s damaged and %[2]s stepped over", plural.Count(n, "byte"), plural.Word(n, "is", "are"))
	const most = math.MaxUint16 &^ 7
	for off < end {
		k := min(end-off, most)
		if left := end - off - k; left > 0 && left < headerSize {
			k -= headerSize
		}
		if k < headerSize {
			break
		}
		m.damaged(off, k, misc)
		off += k
	}
	return end
}

// damaged makes a DAMAGED record of n bytes at off.
func (m *mender) damaged(off, n int64, misc uint16) {
	binary.LittleEndian.PutUint32(m.b[off:], uint32(TypeDamaged))
	binary.LittleEndian.PutUint16(m.b[off+4:], misc)
	binary.LittleEndian.PutUint16(m.b[off+6:], uint16(n))
	if m.r.stepped == nil {
		m.r.stepped = map[steppedAt]bool{}
	}
	m.r.stepped[steppedAt{m.src, off}] = true
}

// steppedAt is where a DAMAGED record lies. Another of that type is a damaged one's.
type steppedAt struct {
	src int
	off int64
}

// miscHidesPoke in a DAMAGED record: one of the records that it was may have been a
// TEXT_POKE.
const miscHidesPoke = 1

// between finds the first whole record of the kernel's inside of a damaged stretch, or the
// first TEXT_POKE whose header alone is damaged.
func (m *mender) between(off, end int64) (o, next int64, ok bool) {
	for o = off + headerSize; end-o >= 2*headerSize; o += 8 {
		if next, ok = m.pokeAt(o, end); ok {
			return o, next, true
		}
		t := Type(binary.LittleEndian.Uint32(m.b[o:]))
		if t >= firstUserType || !known(t) {
			continue
		}
		if next, ok = m.sound(o); ok && next <= end && m.ev != nil {
			return o, next, true
		}
	}
	return 0, 0, false
}

// hidesPoke reports whether a TEXT_POKE record may stand in a damaged stretch: its type or
// its lengths are still there.
func (m *mender) hidesPoke(off, end int64) bool {
	if m.ev == nil || end-off > math.MaxUint16 || (end-off)%8 != 0 {
		return true
	}
	for o := off; end-o >= pokeLen; o += 8 {
		if Type(binary.LittleEndian.Uint32(m.b[o:])) == TypeTextPoke {
			return true
		}
		n := int64(binary.LittleEndian.Uint16(m.b[o+6:]))
		if n < pokeLen || o+n > end {
			continue
		}
		body := m.b[o+headerSize : o+n]
		if _, _, ident, ok := m.ev.ident(TypeTextPoke, body); ok && isPoke(body[:len(body)-ident]) {
			return true
		}
	}
	return false
}

// kind tells a record's type by its bytes: that of a TEXT_POKE by the lengths that it
// holds, others by the part of the type that is whole.
func (m *mender) kind(off, end int64) (Type, bool) {
	n := end - off
	if m.ev == nil || n > math.MaxUint16 || n < headerSize {
		return 0, false
	}
	body := m.b[off+headerSize : end]
	_, d, ident, ok := m.ev.ident(TypeTextPoke, body)
	if ok && likelyPoke(body[:len(body)-ident]) && mayBePoke(body) {
		return TypeTextPoke, true
	}
	if c := m.r.header.CPUsAvail; !ok || c > 0 && d.Has&SampleCPU != 0 && (d.CPU < -1 || d.CPU >= int32(c)) {
		return 0, false
	}
	t := Type(binary.LittleEndian.Uint32(m.b[off:]))
	if size := int64(binary.LittleEndian.Uint16(m.b[off+6:])); ok && (size < headerSize || size%8 != 0 || size > n) && m.fixed.fits(m.b, off, end, t) {
		return t, true
	}
	if isPoke(body[:len(body)-ident]) {
		return TypeTextPoke, true
	}
	size := int64(binary.LittleEndian.Uint16(m.b[off+6:]))
	if low := t & 0xff; t != low && low < firstUserType && low != TypeSample && low != TypeTextPoke && known(low) && size == n {
		return low, true
	}
	return 0, false
}

// tell adds what was mended to the trouble.
func (m *mender) tell(off, end int64, format string, args ...any) {
	m.r.hints.Mended++
	t := Type(binary.LittleEndian.Uint32(m.b[off:]))
	name := "record"
	if known(t) {
		name += " " + t.String()
	}
	src := ""
	for _, s := range m.r.srcs {
		if len(s.data) == len(m.b) && &s.data[0] == &m.b[0] {
			src = s.name
		}
	}
	m.r.trouble(src, off, name+": "+format, args...)
}
