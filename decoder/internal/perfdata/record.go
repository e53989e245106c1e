package perfdata

import (
	"fmt"

	"github.com/ptdecode/ptdecode/decoder/badfile"
)

// Record is one record. It holds for as long as its Recording is open, but a
// Reader's next Next overwrites it; copy the struct to keep it.
type Record struct {
	Ident
	Type Type
	Misc Misc
	Size int    // header and body, bytes
	File string // the file it stands in; inflated records name their file with ":inflated"
	Off  int64  // offset of its header in File, bytes
	Attr *Attr  // the event that wrote it; nil for records of perf itself
	Body []byte // between the header and the sample_id
	Data []byte // what follows an AUXTRACE or HEADER_TRACING_DATA record

	noIdent bool // too short for its event's sample_id
}

// fill reads the record at off of a source into rec and returns the offset of
// the next; ok is false when no whole record is there.
func (r *Recording) fill(rec *Record, ev *events, src int, off, end int64) (next int64, ok bool) {
	s := r.srcs[src]
	f, _, ok := frameAt(s.data, off, end)
	if !ok {
		return off, false
	}
	body := s.data[off+headerSize : off+int64(f.size) : off+int64(f.size)]
	rec.Type, rec.Misc, rec.Size = f.typ, f.misc, f.size
	rec.File, rec.Off = s.name, off
	rec.Data = nil
	if f.span > int64(f.size) {
		rec.Data = s.data[off+int64(f.size) : off+f.span : off+f.span]
	}
	var n int
	rec.Attr, rec.Ident, n, ok = ev.ident(f.typ, body)
	rec.noIdent = !ok
	if ok {
		body = body[:len(body)-n]
	}
	rec.Body = body
	r.held.passes(off, off+f.span)
	return off + f.span, true
}

// errorf makes the error of a record whose contents break a rule.
func (rec *Record) errorf(format string, args ...any) error {
	return &badfile.Error{File: rec.File, Off: rec.Off, What: rec.Type.String() + ": " + fmt.Sprintf(format, args...)}
}

// done returns the error of a cursor that ran past the body.
func (rec *Record) done(c *cursor) error {
	if !c.short || c.wrong != nil {
		return c.wrong
	}
	trailer := rec.Size - headerSize - len(rec.Body)
	return rec.errorf("size %d, need at least %d", rec.Size, headerSize+c.need+trailer)
}

// cursor returns a cursor over the body of a record of a type. Of another record there is
// nothing to read, and done says so.
func (rec *Record) cursor(t ...Type) cursor {
	if err := rec.is(t...); err != nil {
		return cursor{short: true, wrong: err}
	}
	return cursor{b: rec.Body}
}

// is returns an error when the record is not of a type.
func (rec *Record) is(t ...Type) error {
	for _, t := range t {
		if rec.Type == t {
			return nil
		}
	}
	return rec.errorf("asked for a %s", t[0])
}

// Exec reports whether a COMM is due to an exec.
func (rec *Record) Exec() bool { return rec.Type == TypeComm && rec.Misc&MiscCommExec != 0 }

// SwitchOut reports whether a SWITCH or SWITCH_CPU_WIDE leaves the CPU, and
// whether the task was preempted, that is, still runnable.
func (rec *Record) SwitchOut() (out, preempt bool) {
	out = rec.Misc&MiscSwitchOut != 0
	return out, out && rec.Misc&MiscSwitchPreempt != 0
}

// Mmap is a MMAP or MMAP2 record: a file mapped into a process, the kernel's
// text ("[kernel.kallsyms]_text") or a module.
type Mmap struct {
	PID, TID   int32 // PID -1: the kernel
	Addr       uint64
	Len        uint64 // bytes
	PgOff      uint64 // bytes
	Maj, Min   uint32
	Inode      uint64
	InodeGen   uint64
	BuildID    []byte // MMAP2 with MiscMmapBuildID: instead of the four above
	Prot       uint32 // PROT_*; 0 in a MMAP
	Flags      uint32 // MAP_*; 0 in a MMAP
	Executable bool
	File       string
}

// Mmap reads a MMAP or MMAP2 record.
func (rec *Record) Mmap() (m Mmap, err error) {
	c := rec.cursor(TypeMmap, TypeMmap2)
	m.PID, m.TID = c.i32(), c.i32()
	m.Addr, m.Len, m.PgOff = c.u64(), c.u64(), c.u64()
	m.Executable = rec.Misc&MiscMmapData == 0
	if rec.Type == TypeMmap2 {
		if rec.Misc&MiscMmapBuildID != 0 {
			n := c.u8()
			c.take(3)
			id := c.take(20)
			if int(n) > 20 {
				return m, rec.errorf("build id of %d bytes, need at most 20", n)
			}
			if id != nil {
				m.BuildID = id[:n]
			}
		} else {
			m.Maj, m.Min, m.Inode, m.InodeGen = c.u32(), c.u32(), c.u64(), c.u64()
		}
		m.Prot, m.Flags = c.u32(), c.u32()
		const protExec = 4
		m.Executable = m.Executable && m.Prot&protExec != 0
	}
	m.File = c.str()
	return m, rec.done(&c)
}

// Comm is a COMM record: a thread's name.
type Comm struct {
	PID, TID int32
	Comm     string
	Exec     bool // because of an exec
}

// Comm reads a COMM record.
func (rec *Record) Comm() (m Comm, err error) {
	c := rec.cursor(TypeComm)
	m = Comm{PID: c.i32(), TID: c.i32(), Comm: c.str(), Exec: rec.Exec()}
	return m, rec.done(&c)
}

// Task is a FORK or EXIT record.
type Task struct {
	PID, PPID int32
	TID, PTID int32
	Time      uint64 // ns
}

// Task reads a FORK or EXIT record.
func (rec *Record) Task() (m Task, err error) {
	c := rec.cursor(TypeFork, TypeExit)
	m = Task{PID: c.i32(), PPID: c.i32(), TID: c.i32(), PTID: c.i32(), Time: c.u64()}
	return m, rec.done(&c)
}

// Lost is a LOST or LOST_SAMPLES record: so many were dropped.
type Lost struct {
	ID   uint64 // LOST: the event's id
	Lost uint64 // records or samples
	Time uint64 // ns, when the record was written, which is after the loss
	CPU  int32

	// Since is the time of the record before it from the same CPU, ns: what
	// was lost lies between. Only in Hints.LostIn; 0 where there is none.
	Since uint64
}

// Lost reads a LOST or LOST_SAMPLES record.
func (rec *Record) Lost() (m Lost, err error) {
	c := rec.cursor(TypeLost, TypeLostSamples)
	if rec.Type == TypeLost {
		m.ID = c.u64()
	}
	m.Lost = c.u64()
	m.Time, m.CPU = rec.Time, rec.CPU
	return m, rec.done(&c)
}

// Throttle is a THROTTLE or UNTHROTTLE record.
type Throttle struct{ Time, ID, StreamID uint64 }

// Throttle reads a THROTTLE or UNTHROTTLE record.
func (rec *Record) Throttle() (m Throttle, err error) {
	c := rec.cursor(TypeThrottle, TypeUnthrottle)
	m = Throttle{c.u64(), c.u64(), c.u64()}
	return m, rec.done(&c)
}

// Aux is an AUX record: new data in the AUX area.
type Aux struct {
	Off   uint64 // in the AUX area, bytes, counting on when the buffer wraps
	Size  uint64 // bytes
	Flags uint64 // Aux*
}

// Aux reads an AUX record.
func (rec *Record) Aux() (m Aux, err error) {
	c := rec.cursor(TypeAux)
	m = Aux{c.u64(), c.u64(), c.u64()}
	return m, rec.done(&c)
}

// ThreadID is a process and a thread of it.
type ThreadID struct{ PID, TID int32 }

// ItraceStart reads an ITRACE_START record: who runs as the trace starts.
func (rec *Record) ItraceStart() (m ThreadID, err error) {
	return rec.task2(TypeItraceStart)
}

// SwitchCPUWide reads a SWITCH_CPU_WIDE record: the next task of a switch
// out, the previous one of a switch in.
func (rec *Record) SwitchCPUWide() (m ThreadID, err error) {
	return rec.task2(TypeSwitchCPUWide)
}

func (rec *Record) task2(t Type) (m ThreadID, err error) {
	c := rec.cursor(t)
	m = ThreadID{c.i32(), c.i32()}
	return m, rec.done(&c)
}

// Namespace is one of a task's namespaces.
type Namespace struct{ Dev, Inode uint64 }

// Namespaces is a NAMESPACES record; the entries are in the order net, uts,
// ipc, pid, user, mnt, cgroup (include/uapi/linux/perf_event.h).
type Namespaces struct {
	PID, TID int32
	Links    []Namespace
}

// Namespaces reads a NAMESPACES record.
func (rec *Record) Namespaces() (m Namespaces, err error) {
	c := rec.cursor(TypeNamespaces)
	m.PID, m.TID = c.i32(), c.i32()
	n := c.count(c.u64(), 16)
	for range n {
		m.Links = append(m.Links, Namespace{c.u64(), c.u64()})
	}
	return m, rec.done(&c)
}

// Ksymbol is a KSYMBOL record: a kernel symbol comes or goes.
type Ksymbol struct {
	Addr       uint64
	Len        uint32 // bytes
	Kind       uint16 // 1: BPF, 2: out-of-line code (probe slots, trampolines)
	Unregister bool
	Name       string
}

// The kinds of Ksymbol (PERF_RECORD_KSYMBOL_TYPE_*).
const (
	KsymbolBPF = 1
	KsymbolOOL = 2
)

// Ksymbol reads a KSYMBOL record.
func (rec *Record) Ksymbol() (m Ksymbol, err error) {
	c := rec.cursor(TypeKsymbol)
	m.Addr, m.Len, m.Kind = c.u64(), c.u32(), c.u16()
	m.Unregister = c.u16()&1 != 0
	m.Name = c.str()
	return m, rec.done(&c)
}

// BPFEvent is a BPF_EVENT record: a program is loaded (Kind 1) or unloaded (2).
type BPFEvent struct {
	Kind, Flags uint16
	ID          uint32
	Tag         [8]byte
}

// BPFEvent reads a BPF_EVENT record.
func (rec *Record) BPFEvent() (m BPFEvent, err error) {
	c := rec.cursor(TypeBPFEvent)
	m.Kind, m.Flags, m.ID = c.u16(), c.u16(), c.u32()
	copy(m.Tag[:], c.take(8))
	return m, rec.done(&c)
}

// Cgroup is a CGROUP record.
type Cgroup struct {
	ID   uint64
	Path string
}

// Cgroup reads a CGROUP record.
func (rec *Record) Cgroup() (m Cgroup, err error) {
	c := rec.cursor(TypeCgroup)
	m = Cgroup{c.u64(), c.str()}
	return m, rec.done(&c)
}

// TextPoke is a TEXT_POKE record: the kernel changed its own text at Addr from
// Old to New. An empty Old is code that appears, an empty New code that goes.
// Both alias the file.
type TextPoke struct {
	Addr     uint64
	Old, New []byte
}

// TextPoke reads a TEXT_POKE record (include/uapi/linux/perf_event.h).
func (rec *Record) TextPoke() (m TextPoke, err error) {
	c := rec.cursor(TypeTextPoke)
	m.Addr = c.u64()
	oldLen, newLen := int(c.u16()), int(c.u16())
	if c.short {
		return m, rec.done(&c)
	}
	if have := c.left(); oldLen+newLen > have {
		return m, rec.errorf("old %d and new %d bytes, have %d", oldLen, newLen, have)
	}
	m.Old, m.New = c.take(oldLen), c.take(newLen)
	return m, nil
}

// AuxOutputHWID reads an AUX_OUTPUT_HW_ID record: the hardware's id for the
// event that rec.ID names. CSHWIDOf reads that of a cs_etm event.
func (rec *Record) AuxOutputHWID() (id uint64, err error) {
	c := rec.cursor(TypeAuxOutputHWID)
	id = c.u64()
	return id, rec.done(&c)
}

// CallchainDeferred is a CALLCHAIN_DEFERRED record (v6.19): the user part of a
// callchain that samples with the same cookie left out.
type CallchainDeferred struct {
	Cookie uint64
	IPs    []uint64
}

// CallchainDeferred reads a CALLCHAIN_DEFERRED record.
func (rec *Record) CallchainDeferred() (m CallchainDeferred, err error) {
	c := rec.cursor(TypeCallchainDeferred)
	m.Cookie = c.u64()
	m.IPs = c.words(c.u64())
	return m, rec.done(&c)
}
