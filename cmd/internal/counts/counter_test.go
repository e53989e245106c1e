package counts

import (
	"testing"
	"testing/fstest"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/event"
)

// TestSince would catch a gap before a window that counts as the window's, and one of the window,
// or without a time, that does not.
func TestSince(t *testing.T) {
	s := openEmpty(t)
	c := New(s, &host.Filter{}, Options{Bare: true, Since: 100})
	b := &decoder.Batch{}
	for _, hi := range []uint64{0, 99, 100, 101} {
		b.Notes = append(b.Notes, decoder.Note{Kind: decoder.NoteGap, Gap: event.Gap{Time: event.Time{Hi: hi}}})
	}
	if err := c.Flow(b); err != nil {
		t.Fatal(err)
	}
	if c.Gaps != 3 {
		t.Errorf("%d gaps count, want 3", c.Gaps)
	}
}

// openEmpty opens a recording in which nothing ran.
func openEmpty(t *testing.T) *decoder.Session {
	t.Helper()
	s, err := decoder.Open(decoder.Config{
		FS:  fstest.MapFS{"pt": {Data: []byte{0}}},
		Raw: []decoder.RawTrace{{Path: "pt", Protocol: decoder.IntelPT}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// TestBare would catch instructions that are lost or doubled where ranges are counted four by
// four, and ambiguous ones that count as others. It counts them one by one as well.
func TestBare(t *testing.T) {
	s := openEmpty(t)
	for n := range 40 {
		b, want := &decoder.Batch{}, Count{}
		for i := range n {
			r := decoder.BatchRange{N: uint16(1 + i*i)}
			if i*n%7 == 3 {
				r.Verdict = decoder.Verdict(i % int(decoder.Ambiguous+1))
			}
			if b.Ranges = append(b.Ranges, r); r.Verdict == decoder.Ambiguous {
				want.Ambiguous += uint64(r.N)
			} else {
				want.N += uint64(r.N)
			}
		}
		c := New(s, &host.Filter{}, Options{Bare: true})
		if err := c.Flow(b); err != nil || c.Instructions != want {
			t.Errorf("%d ranges: %v, want %v; %v", n, c.Instructions, want, err)
		}
	}
}
