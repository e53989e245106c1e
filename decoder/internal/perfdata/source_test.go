package perfdata

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestSpool catches bytes lost where a spool goes over to a file, and the
// file left behind, also by a process that is killed.
func TestSpool(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	for _, total := range []int{0, 9, 10, 11, 100} {
		sp := spool{max: 10}
		want := bytes.Repeat([]byte("abcdefg"), total/7+1)[:total]
		for b := want; len(b) > 0; {
			n := min(3, len(b))
			if _, err := sp.Write(b[:n]); err != nil {
				t.Fatal(err)
			}
			b = b[n:]
		}
		if left, _ := os.ReadDir(dir); len(left) != 0 && runtime.GOOS != "windows" {
			t.Errorf("%d bytes: a signal would leave %v", total, left)
		}
		src, err := sp.source("x")
		if err != nil || !bytes.Equal(src.data, want) {
			t.Errorf("%d bytes: %q, %v", total, src.data, err)
		}
		if err := src.close(); err != nil {
			t.Error(err)
		}
	}
	sp := spool{max: 1}
	sp.Write([]byte("ab"))
	sp.drop()
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("files left behind: %v", left)
	}
}

// failing is a reader that fails at once.
type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("no such luck") }

// TestPipeFails catches a pipe that gives nothing being taken for an empty
// recording.
func TestPipeFails(t *testing.T) {
	if _, err := OpenPipe(failing{}); err == nil || !strings.Contains(err.Error(), "no such luck") {
		t.Errorf("error %v", err)
	}
	if _, err := Open(nil, filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

// endless is a reader of the same bytes again and again. It counts what it gave.
type endless struct {
	line []byte
	gave int
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n+len(e.line) <= len(p) {
		n += copy(p[n:], e.line)
	}
	e.gave += n
	return n, nil
}

// TestPipeEndless would catch a pipe that is read to its end, or until the disk is full, though
// its first bytes say that it is no recording.
func TestPipeEndless(t *testing.T) {
	for line, want := range map[string]string{
		"y\n":              `header: magic "y\ny\ny\ny\n", need "PERFILE2"`,
		"\x00":             `need "PERFILE2"`,
		"\x1f\x8b\x08\x00": "packed by gzip",
		"2ELIFREP\x00\x00": "big-endian",
	} {
		in := &endless{line: []byte(line)}
		_, err := OpenPipe(io.LimitReader(in, 1<<24))
		if err == nil || !strings.Contains(err.Error(), want) || in.gave > 1<<16 {
			t.Errorf("%q: read %d bytes, error %v, want %s", line, in.gave, err, want)
		}
	}
}

// TestTroubleIsBounded catches findings kept without bound, and those over
// the bound forgotten.
func TestTroubleIsBounded(t *testing.T) {
	var data []byte
	for range maxTrouble + 50 {
		data = append(data, record(TypeLost, 0, uint32(1))...)
	}
	r := fromBytes(t, file{attrs: []tattr{usual}, data: data}.bytes())
	found, more := r.Trouble()
	if len(found) != maxTrouble || more != maxTrouble+100 {
		t.Errorf("%d findings and %d more", len(found), more)
	}
}

// BenchmarkRecords measures opening and reading in time order, a record.
func BenchmarkRecords(b *testing.B) {
	var data []byte
	const n = 200_000
	for i := range n {
		round, at := i/8000, i%8000
		data = append(data, comm("thread", uint64(round*8000+at%2000*4+at/2000+1))...)
	}
	raw := file{attrs: []tattr{usual, {sampleType: SampleIdentifier, ids: []uint64{1}}}, data: data}.bytes()
	b.Run("open", func(b *testing.B) {
		b.ReportAllocs()
		for range b.N {
			r, err := openBytes("b", raw)
			if err != nil {
				b.Fatal(err)
			}
			r.Close()
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
	})
	r := fromBytes(b, raw)
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		var rec Record
		for range b.N {
			k := 0
			for rd := r.Records(); rd.Next(&rec); {
				k++
			}
			if k != n {
				b.Fatal(k)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/record")
	})
}
