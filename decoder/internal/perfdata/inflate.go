package perfdata

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/ptdecode/ptdecode/decoder/badfile"
)

// chunk is a COMPRESSED or COMPRESSED2 record: a stretch of the zstd stream
// that goes through all of them in a file. What they hold are records, which
// may straddle chunks.
type chunk struct {
	typ  Type
	off  int64 // of the record in its file, bytes
	span int64 // the record, bytes
	data []byte
	cut  int64 // where its contents end in the inflated source, bytes
}

// newChunk finds the data of a record. COMPRESSED2 (v6.16) states its length,
// as it is padded to 8 bytes.
func newChunk(f frame, off int64, body []byte) chunk {
	c := chunk{typ: f.typ, off: off, span: f.span, data: body}
	if f.typ == TypeCompressed2 && len(body) >= 8 {
		c.data = body[8:]
		// A size of 0 is left by perf v6.16 where one compression made
		// several records.
		if n := binary.LittleEndian.Uint64(body); n > 0 && n < uint64(len(c.data)) {
			c.data = c.data[:n]
		}
	}
	return c
}

// inflatedSuffix stands behind the name of a file in that of what its COMPRESSED
// records hold.
const inflatedSuffix = ":inflated"

// Bounds on inflating: beyond them the file is no recording but an attack.
const (
	maxWindow     = 128 << 20 // bytes: zstd level 22, the highest perf takes
	inflateFree   = 4 << 20   // bytes that any file may inflate to
	inflateFactor = 1024      // and that many for each compressed byte
)

var errInflate = errors.New("inflates too far")

// feeder hands the chunks to the decompressor one after the other, and notes
// how much had come out when each was used up.
type feeder struct {
	chunks []chunk
	next   int
	cur    []byte
	out    *spool
	limit  int64
}

func (f *feeder) Read(p []byte) (int, error) {
	for len(f.cur) == 0 {
		if f.next > 0 {
			f.chunks[f.next-1].cut = f.out.n
		}
		if f.next == len(f.chunks) {
			return 0, io.EOF
		}
		f.cur = f.chunks[f.next].data
		f.next++
	}
	n := copy(p, f.cur)
	f.cur = f.cur[n:]
	return n, nil
}

func (f *feeder) Write(p []byte) (int, error) {
	if f.out.n+int64(len(p)) > f.limit {
		return 0, errInflate
	}
	return f.out.Write(p)
}

// inflate makes a source of what the COMPRESSED records of a part hold. The
// decompressor works block by block, so that it asks for a chunk only when
// all that the chunks before it hold has come out.
func (r *Recording) inflate(p *part) error {
	if len(p.chunks) == 0 {
		return nil
	}
	src := r.srcs[p.src]
	var sp spool
	f := &feeder{chunks: p.chunks, out: &sp, limit: inflateFree}
	for i := range p.chunks {
		f.limit += int64(len(p.chunks[i].data)) * inflateFactor
	}
	dec, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecoderMaxWindow(maxWindow))
	if err == nil {
		_, err = dec.WriteTo(f)
		dec.Close()
	}
	at := max(f.next-1, 0)
	whole := f.next == len(f.chunks) && len(f.cur) == 0
	for i := at; i < len(f.chunks); i++ {
		f.chunks[i].cut = sp.n
	}
	// The stream of a recording has no end of its own: perf flushes it.
	if err != nil && !(whole && errors.Is(err, io.ErrUnexpectedEOF)) {
		c := &f.chunks[at]
		p.cut = true
		switch {
		case errors.Is(err, errInflate):
			return &badfile.Error{File: src.name, Off: c.off, What: fmt.Sprintf("record %s: inflates to more than %d bytes, %d times its size", c.typ, f.limit, inflateFactor), Err: err}
		case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
			r.hints.CutShort = true
			fallthrough
		default:
			r.trouble(src.name, c.off, "record %s: zstd: %v; %d of %d compressed records are read", c.typ, err, at, len(f.chunks))
		}
	}
	in, err := sp.source(src.name + inflatedSuffix)
	if err != nil {
		return err
	}
	p.inflated = len(r.srcs)
	r.srcs = append(r.srcs, in)
	return nil
}
