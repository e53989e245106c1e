package perfdata

import (
	"encoding/binary"
	"math/bits"
)

// Sample is a SAMPLE record. Which fields are stated follows from
// Attr.SampleType; slices alias the file.
type Sample struct {
	IP, Addr          uint64
	Period            uint64 // events counted between two samples
	Read              []byte // counters, in the layout of Attr.ReadFormat
	Callchain         []byte // 64-bit addresses
	Raw               []byte
	Branches          []byte // 24 bytes each: from, to, flags
	BranchHWIndex     uint64
	BranchCounters    []byte // 8 bytes for each branch (v6.8)
	RegsUserABI       uint64
	RegsUser          []byte // 64-bit registers, of Attr.SampleRegsUser
	StackUser         []byte // as much as was there
	Weight            uint64
	DataSrc           uint64
	Transaction       uint64
	RegsIntrABI       uint64
	RegsIntr          []byte
	PhysAddr, Cgroup  uint64
	DataPage          uint64 // bytes
	CodePage          uint64 // bytes
	Aux               []byte // hardware trace up to the sample
	AuxOff            int    // of Aux in the record's body, bytes
	HasAux, HasBranch bool
}

// Sample reads a SAMPLE record whole. The order of the fields is that of
// kernel/events/core.c, perf_output_sample; the comment in perf_event.h has
// AUX before the page sizes, which the kernel writes first.
func (rec *Record) Sample() (m Sample, err error) {
	if err = rec.is(TypeSample); err != nil {
		return
	}
	if rec.Attr == nil {
		return m, rec.errorf("no event is described that could have written it")
	}
	a := rec.Attr
	st := a.SampleType
	c := cursor{b: rec.Body}
	has := func(f uint64) bool { return st&f != 0 }
	word := func(f uint64, p *uint64) {
		if has(f) {
			*p = c.u64()
		}
	}
	skip := func(f uint64) { c.array(uint64(bits.OnesCount64(st&f)), 8) } // see Ident
	skip(SampleIdentifier)
	word(SampleIP, &m.IP)
	skip(SampleTID | SampleTime)
	word(SampleAddr, &m.Addr)
	skip(SampleID | SampleStreamID | SampleCPU)
	word(SamplePeriod, &m.Period)
	if has(SampleRead) {
		m.Read = c.readValues(a.ReadFormat)
	}
	if has(SampleCallchain) {
		m.Callchain = c.array(c.u64(), 8)
	}
	if has(SampleRaw) {
		m.Raw = c.array(uint64(c.u32()), 1)
	}
	if has(SampleBranchStack) {
		m.branchStack(&c, a)
	}
	if has(SampleRegsUser) {
		m.RegsUserABI, m.RegsUser = c.regs(a.SampleRegsUser)
	}
	if has(SampleStackUser) {
		m.StackUser = c.stack()
	}
	word(sampleWeightAny, &m.Weight)
	word(SampleDataSrc, &m.DataSrc)
	word(SampleTransaction, &m.Transaction)
	if has(SampleRegsIntr) {
		m.RegsIntrABI, m.RegsIntr = c.regs(a.SampleRegsIntr)
	}
	word(SamplePhysAddr, &m.PhysAddr)
	word(SampleCgroup, &m.Cgroup)
	word(SampleDataPageSize, &m.DataPage)
	word(SampleCodePageSize, &m.CodePage)
	if has(SampleAux) {
		n := c.u64()
		m.AuxOff = c.off
		m.Aux = c.array(n, 1)
		m.HasAux = true
	}
	return m, rec.done(&c)
}

// IntrReg returns register n of those that the sampled code was interrupted with, by
// the numbers of the machine's uapi/asm/perf_regs.h. It is false where the sample
// does not hold it: code of user programs may have been sampled without registers.
func (m *Sample) IntrReg(a *Attr, n int) (uint64, bool) {
	if n < 0 || n > 63 || a.SampleRegsIntr>>n&1 == 0 || m.RegsIntrABI == 0 {
		return 0, false
	}
	at := 8 * bits.OnesCount64(a.SampleRegsIntr&(1<<n-1))
	if at+8 > len(m.RegsIntr) {
		return 0, false
	}
	return binary.LittleEndian.Uint64(m.RegsIntr[at:]), true
}

// array takes n items of size bytes.
func (c *cursor) array(n uint64, size int) []byte {
	return c.take(c.count(n, size) * size)
}

// readValues takes a struct read_format (include/uapi/linux/perf_event.h).
func (c *cursor) readValues(f uint64) []byte {
	per := 1 + bits.OnesCount64(f&(readID|readLost))
	times := bits.OnesCount64(f & (readEnabled | readRunning))
	start := c.off
	n := uint64(1)
	if f&readGroup != 0 {
		n = c.u64()
	}
	c.array(uint64(times), 8)
	c.array(n, 8*per)
	if c.short {
		return nil
	}
	return c.b[start:c.off]
}

func (m *Sample) branchStack(c *cursor, a *Attr) {
	n := c.u64()
	if a.BranchSampleType&branchHWIndex != 0 {
		m.BranchHWIndex = c.u64()
	}
	m.Branches = c.array(n, 24)
	if a.BranchSampleType&branchCounters != 0 {
		m.BranchCounters = c.array(n, 8)
	}
	m.HasBranch = true
}

// regs takes u64 abi and, unless that is 0, the registers of a mask.
func (c *cursor) regs(mask uint64) (abi uint64, regs []byte) {
	abi = c.u64()
	if abi == 0 {
		return 0, nil
	}
	return abi, c.array(uint64(bits.OnesCount64(mask)), 8)
}

// stack takes u64 size, the bytes, and, unless size is 0, u64 how many of
// them are stack.
func (c *cursor) stack() []byte {
	n := c.u64()
	if n == 0 {
		return nil
	}
	b := c.array(n, 1)
	used := c.u64()
	return b[:min(used, uint64(len(b)))]
}

// sampleAux adds a sample's trace to its stream.
func (s *scanner) sampleAux() {
	m, err := s.rec.Sample()
	if err != nil {
		s.r.trouble(s.rec.File, s.rec.Off, "record SAMPLE: %d bytes do not hold what its event's sample_type 0x%x says", s.rec.Size, s.rec.Attr.SampleType)
		return
	}
	if len(m.Aux) > 0 {
		s.queue.sample(s.r, &s.rec, m.Aux, m.AuxOff)
	}
}
