package perfdata

import (
	"cmp"
	"io"
	"slices"
	"strings"
)

// Stream is the hardware trace of one CPU or thread: the pieces of its AUX
// area joined, without the padding between them and without what overlapping
// snapshots hold twice.
type Stream struct {
	Index    int    // of the AUX area in the recording
	CPU      int32  // -1: a thread's stream
	TID      int32  // -1: a CPU's stream
	Snapshot bool   // made of snapshots: what lies between them was not kept
	Sampled  bool   // made of PERF_SAMPLE_AUX samples
	Format   uint64 // AuxFormatMask bits of its AUX records
	Size     int64  // bytes
	Missing  int64  // bytes that were to follow: the file is cut short
	Pieces   []Piece
	Losses   []Loss // by Off
	held     *resident
}

// Piece is a stretch of a stream that is contiguous in a file.
type Piece struct {
	Off     int64  // in the stream, bytes
	AuxOff  uint64 // in the AUX area, bytes; 0 for a sample's
	Time    uint64 // ns, of the sample; 0 for others
	File    string
	FileOff int64 // bytes
	data    []byte
}

// Len is the piece's length, bytes.
func (p *Piece) Len() int64 { return int64(len(p.data)) }

// Bytes are the piece's bytes; they alias the file.
func (p *Piece) Bytes() []byte { return p.data }

// LossKind says why bytes are missing from a stream.
type LossKind uint8

// The kinds of losses.
const (
	LossTruncated LossKind = 1 + iota // the buffer was full: data was dropped at Off
	LossPartial                       // the data in [Off, End) has holes
	LossCollision                     // a sample's data collided with another sample
	LossGap                           // the AUX area's offsets jump at Off
	LossSnapshot                      // two snapshots meet at Off and do not overlap
	LossCutShort                      // the file ends before the data does
)

var lossNames = [...]string{"none", "truncated", "partial", "collision", "gap", "snapshot", "cut short"}

// String returns the kind's name.
func (k LossKind) String() string {
	if int(k) < len(lossNames) {
		return lossNames[k]
	}
	return "?"
}

// Loss is a place of a stream where bytes are missing or doubtful.
type Loss struct {
	Off, End int64 // in the stream, bytes; Off == End: between two bytes
	Why      LossKind
	Time     uint64 // ns, of the AUX record that says so; 0 if none does
}

// Bytes returns n bytes of the stream from off on, fewer at its end. They
// alias the file where they lie in one piece, else they are copied.
func (s *Stream) Bytes(off, n int64) []byte {
	var b []byte
	return s.Into(&b, off, n)
}

// Into is Bytes; what has to be copied goes to buf's memory, which grows as
// needed.
func (s *Stream) Into(buf *[]byte, off, n int64) []byte {
	if off < 0 || n <= 0 || off >= s.Size {
		return nil
	}
	n = min(n, s.Size-off)
	s.held.looks(n)
	i := s.pieceAt(off)
	p := &s.Pieces[i]
	if at := off - p.Off; at+n <= p.Len() {
		return p.data[at : at+n : at+n]
	}
	if int64(cap(*buf)) < n {
		*buf = make([]byte, n)
	}
	b := (*buf)[:n]
	s.ReadAt(b, off)
	return b
}

// ReadAt reads the stream's bytes at off, as io.ReaderAt says.
func (s *Stream) ReadAt(b []byte, off int64) (n int, err error) {
	if off < 0 || off >= s.Size {
		return 0, io.EOF
	}
	for i := s.pieceAt(off); n < len(b) && i < len(s.Pieces); i++ {
		p := &s.Pieces[i]
		n += copy(b[n:], p.data[off+int64(n)-p.Off:])
	}
	if n < len(b) {
		err = io.EOF
	}
	return n, err
}

// FileOff returns where the stream's byte at off stands: the name of a file and
// an offset in it, bytes. For an offset at or beyond the end, it returns the
// place behind the last byte. ok is false where no file has the byte as it is:
// of samples that were compressed, or of a stream without bytes.
func (s *Stream) FileOff(off int64) (file string, at int64, ok bool) {
	if len(s.Pieces) == 0 || off < 0 {
		return "", 0, false
	}
	p := &s.Pieces[s.pieceAt(off)]
	if strings.HasSuffix(p.File, inflatedSuffix) {
		return "", 0, false
	}
	return p.File, p.FileOff + min(off-p.Off, p.Len()), true
}

// pieceAt returns the index of the piece that holds the byte at off.
func (s *Stream) pieceAt(off int64) int {
	i, found := slices.BinarySearchFunc(s.Pieces, off, func(p Piece, o int64) int { return cmp.Compare(p.Off, o) })
	if found {
		return i
	}
	return i - 1
}

// AuxOff returns where in the AUX area the byte at off lies, or would.
func (s *Stream) AuxOff(off int64) uint64 {
	var at uint64
	for i := range s.Pieces {
		p := &s.Pieces[i]
		if i > 0 && p.Off >= off {
			break
		}
		at = p.AuxOff + uint64(off-p.Off)
	}
	return at
}
