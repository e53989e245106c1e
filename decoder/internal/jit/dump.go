package jit

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/ptdecode/ptdecode/decoder/badfile"
)

// Dump is what a jitdump file says.
type Dump struct {
	PID int32
	// TSC is set if times are ticks of the time stamp counter; else they are ns of
	// CLOCK_MONOTONIC.
	TSC   bool
	Codes []Code // in the order of the file
	// Cut says where the file ends within a record, or holds none; nil: it is whole.
	Cut *badfile.Error
	// Known is the time up to which all records are there, if the file is cut.
	Known uint64
}

// Code is code that was made, or moved, at a Time, from which on it lies at Addr.
type Code struct {
	Time  uint64 // ns, or ticks
	Addr  uint64
	Len   uint64 // bytes
	Off   uint64 // of the code in the file, bytes
	Name  string
	PID   int32
	TID   int32
	Moved bool   // it lay elsewhere before
	Lines []Line // by offset
}

// Line is a line of source, of the code from an offset on.
type Line struct {
	Off  uint64 // from the first byte of the code, bytes
	File string
	Line int
}

// The layout (jitdump-specification.txt, sections "Jitdump file header", "The record
// header" and those of the records), bytes.
const (
	magic      = 0x4A695444
	headerSize = 40
	prefixSize = 16 // of a record: id, total size, timestamp
	loadSize   = 40 // pid, tid, vma, address, size, index
	moveSize   = 48 // pid, tid, vma, old address, new address, size, index
	debugSize  = 16 // address, number of entries
	entrySize  = 16 // address, line, discriminator

	flagArchTimestamp = 1 // JITDUMP_FLAGS_ARCH_TIMESTAMP
)

// The types of records.
const (
	recordLoad  = 0
	recordMove  = 1
	recordDebug = 2
	recordClose = 3

	lastRecord = 4 // JIT_CODE_UNWINDING_INFO
)

// ParseDump reads a jitdump file; name is for errors. A *badfile.Error says why data is
// none.
func ParseDump(data []byte, name string) (*Dump, error) {
	if len(data) < headerSize {
		return nil, &badfile.Error{File: name, What: "jitdump: header: cut short"}
	}
	var o binary.ByteOrder = binary.LittleEndian
	if o.Uint32(data) != magic {
		if o = binary.BigEndian; o.Uint32(data) != magic {
			return nil, &badfile.Error{File: name, What: "jitdump: magic: not that of a jitdump"}
		}
	}
	size := o.Uint32(data[8:])
	if size < headerSize || uint64(size) > uint64(len(data)) {
		return nil, &badfile.Error{File: name, Off: 8, What: "jitdump: header: size: less than 40 bytes, or more than the file has"}
	}
	r := reader{
		Dump: Dump{PID: int32(o.Uint32(data[20:])), TSC: o.Uint64(data[32:])&flagArchTimestamp != 0},
		name: name, o: o, data: data, codes: map[uint64]int{}, lines: map[uint64][]Line{},
	}
	r.records(uint64(size))
	return &r.Dump, nil
}

// reader is a Dump that is being read.
type reader struct {
	Dump
	name  string
	o     binary.ByteOrder
	data  []byte
	codes map[uint64]int    // by the program's index: the newest in Codes
	lines map[uint64][]Line // by address: told before the code
}

// records reads the records from at on.
func (r *reader) records(at uint64) {
	for at < uint64(len(r.data)) {
		b := r.data[at:]
		if len(b) < prefixSize {
			r.cut(at, r.Known, "%d bytes, which is less than its header has", len(b))
			return
		}
		id, size, time := r.o.Uint32(b), uint64(r.o.Uint32(b[4:])), r.o.Uint64(b[8:])
		switch {
		case size < prefixSize:
			r.cut(at, r.Known, "size %d, need %d or more", size, prefixSize)
			return
		case size > uint64(len(b)) && (id > lastRecord || time == 0):
			r.cut(at, r.Known, "size %d, the file has %d bytes", size, len(b))
			return
		case size > uint64(len(b)):
			r.cut(at, time, "size %d, the file has %d bytes", size, len(b))
			return
		}
		r.Known = max(r.Known, time)
		body := b[prefixSize:size]
		switch id {
		case recordLoad:
			r.load(body, at+prefixSize, time)
		case recordMove:
			r.move(body, time)
		case recordDebug:
			r.debug(body)
		case recordClose:
			return
		}
		at += size
	}
}

// cut says what is wrong with the record at an offset, from which on nothing is read. Up to
// known all records are there: the program writes them in the order of their times.
func (r *reader) cut(at, known uint64, format string, args ...any) {
	r.Cut = &badfile.Error{File: r.name, Off: int64(at), What: "jitdump: record: " + fmt.Sprintf(format, args...)}
	r.Known = known
}

// load takes code that was made; off is where b lies in the file.
func (r *reader) load(b []byte, off, time uint64) {
	if len(b) < loadSize {
		return
	}
	o := r.o
	c := Code{Time: time, PID: int32(o.Uint32(b)), TID: int32(o.Uint32(b[4:])), Addr: o.Uint64(b[16:]), Len: o.Uint64(b[24:])}
	index := o.Uint64(b[32:])
	name, _, found := bytes.Cut(b[loadSize:], []byte{0})
	at := uint64(loadSize + len(name) + 1)
	if !found || at > uint64(len(b)) || c.Len > uint64(len(b))-at || c.Len == 0 {
		return
	}
	c.Name, c.Off, c.Lines = string(name), off+at, r.linesOf(c.Addr, c.Len)
	r.codes[index] = len(r.Codes)
	r.Codes = append(r.Codes, c)
}

// move takes code that was moved as it is.
func (r *reader) move(b []byte, time uint64) {
	if len(b) < moveSize {
		return
	}
	i, known := r.codes[r.o.Uint64(b[40:])]
	if !known {
		return
	}
	c := r.Codes[i]
	if c.Addr != r.o.Uint64(b[16:]) {
		return // other code than that which has the index
	}
	c.Time, c.Addr, c.Moved = time, r.o.Uint64(b[24:]), true
	r.codes[r.o.Uint64(b[40:])] = len(r.Codes)
	r.Codes = append(r.Codes, c)
}

// sameFile is the name of an entry's file that is that of the entry before.
const sameFile = "\xff"

// debug takes lines of code that comes next.
func (r *reader) debug(b []byte) {
	if len(b) < debugSize {
		return
	}
	addr, n := r.o.Uint64(b), r.o.Uint64(b[8:])
	var list []Line
	file := ""
	for b = b[debugSize:]; n > 0 && len(b) >= entrySize; n-- {
		at, line := r.o.Uint64(b), r.o.Uint32(b[8:])
		name, rest, found := bytes.Cut(b[entrySize:], []byte{0})
		if !found {
			break
		}
		if string(name) != sameFile {
			file = string(name)
		}
		if at >= addr {
			list = append(list, Line{at - addr, file, int(int32(line))})
		}
		b = rest
	}
	r.lines[addr] = list
}

// linesOf returns the lines that were told of code at addr.
func (r *reader) linesOf(addr, n uint64) (list []Line) {
	for _, l := range r.lines[addr] {
		if l.Off < n && (len(list) == 0 || l.Off >= list[len(list)-1].Off) {
			list = append(list, l)
		}
	}
	delete(r.lines, addr)
	return list
}

// LineAt returns the line of the code at an offset, bytes; ok is false if none is known.
func (c *Code) LineAt(off uint64) (l Line, ok bool) {
	for _, x := range c.Lines {
		if x.Off > off {
			break
		}
		l, ok = x, true
	}
	return l, ok
}
