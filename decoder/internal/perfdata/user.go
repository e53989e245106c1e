package perfdata

import (
	"encoding/hex"
	"math"
)

// IDEntry says where an event id's events come from (ID_INDEX).
type IDEntry struct {
	ID         uint64
	Index      uint64 // of the buffer
	CPU        int32  // -1: any
	TID        int32  // -1: any
	MachinePID int32  // of the guest's hypervisor; 0: host (v6.0)
	VCPU       int32
}

// IDIndex reads an ID_INDEX record: u64 number, the entries, and since v6.0
// as many pairs of guest fields.
func (rec *Record) IDIndex() (list []IDEntry, err error) {
	c := rec.cursor(TypeIDIndex)
	n := c.count(c.u64(), 32)
	for range n {
		list = append(list, IDEntry{ID: c.u64(), Index: c.u64(), CPU: int32(c.u64()), TID: int32(c.u64())})
	}
	if c.left() >= 16*n {
		for i := range n {
			list[i].MachinePID, list[i].VCPU = int32(c.u64()), int32(c.u64())
		}
	}
	return list, rec.done(&c)
}

func (s *scanner) idIndex() error {
	r := s.r
	list, err := s.rec.IDIndex()
	for _, e := range list {
		if len(r.idIndex) >= r.idRoom {
			break
		}
		if _, ok := r.idQueue[e.ID]; !ok {
			r.idQueue[e.ID] = len(r.idIndex)
			r.idIndex = append(r.idIndex, e)
		}
	}
	return err
}

// BuildID is the build id of a file (HEADER_BUILD_ID and the feature BUILD_ID).
type BuildID struct {
	PID  int32 // -1: the host
	Misc Misc  // MiscCPUModeMask: kernel or user
	ID   []byte
	File string
}

// Hex is the build id in hexadecimal digits.
func (b *BuildID) Hex() string { return hex.EncodeToString(b.ID) }

// BuildID reads a HEADER_BUILD_ID record.
func (rec *Record) BuildID() (m BuildID, err error) {
	c := rec.cursor(TypeHeaderBuildID)
	m.Misc = rec.Misc
	m.PID = c.i32()
	id := c.take(20)
	n := int(c.u8())
	c.take(3)
	m.File = c.str()
	if c.short {
		return m, rec.done(&c)
	}
	if rec.Misc&MiscBuildIDSize == 0 || n > len(id) {
		n = len(id)
	}
	m.ID = id[:n]
	return m, nil
}

func (s *scanner) buildID() error {
	m, err := s.rec.BuildID()
	if err == nil {
		s.r.buildIDs = append(s.r.buildIDs, m)
	}
	return err
}

// buildIDSection reads the feature BUILD_ID, a sequence of records whose type
// may be 0.
func (r *Recording) buildIDSection(src *source, off int64, b []byte) {
	for at := int64(0); at < int64(len(b)); {
		f, need, ok := frameAt(b, at, int64(len(b)))
		if !ok {
			r.trouble(src.name, off+at, "feature BUILD_ID: entry needs %d bytes, section has %d", max(need, headerSize), int64(len(b))-at)
			return
		}
		rec := Record{Type: TypeHeaderBuildID, Misc: f.misc, Size: f.size, File: src.name, Off: off + at, Body: b[at+headerSize : at+int64(f.size)]}
		m, err := rec.BuildID()
		if err != nil {
			r.trouble(src.name, off+at, "feature BUILD_ID: entry of %d bytes, need at least %d", f.size, headerSize+28)
		} else {
			r.buildIDs = append(r.buildIDs, m)
		}
		at += int64(f.size)
	}
}

// EventUpdate is an EVENT_UPDATE record: more about the event with an id.
// Kind 0: unit, 1: scale, 2: name, 3: CPUs.
type EventUpdate struct {
	Kind, ID uint64
	Text     string  // kinds 0 and 2
	Scale    float64 // kind 1
	CPUs     []int   // kind 3
}

// EventUpdate reads an EVENT_UPDATE record.
func (rec *Record) EventUpdate() (m EventUpdate, err error) {
	c := rec.cursor(TypeEventUpdate)
	m.Kind, m.ID = c.u64(), c.u64()
	switch m.Kind {
	case 0, 2:
		m.Text = c.str()
	case 1:
		m.Scale = math.Float64frombits(c.u64())
	case 3:
		m.CPUs = c.cpus()
	}
	return m, rec.done(&c)
}

func (s *scanner) eventUpdate() error {
	const kindName = 2
	c := cursor{b: s.rec.Body}
	if c.u64() != kindName {
		return s.rec.done(&c)
	}
	m, err := s.rec.EventUpdate()
	if err == nil {
		if a := s.r.events.byID[m.ID]; a != nil {
			a.Name = m.Text
		}
	}
	return err
}

// maxCPUs bounds a CPU map, whose range form is short and may say anything.
const maxCPUs = 1 << 16

// cpus reads a perf_record_cpu_map_data: u16 type, then u16 number and u16
// CPUs (type 0), a bit mask in 32- or 64-bit words (1), or a range (2, v6.1).
func (c *cursor) cpus() (cpus []int) {
	switch c.u16() {
	case 0:
		n := c.count(uint64(c.u16()), 2)
		for range n {
			cpus = append(cpus, int(int16(c.u16())))
		}
	case 1:
		n, size := uint64(c.u16()), int(c.u16())
		if size == 8 {
			c.take(4)
		}
		if size != 4 && size != 8 {
			return nil
		}
		for w := range c.count(n, size) {
			bits := uint64(0)
			if size == 8 {
				bits = c.u64()
			} else {
				bits = uint64(c.u32())
			}
			for i := 0; i < 8*size; i++ {
				if bits>>i&1 != 0 {
					cpus = append(cpus, w*8*size+i)
				}
			}
		}
	case 2:
		anyCPU := c.u8() != 0
		c.take(1)
		start, end := int(c.u16()), int(c.u16())
		if anyCPU {
			cpus = append(cpus, -1)
		}
		for i := start; !c.short && i <= end && i < maxCPUs; i++ {
			cpus = append(cpus, i)
		}
	}
	return cpus
}

// Words reads the body as 64-bit words: what a STAT_CONFIG, STAT, STAT_ROUND,
// READ or unknown record holds.
func (rec *Record) Words() []uint64 {
	c := cursor{b: rec.Body}
	return c.words(uint64(len(rec.Body) / 8))
}
