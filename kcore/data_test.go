package kcore

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// dataDir returns the folder of the real recordings of kernels, or skips.
func dataDir(t testing.TB) string {
	t.Helper()
	dir := testsize.Recordings(t)
	return filepath.Join(dir, "kernel-pokes-x86")
}

// recording is one real recording, read with no help of other packages.
type recording struct {
	dir    string
	pokes  []Poke
	ksyms  []symbols.KsymbolRecord
	before string // path of the kcore taken at the start
	after  string
}

var recordings = []string{"kprobes", "ftrace", "tracepoints", "tracepoints-coarse", "journal"}

// readRecording picks the TEXT_POKE (20) and KSYMBOL (17) records out of a
// perf.data file. All of these recordings have the same sample id, of 32
// bytes: pid and tid, time, cpu, identifier last.
func readRecording(t testing.TB, name string) *recording {
	t.Helper()
	dir := filepath.Join(dataDir(t), name)
	data, err := os.ReadFile(filepath.Join(dir, "perf.data", "data"))
	if err != nil {
		t.Fatal(err)
	}
	le := binary.LittleEndian
	off, size := le.Uint64(data[40:]), le.Uint64(data[48:])
	r := &recording{dir: dir, before: filepath.Join(dir, "perf.data", "kcore_dir", "kcore"), after: filepath.Join(dir, "kcore.after")}
	for end := off + size; off < end; {
		typ, n := le.Uint32(data[off:]), uint64(le.Uint16(data[off+6:]))
		rec := data[off : off+n]
		off += n
		switch typ {
		case 71: // AUXTRACE: its bytes follow the record
			off += le.Uint64(rec[8:])
		case 20:
			id := rec[n-32:]
			o, w := uint64(le.Uint16(rec[16:])), uint64(le.Uint16(rec[18:]))
			if o+w == 0 || 20+o+w > n-32 {
				t.Fatalf("%s: odd TEXT_POKE at %#x", name, off-n)
			}
			b := rec[20 : 20+o+w]
			r.pokes = append(r.pokes, RecordedPoke(le.Uint64(id[8:]), int(le.Uint32(id[16:])), le.Uint64(rec[8:]), b[:o:o], b[o:]))
		case 17:
			id := rec[n-32:]
			k := symbols.KsymbolRecord{Time: le.Uint64(id[8:]), Addr: le.Uint64(rec[8:]), Len: uint64(le.Uint32(rec[16:])), Gone: le.Uint16(rec[22:])&1 != 0}
			for _, c := range rec[24:] {
				if c == 0 {
					break
				}
				k.Name += string(rune(c))
			}
			r.ksyms = append(r.ksyms, k)
		}
	}
	return r
}

// journal returns the journal of r's pokes.
func (r *recording) journal(t testing.TB) *Journal {
	t.Helper()
	j, err := NewJournal(slices.Clone(r.pokes))
	if err != nil {
		t.Fatal(err)
	}
	return j
}
