package coresight

import (
	"encoding/binary"
	"fmt"
)

// Formatter puts the bytes of several sources into frames, as a trace
// formatter does: the inverse of a Deframer, for tests and for made-up
// recordings. The zero value writes FormatMemory.
type Formatter struct {
	// Format is what to write: FormatMemory, or FormatPort, which starts with an
	// FSYNC.
	Format Format

	// IDEvery repeats the current source's ID every so many frames, so that a
	// reader can start anywhere; 0: only where it changes. A trace port repeats it
	// at least every eight frames.
	IDEvery int

	// FSyncEvery is after how many frames a trace port sends an FSYNC; 0: only at
	// the start.
	FSyncEvery int

	// HSyncEvery is after how many halfwords of frames a trace port sends an
	// HSYNC; 0: never.
	HSyncEvery int

	out    []byte
	frame  [frameSize]byte
	pos    int
	cur    uint8 // the current source
	named  bool  // an ID said so
	frames int   // written
	halves int   // halfwords written since the last HSYNC
	since  int   // frames since the current ID was named
}

// maxWriteID is the greatest ID that frames can carry, reserved ones included.
const maxWriteID = 0x7E

// Write appends bytes of a source. The last of them may wait for what comes
// next: see Flush.
func (f *Formatter) Write(id uint8, p []byte) error {
	if id > maxWriteID {
		return fmt.Errorf("trace ID 0x%02x: frames carry 0x00 to 0x%02x", id, maxWriteID)
	}
	for _, c := range p {
		f.writeByte(id, c)
	}
	return nil
}

func (f *Formatter) writeByte(id uint8, c byte) {
	again := f.pos == 0 && f.IDEvery > 0 && f.since >= f.IDEvery
	if f.named && id == f.cur && !again {
		f.data(c)
		return
	}
	if f.pos&1 == 1 {
		// Only an even byte can name a source. The old source's byte that stands
		// there moves up by one, and the ID says that the switch comes after it.
		k := f.pos / 2
		old := f.frame[f.pos-1] | f.frame[frameSize-1]>>k&1
		f.frame[f.pos-1] = id<<1 | 1
		f.frame[frameSize-1] |= 1 << k
		f.advance(old)
	} else {
		f.advance(id<<1 | 1)
	}
	f.cur, f.named, f.since = id, true, 0
	f.data(c)
}

// data stores a byte of the current source.
func (f *Formatter) data(c byte) {
	if f.pos&1 == 0 {
		f.frame[frameSize-1] |= c & 1 << (f.pos / 2)
		c &^= 1
	}
	f.advance(c)
}

// advance stores a byte and sends the frame when it is full.
func (f *Formatter) advance(c byte) {
	f.frame[f.pos] = c
	if f.pos++; f.pos < frameSize-1 {
		return
	}
	if f.Format == FormatPort && (f.frames == 0 || f.FSyncEvery > 0 && f.frames%f.FSyncEvery == 0) {
		f.writeFSYNC(1)
	}
	for i := 0; i < frameSize; i += 2 {
		if f.Format == FormatPort && f.HSyncEvery > 0 && f.halves >= f.HSyncEvery {
			f.out = append(f.out, 0xFF, 0x7F)
			f.halves = 0
		}
		f.out = append(f.out, f.frame[i], f.frame[i+1])
		f.halves++
	}
	f.frame, f.pos = [frameSize]byte{}, 0
	f.frames++
	f.since++
}

func (f *Formatter) writeFSYNC(n int) {
	for range n {
		f.out = binary.LittleEndian.AppendUint32(f.out, fsync)
	}
}

// Flush fills the last frame with padding (ID 0), so that nothing waits.
func (f *Formatter) Flush() {
	for f.pos != 0 {
		f.writeByte(idPadding, 0)
	}
}

// Barrier says that trace was lost here, as Linux does where a buffer wrapped:
// four FSYNC words between frames in memory. The next byte's source is named
// again.
func (f *Formatter) Barrier() {
	f.Flush()
	f.writeFSYNC(barrierWords)
	f.named = false
}

// Bytes returns what has been written: whole frames. A frame that is not full
// waits in the Formatter.
func (f *Formatter) Bytes() []byte { return f.out }
