package coresight

import "sort"

// Stream is one source's bytes, as they came before a formatter put them into
// frames. It knows for each byte where in the source buffer it stood.
type Stream struct {
	ID     uint8  // trace ID; 0 for bytes that were not in frames and have none
	Data   []byte //
	Breaks []Break

	format Format
	blocks []runBlock
}

// Break is a place in a stream before which bytes are missing: what follows
// has to be entered at a sync point of its protocol.
type Break struct {
	Off   int64 // in the stream, bytes; 0 < Off
	Src   int64 // in the source buffer, bytes: where the reason for it ends
	Fault Fault // Reset, or what was wrong with the frames
}

// RawStream returns a stream over bytes that are in no frames: those of a
// single source whose formatter is off, or of a TRBE. It does not copy buf.
func RawStream(id uint8, buf []byte) *Stream { return &Stream{ID: id, Data: buf} }

// A run is a stretch of a stream whose bytes stood in a row in the source, but
// for the auxiliary byte at the end of each frame. Where a frame names a
// source or holds a sync, a new run starts.
type run struct {
	off uint32 // of its first byte in the stream, from that of its block, bytes
	src uint32 // of its first byte in the source, from that of its block, bytes << 4, and its place in the frame
}

// runBlock holds the runs of up to 256 MB of the source, so that a run takes 8
// bytes.
type runBlock struct {
	off, src int64 // src: footers not counted
	runs     []run
}

const runBlockBytes = 1 << 28

// addRun notes that the next byte of the stream stands at src, as byte pos of
// its frame.
func (s *Stream) addRun(src int64, pos int) {
	off := int64(len(s.Data))
	n := len(s.blocks)
	if n == 0 || src-s.blocks[n-1].src >= runBlockBytes {
		s.blocks = append(s.blocks, runBlock{off: off, src: src})
		n++
	}
	b := &s.blocks[n-1]
	b.runs = append(b.runs, run{uint32(off - b.off), uint32(src-b.src)<<4 | uint32(pos)})
}

// SourceOff returns the offset in the source buffer of the byte at off in the
// stream; of an offset at or beyond the end, the one after the last byte's.
func (s *Stream) SourceOff(off int64) int64 {
	if n := int64(len(s.Data)); off >= n && s.blocks != nil {
		if n == 0 {
			return 0
		}
		return s.SourceOff(n-1) + 1
	}
	i := sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].off > off })
	if i == 0 || off < 0 {
		return max(off, 0) // not in frames
	}
	b := &s.blocks[i-1]
	rel := uint32(off - b.off)
	j := sort.Search(len(b.runs), func(j int) bool { return b.runs[j].off > rel }) - 1
	r := b.runs[j]
	pos := int64(r.src & 15)
	at := pos + off - b.off - int64(r.off) // counted from the start of the run's frame, without auxiliary bytes
	return s.format.place(b.src + int64(r.src>>4) - pos + at + at/(frameSize-1))
}

// grow makes room for n more bytes.
func (s *Stream) grow(n int) {
	if cap(s.Data)-len(s.Data) >= n {
		return
	}
	data := make([]byte, len(s.Data), max(2*cap(s.Data), 1024, len(s.Data)+n))
	copy(data, s.Data)
	s.Data = data
}

// breakAt notes that bytes before the next one are missing.
func (s *Stream) breakAt(src int64, f Fault) {
	off := int64(len(s.Data))
	if off == 0 {
		return
	}
	if n := len(s.Breaks); n > 0 && s.Breaks[n-1].Off == off {
		s.Breaks[n-1].Src = src
		return
	}
	s.Breaks = append(s.Breaks, Break{off, src, f})
}
