package coresight

import "sort"

// Stream is one source's bytes, as they came before a formatter put them into
// frames. It knows for each byte where in the source buffer it stood.
type Stream struct {
	ID     uint8   // trace ID; 0 for bytes that were not in frames and have none
	Data   []byte  // all bytes of the source
	Breaks []Break // in order: places in Data before which bytes are missing

	format Format
	blocks []runBlock // those that are full
	block  runBlock   // the one that grows
	spare  []run      // memory for its first runs
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

// addRun notes that byte off of the stream, the next one that has no run yet,
// stands at src, as byte pos of its frame. pos may be that of the auxiliary
// byte: then it is the first of the next frame.
func (s *Stream) addRun(off int, src int64, pos int) {
	if src-s.block.src >= runBlockBytes || s.block.runs == nil {
		s.newBlock(int64(off), src)
	}
	b := &s.block
	b.runs = append(b.runs, run{uint32(int64(off) - b.off), uint32(src-b.src)<<4 | uint32(pos)})
}

func (s *Stream) newBlock(off, src int64) {
	if s.block.runs != nil {
		s.blocks = append(s.blocks, s.block)
	}
	s.block, s.spare = runBlock{off: off, src: src, runs: s.spare[:0]}, nil
}

// SourceOff returns the offset in the source buffer of the byte at off in the
// stream; of an offset at or beyond the end, the one after the last byte's.
func (s *Stream) SourceOff(off int64) int64 {
	if s.block.runs == nil || off < 0 {
		return max(off, 0) // not in frames
	}
	if n := int64(len(s.Data)); off >= n {
		return s.SourceOff(n-1) + 1
	}
	b := &s.block
	if off < b.off {
		b = &s.blocks[sort.Search(len(s.blocks), func(i int) bool { return s.blocks[i].off > off })-1]
	}
	rel := uint32(off - b.off)
	j := sort.Search(len(b.runs), func(j int) bool { return b.runs[j].off > rel }) - 1
	r := b.runs[j]
	pos := int64(r.src & 15)
	at := pos + off - b.off - int64(r.off) // counted from the start of the run's frame, without auxiliary bytes
	return s.format.place(b.src + int64(r.src>>4) - pos + at + at/(frameSize-1))
}

// room makes room for n more bytes. The stream has its part of the first done bytes
// of the source. It is taken to have the same part of the rest, so that it need not
// grow often.
func (s *Stream) room(n int, done int64, rest int) {
	if cap(s.Data)-len(s.Data) < n {
		s.grow(n, done, rest)
	}
}

func (s *Stream) grow(n int, done int64, rest int) {
	have := len(s.Data)
	want := max(2*have, 1024)
	if done >= 1<<14 && have > 0 {
		part := int64(have) * int64(rest) / done
		want = have + min(int(part+part/8), rest) + 4*frameSize
	}
	data := make([]byte, have, max(want, have+have/4+n, have+n))
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
