package coresight

import (
	"bytes"
	"fmt"
)

// The slow twin: reads a whole buffer byte by byte, by the rules alone. Where a
// byte came from is kept beside each byte.

type slowByte struct {
	c   byte
	src int64
}

type slowStream struct {
	data   []slowByte
	breaks []Break
}

type slowDeframer struct {
	format   Format
	buf      []byte
	i        int
	id       int // -1: none known
	streams  map[int]*slowStream
	troubles []Trouble
	unowned  int64
}

var slowFSync = []byte{0xFF, 0xFF, 0xFF, 0x7F}

func slowDeframe(f Format, buf []byte) *slowDeframer {
	d := &slowDeframer{format: f, buf: buf, id: -1, streams: map[int]*slowStream{}}
	if f == FormatPort {
		d.hunt(0, 0, FaultUnsynced)
	}
	for d.i < len(buf) {
		if n := d.fsyncs(); n > 0 {
			continue
		}
		if frame, ok := d.gather(); ok {
			d.frame(frame)
		}
	}
	return d
}

func (d *slowDeframer) at(i int, want []byte) bool {
	return i >= 0 && i+len(want) <= len(d.buf) && bytes.Equal(d.buf[i:i+len(want)], want)
}

func (d *slowDeframer) trouble(off, end int, f Fault) {
	if n := len(d.troubles); n > 0 && d.troubles[n-1].What == f && int64(off) <= d.troubles[n-1].End+frameSize {
		d.troubles[n-1].End = int64(end)
		return
	}
	d.troubles = append(d.troubles, Trouble{int64(off), int64(end), f})
}

func (d *slowDeframer) lose(src int, f Fault) {
	d.id = -1
	for _, s := range d.streams {
		off := int64(len(s.data))
		if n := len(s.breaks); off == 0 {
			continue
		} else if n > 0 && s.breaks[n-1].Off == off {
			s.breaks[n-1].Src = int64(src)
			continue
		}
		s.breaks = append(s.breaks, Break{off, int64(src), f})
	}
}

// hunt moves to the next FSYNC that starts at or behind from.
func (d *slowDeframer) hunt(off, from int, f Fault) {
	j := bytes.Index(d.buf[from:], slowFSync)
	if j < 0 {
		if len(d.buf) > off {
			d.trouble(off, len(d.buf), f)
		}
		d.i = len(d.buf)
		return
	}
	d.i = from + j
	if d.i > off {
		d.trouble(off, d.i, f)
		d.lose(d.i, f)
	}
}

// fsyncs takes a row of FSYNCs between frames.
func (d *slowDeframer) fsyncs() int {
	n, off := 0, d.i
	for d.at(d.i, slowFSync) {
		d.i += 4
		if n++; n == 4 && d.format == FormatMemory {
			d.lose(d.i, Reset)
		}
		for d.format == FormatPort && d.at(d.i, slowFSync[2:]) {
			d.i += 2
		}
	}
	if n%4 != 0 && d.format == FormatMemory {
		d.trouble(off, d.i, FaultFSync)
	}
	return n
}

// gather reads a frame; false: there is none whole, and why has been noted.
func (d *slowDeframer) gather() (frame []slowByte, ok bool) {
	start := -1
	for len(frame) < frameSize {
		if d.i >= len(d.buf) {
			if start >= 0 {
				d.trouble(start, d.i, FaultShort)
			}
			return nil, false
		}
		if even := len(frame)%2 == 0; even && d.buf[d.i] == 0xFF {
			off := -1
			if d.at(d.i, slowFSync) {
				off = d.i
			} else if start >= 0 && d.at(d.i-1, slowFSync) && frame[len(frame)-1].src == int64(d.i-1) {
				off = d.i - 1
			}
			switch {
			case off >= 0 && start < 0:
				return nil, false // it stands between frames
			case off >= 0:
				d.trouble(start, off, FaultShort)
				d.lose(off, FaultShort)
				d.i = off
				return nil, false
			case d.format == FormatPort && d.at(d.i, slowFSync[2:]):
				d.i += 2
				continue
			case d.format == FormatPort && d.at(d.i, slowFSync[:2]):
				if start < 0 {
					start = d.i
				}
				d.hunt(start, d.i, FaultSync)
				return nil, false
			}
		}
		if start < 0 {
			start = d.i
		}
		frame = append(frame, slowByte{d.buf[d.i], int64(d.i)})
		d.i++
	}
	return frame, true
}

func (d *slowDeframer) frame(f []slowByte) {
	aux := f[15].c
	later := -1 // an ID that holds from the byte after next on
	for i := 0; i < 15; i++ {
		b := f[i]
		bit := aux >> (i / 2) & 1
		switch {
		case i%2 == 0 && b.c&1 == 1 && bit == 1 && i < 14:
			later = int(b.c >> 1)
		case i%2 == 0 && b.c&1 == 1:
			d.id = int(b.c >> 1)
		case i%2 == 0:
			b.c |= bit
			d.put(b)
		default:
			d.put(b)
			if later >= 0 {
				d.id, later = later, -1
			}
		}
	}
}

func (d *slowDeframer) put(b slowByte) {
	switch {
	case d.id < 0:
		d.unowned++
	case d.id >= int(MinID) && d.id <= int(MaxID):
		s := d.streams[d.id]
		if s == nil {
			s = &slowStream{}
			d.streams[d.id] = s
		}
		s.data = append(s.data, b)
	case d.id != idPadding && d.id != idFlush && d.id != idTrigger:
		d.trouble(int(b.src), int(b.src)+1, FaultID)
	}
}

// moved counts a DSTREAM's footers in all offsets of a result without them.
func (d *slowDeframer) moved() *slowDeframer {
	place := func(off int64) int64 { return off + off/504*8 }
	for i := range d.troubles {
		d.troubles[i].Off, d.troubles[i].End = place(d.troubles[i].Off), place(d.troubles[i].End-1)+1
	}
	for _, s := range d.streams {
		for i := range s.data {
			s.data[i].src = place(s.data[i].src)
		}
		for i := range s.breaks {
			s.breaks[i].Src = place(s.breaks[i].Src)
		}
	}
	return d
}

// differ says how a Deframer's result differs from the twin's; "" if not.
func (d *slowDeframer) differ(got *Deframer) string {
	troubles, _ := got.Troubles()
	if fmt.Sprint(troubles) != fmt.Sprint(d.troubles) {
		return fmt.Sprintf("troubles %v, want %v", troubles, d.troubles)
	}
	if got.Unowned() != d.unowned {
		return fmt.Sprintf("%d bytes without a source, want %d", got.Unowned(), d.unowned)
	}
	if len(got.Streams()) != len(d.streams) {
		return fmt.Sprintf("%d streams, want %d", len(got.Streams()), len(d.streams))
	}
	for id, want := range d.streams {
		s := got.Stream(uint8(id))
		if s == nil || len(s.Data) != len(want.data) {
			return fmt.Sprintf("id %02x: %v, want %d bytes", id, s, len(want.data))
		}
		if fmt.Sprint(s.Breaks) != fmt.Sprint(want.breaks) {
			return fmt.Sprintf("id %02x: breaks %v, want %v", id, s.Breaks, want.breaks)
		}
		for i, b := range want.data {
			if s.Data[i] != b.c || s.SourceOff(int64(i)) != b.src {
				return fmt.Sprintf("id %02x: byte %d: %02x from %d, want %02x from %d", id, i, s.Data[i], s.SourceOff(int64(i)), b.c, b.src)
			}
		}
		if n := int64(len(s.Data)); s.SourceOff(n) != want.data[n-1].src+1 || s.SourceOff(n+9) != s.SourceOff(n) {
			return fmt.Sprintf("id %02x: the end is at %d", id, s.SourceOff(n))
		}
	}
	return ""
}
