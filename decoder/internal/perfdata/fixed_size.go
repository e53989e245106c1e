package perfdata

import (
	"bytes"
	"encoding/binary"
)

// fixed is what sizes records have whose size their type, or their body, says.
type fixed struct {
	ident int  // bytes of the sample_id behind each of the kernel's records
	known bool // all events have the same
}

// newFixed returns the sizes of records of these events.
func newFixed(attrs []*Attr) fixed {
	x := fixed{known: len(attrs) > 0}
	for _, a := range attrs {
		x.known = x.known && a.idLen == attrs[0].idLen
		x.ident = a.idLen
	}
	return x
}

// fixedSizes are the sizes of bodies that have one, without the sample_id, bytes
// (include/uapi/linux/perf_event.h, v6.1).
var fixedSizes = [numTypes]uint8{
	TypeLost: 16, TypeExit: 24, TypeThrottle: 24, TypeUnthrottle: 24, TypeFork: 24,
	TypeAux: 24, TypeItraceStart: 8, TypeLostSamples: 8, TypeSwitchCPUWide: 8, TypeBPFEvent: 16,
}

// nameFrom says where in a record's body a name begins, bytes. It ends the body, but for the
// sample_id, with NUL and zeros up to a multiple of 8 (kernel/events/core.c,
// perf_event_comm_event and its like, v6.1; tools/perf/util/synthetic-events.c).
var nameFrom = [numTypes]uint8{TypeMmap: 32, TypeComm: 8, TypeMmap2: 64, TypeKsymbol: 16, TypeCgroup: 8}

// size returns the size that the record f at off of b should have, bytes: its own where
// nothing says otherwise.
func (x *fixed) size(b []byte, off, end int64, f *frame) int {
	if f.typ == TypeAuxtrace {
		return auxtraceSize
	}
	if !x.known || f.typ >= numTypes || f.size == auxtraceSize { // trace may follow
		return f.size
	}
	if n := int(fixedSizes[f.typ]); n > 0 {
		return headerSize + n + x.ident
	}
	if k := headerSize + int(nameFrom[f.typ]); k > headerSize && f.size > k {
		n := bytes.IndexByte(b[off+int64(k):off+int64(f.size)], 0)
		if n < 0 {
			return f.size
		}
		return min(f.size, k+(n+8)&^7+x.ident)
	}
	if f.typ == TypeFinishedRound || f.typ == TypeFinishedInit {
		return headerSize
	}
	if f.typ != TypeTextPoke || end-off < pokeLen {
		return f.size
	}
	a, c := binary.LittleEndian.Uint16(b[off+16:]), binary.LittleEndian.Uint16(b[off+18:])
	return min(f.size, headerSize+(12+int(a)+int(c)+7)&^7+x.ident) // else its lengths are wrong
}

// least is how large records of a type are at least, bytes; 0: not known.
func (x *fixed) least(t Type) int {
	switch {
	case !x.known || t >= numTypes:
		return 0
	case fixedSizes[t] > 0:
		return headerSize + int(fixedSizes[t]) + x.ident
	case nameFrom[t] > 0:
		return headerSize + int(nameFrom[t]) + 8 + x.ident
	}
	return 0
}

// fits reports whether what lies in [off, end) is as large as records of a type are. Only
// of some types it can be told.
func (x *fixed) fits(b []byte, off, end int64, t Type) bool {
	if !x.known || t >= numTypes || fixedSizes[t] == 0 && nameFrom[t] == 0 {
		return false
	}
	f := frame{typ: t, size: int(end - off)}
	return x.size(b, off, end, &f) == f.size
}

// freeSize reports whether records of a type may have a size that is no multiple of 8.
func freeSize(t Type) bool {
	return t == TypeHeaderTracingData || t == TypeCompressed || t == TypeHeaderFeature || t == TypeHeaderBuildID || t > TypeSimpleStart
}

// odd reports whether no record of the type has such a size.
func (f *frame) odd() bool { return f.size%8 != 0 && !freeSize(f.typ) }

// followed reports whether a record may begin at off, or the end is there.
func followed(b []byte, off, end int64) bool {
	f, _, ok := frameAt(b, off, end)
	return off == end || ok && known(f.typ)
}

// resize makes the record at off one that ends at end, if records follow each other there.
func (m *mender) resize(off, end int64) bool {
	if m.isAuxtrace(off) {
		n := binary.LittleEndian.Uint64(m.b[off+headerSize:])
		if n > uint64(m.end-end) {
			return false
		}
		end += int64(n)
	}
	if !m.chain(end) && !m.headers(end) {
		return false
	}
	m.size(off, end)
	return true
}

// headers is chain for who knows already that a record begins at off: its body may be damaged
// too, or that of the one behind it.
func (m *mender) headers(off int64) bool {
	for range chainLength {
		if off == m.end {
			return true
		}
		next, ok := m.header(off)
		if !ok {
			return false
		}
		off = next
	}
	return true
}
