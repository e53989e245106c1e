package coresight

import (
	"encoding/binary"
	"fmt"
)

// A frame is 16 bytes. Its even bytes 0 to 14 hold an ID or data, its odd bytes
// 1 to 13 data, byte 15 the auxiliary bits, one for each even byte:
//
//	even byte, bit 0 = 1: bits 7..1 are a source's ID. Its auxiliary bit 0: the
//	                      bytes that follow are that source's; 1: the next byte
//	                      still is the old source's.
//	even byte, bit 0 = 0: data, whose bit 0 is the auxiliary bit.
//
// An ID in byte 14 holds from the next frame on. The current source survives
// the end of a frame (IHI0029, "Formatter"; DDI0314H, "TPIU formatter and
// FIFO").
//
// A trace port also sends syncs, which are no part of frames: FSYNC, the word
// 0x7FFFFFFF, between frames, and HSYNC, the halfword 0x7FFF, between halfwords.
// Neither can be mistaken for a frame's content, since source 0x7F is forbidden:
// no even byte is FF.
const frameSize = 16

// fsync is FSYNC, as little-endian word.
const fsync = 0x7FFFFFFF

// barrierWords is how many FSYNC words in a row in memory say that older trace
// was lost before here. Linux, drivers/hwtracing/coresight/coresight-core.c,
// coresight_barrier_pkt, v6.12.
const barrierWords = 4

// Format is how a buffer holds the bytes of sources.
type Format uint8

// The formats.
const (
	// FormatMemory: frames in a row, as an ETB, ETF or ETR stores them. Four FSYNC
	// words are a barrier: the trace before them was cut.
	FormatMemory Format = iota

	// FormatPort: the output of a trace port (TPIU), as an external probe
	// (DSTREAM) records it: it may start anywhere, FSYNCs tell where frames
	// start, FSYNCs and HSYNCs fill the gaps.
	FormatPort

	// FormatDStream: as FormatPort, but in blocks of 512 bytes, as a DSTREAM unit stores
	// them. The last 8 bytes of each block are a footer and no trace. See PortFormat.
	FormatDStream
)

// A DSTREAM block, bytes.
const (
	blockSize   = 512
	blockFooter = 8
)

// PortFormat tells whether the recording of a trace port that begins with buf is FormatPort
// or FormatDStream. In the latter, the lower 12 of the last 16 bits of each block's footer
// count blocks down. buf should hold two blocks, of 512 bytes each; with less, the answer is
// FormatPort.
func PortFormat(buf []byte) Format {
	count := func(i int) uint16 { return binary.LittleEndian.Uint16(buf[i+blockSize-2:]) & 0xFFF }
	n := len(buf) / blockSize * blockSize
	if n < 2*blockSize {
		return FormatPort
	}
	for i := blockSize; i < n; i += blockSize {
		if (count(i)+1)&0xFFF != count(i-blockSize) {
			return FormatPort
		}
	}
	return FormatDStream
}

// Fault is what is wrong with frames.
type Fault uint8

// The faults.
const (
	// Reset is no fault of the frames: a barrier says that trace was lost.
	Reset         Fault = iota
	FaultUnsynced       // trace port: bytes before the first FSYNC
	FaultShort          // a frame cut short by an FSYNC or by the end
	FaultFSync          // memory: FSYNC words, but not four in a row
	FaultSync           // trace port: FFFF that is no FSYNC
	FaultID             // data of a reserved source ID
	numFaults
)

var faultNames = [numFaults]string{
	"trace lost before a barrier of FSYNCs",
	"no FSYNC yet: cannot tell where frames start",
	"frame cut short",
	"FSYNC words in memory that are no multiple of four",
	"bytes FFFF that are no FSYNC",
	"data of a reserved trace ID",
}

// String says what is wrong.
func (f Fault) String() string {
	if f < numFaults {
		return faultNames[f]
	}
	return "?"
}

// Trouble is a stretch of the source buffer that cannot be read as frames.
type Trouble struct {
	Off, End int64 // in the source buffer, bytes
	What     Fault
}

// String says where and what.
func (t Trouble) String() string {
	return fmt.Sprintf("+0x%x: frames: %v (%d bytes)", t.Off, t.What, t.End-t.Off)
}

// nobody is why data belongs to no source.
type nobody uint8

const (
	noID       nobody = iota // no ID came yet, or since trace was lost
	noSource                 // padding, a trigger: what comes is no trace
	reservedID               // no source can have the ID
)

// maxTroubles bounds the list of troubles, entries.
const maxTroubles = 1 << 16

// Deframer takes frames apart into one stream a source. What cannot be read
// becomes Trouble, and it goes on behind it. The zero value reads FormatMemory.
type Deframer struct {
	format  Format
	streams [1 << 7]*Stream // by ID; nil: no such data
	spare   [1 << 7]*Stream // given back by Recycle
	cur     *Stream         // whose data comes; nil: nobody's
	nobody  nobody          // why, where cur is nil
	brk     bool            // the next byte starts a run
	src     int64           // offset of the next byte to take, footers not counted, bytes
	rest    int             // bytes of the source at hand, about
	inBlock int             // FormatDStream: bytes of the block that were written
	next    int64           // offset at which a frame would go on from the last without a break

	part    [frameSize]byte // the frame being gathered where syncs stand nearby
	at      [frameSize]int64
	pos     int // how much of it is there, bytes
	hunting bool
	last    uint32 // while hunting: the last four bytes
	huntOff int64  // where it started
	huntFor Fault
	syncs   int   // FSYNC words in a row before src
	syncOff int64 // where they start

	tail     []byte // what Write could not yet judge, at most 3 bytes
	troubles []Trouble
	// troubleEnd is where the last of them ends, footers not counted, bytes.
	troubleEnd int64
	dropped    int   // troubles beyond maxTroubles
	unowned    int64 // data bytes before the first ID, or after a barrier
}

// NewDeframer returns a Deframer for a buffer of the format.
func NewDeframer(f Format) *Deframer {
	d := &Deframer{format: f}
	d.Reset()
	return d
}

// Reset forgets everything but the format and reads another buffer from its
// start. Streams that were returned before are not touched again.
func (d *Deframer) Reset() {
	*d = Deframer{format: d.format, tail: d.tail[:0], brk: true, spare: d.spare}
	if d.format != FormatMemory {
		d.hunt(0, FaultUnsynced)
	}
}

// Recycle is Reset that takes the memory of the streams that were returned: they
// must not be used any more.
func (d *Deframer) Recycle() {
	for id, s := range d.streams {
		if s != nil {
			d.spare[id] = s
		}
	}
	d.Reset()
}

// Deframe takes a whole buffer apart.
func Deframe(f Format, buf []byte) *Deframer {
	d := NewDeframer(f)
	d.Write(buf)
	d.Close()
	return d
}

// Streams returns the sources that had data, by ID. IDs that no source can
// have are left out: 0 is padding.
func (d *Deframer) Streams() []*Stream {
	var list []*Stream
	for id := MinID; id <= MaxID; id++ {
		if s := d.streams[id]; s != nil && len(s.Data) > 0 {
			list = append(list, s)
		}
	}
	return list
}

// Stream returns the bytes of a source; nil if it had none.
func (d *Deframer) Stream(id uint8) *Stream {
	if id < MinID || id > MaxID || d.streams[id] == nil || len(d.streams[id].Data) == 0 {
		return nil
	}
	return d.streams[id]
}

// Troubles returns what could not be read, in order, and how many more there
// were than are kept.
func (d *Deframer) Troubles() (list []Trouble, more int) { return d.troubles, d.dropped }

// Unowned returns how many bytes of data had no source, for no ID came before
// them. A buffer that wrapped around may start with some.
func (d *Deframer) Unowned() int64 { return d.unowned }

// Write takes the next piece of the buffer, of any size. It never fails.
func (d *Deframer) Write(p []byte) (int, error) {
	n := len(p)
	if d.format != FormatDStream {
		d.write(p)
		return n, nil
	}
	for len(p) > 0 {
		k := min(blockSize-blockFooter-d.inBlock, len(p))
		if k > 0 {
			d.write(p[:k])
		} else {
			k = min(blockSize-d.inBlock, len(p)) // footer
		}
		d.inBlock = (d.inBlock + k) % blockSize
		p = p[k:]
	}
	return n, nil
}

// place is the offset in the source buffer of what stands at off without
// footers.
func (f Format) place(off int64) int64 {
	if f == FormatDStream {
		off += off / (blockSize - blockFooter) * blockFooter
	}
	return off
}

func (d *Deframer) write(p []byte) {
	for len(d.tail) > 0 && len(p) > 0 {
		// A few bytes join the tail, until it has been taken.
		had, k := len(d.tail), min(len(p), 8)
		d.tail = append(d.tail, p[:k]...)
		took := d.take(d.tail, false)
		if took < had {
			d.tail = append(d.tail[:0], d.tail[took:]...)
			p = p[k:]
			continue
		}
		d.tail, p = d.tail[:0], p[took-had:]
	}
	if len(p) > 0 {
		took := d.take(p, false)
		d.tail = append(d.tail[:0], p[took:]...)
	}
}

// Close says that the buffer ends here. It never fails.
func (d *Deframer) Close() error {
	d.take(d.tail, true)
	d.tail = d.tail[:0]
	d.endSyncs()
	switch {
	case d.hunting:
		d.trouble(d.huntOff, d.src, d.huntFor)
		d.hunting = false
	case d.pos > 0:
		d.trouble(d.at[0], d.src, FaultShort)
	}
	d.pos = 0
	return nil
}

// trouble notes that [off, end) cannot be read. Neighbours of one kind become
// one.
func (d *Deframer) trouble(off, end int64, what Fault) {
	if off >= end {
		return
	}
	near := off <= d.troubleEnd+frameSize
	d.troubleEnd = end
	off, end = d.format.place(off), d.format.place(end-1)+1
	if n := len(d.troubles); n > 0 && d.troubles[n-1].What == what && near {
		d.troubles[n-1].End = end
		return
	}
	if len(d.troubles) >= maxTroubles {
		d.dropped++
		return
	}
	d.troubles = append(d.troubles, Trouble{off, end, what})
}

// lose notes that bytes of any source are missing before src. Who speaks next
// is not known until an ID says so.
func (d *Deframer) lose(src int64, f Fault) {
	for _, s := range d.streams {
		if s != nil {
			s.breakAt(d.format.place(src), f)
		}
	}
	d.cur, d.nobody, d.brk = nil, noID, true
}

// IDs beyond the sources' that are in order: what they carry is no trace. 0x7B
// answers a flush request, 0x7D is a trigger (IHI0029, "Special trace source
// IDs").
const (
	idPadding = 0x00
	idFlush   = 0x7B
	idTrigger = 0x7D
)

// unusual returns the stream of an ID that has none yet: a new one, or nil where
// the ID is no source's.
func (d *Deframer) unusual(id uint8) *Stream {
	switch {
	case id >= MinID && id <= MaxID:
		d.streams[id] = d.newStream(id)
	case id == idPadding, id == idFlush, id == idTrigger:
		d.nobody = noSource
	default:
		d.nobody = reservedID
	}
	return d.streams[id]
}

// newStream returns an empty stream, in memory that was given back if there is any.
func (d *Deframer) newStream(id uint8) *Stream {
	s := d.spare[id]
	if s == nil {
		return &Stream{ID: id, format: d.format}
	}
	d.spare[id] = nil
	*s = Stream{ID: id, format: d.format, Data: s.Data[:0], spare: s.block.runs}
	return s
}

// disown drops n bytes at src that are no source's.
func (d *Deframer) disown(src int64, n int) {
	d.brk = true
	switch d.nobody {
	case noID:
		d.unowned += int64(n)
	case reservedID:
		d.trouble(src, src+int64(n), FaultID)
	}
}
