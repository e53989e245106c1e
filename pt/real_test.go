package pt

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/event"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// recordedTraces returns the raw traces of the recordings, or skips the test.
func recordedTraces(t testing.TB) []string {
	t.Helper()
	return append(testsize.Recorded(t, "pt-user/*/cpu*.pt"), testsize.Recorded(t, "kernel-pokes-x86/*/cpu*.pt")...)
}

// eachRecorded calls f with each recorded trace.
func eachRecorded(t testing.TB, f func(file string, buf []byte)) {
	t.Helper()
	for _, file := range recordedTraces(t) {
		buf, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		f(file, buf)
	}
}

// realConfig is how the recordings under kernel-pokes-x86 were made.
func realConfig() Config {
	return Config{Model: Model{6, 94, 3}, MTCFreq: 3, CTCNum: 80, CTCDen: 2, Ahead: true}
}

// TestRecordings decodes whole recordings. It would catch a packet order of real
// processors that the decoder takes for a fault (Trouble). It would catch an event
// that is told before or without its packets, and bounds that cross.
func TestRecordings(t *testing.T) {
	for _, file := range recordedTraces(t) {
		t.Run(filepath.Base(filepath.Dir(file))+"/"+filepath.Base(file), func(t *testing.T) {
			buf, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			segs, first := Segments(buf, 0, realConfig())
			var n [32]int
			var bits, bounded int
			d := NewDecoder(realConfig(), segs[0])
			var e event.Event
			for _, s := range segs {
				d.Reset(s)
				off := s.Off
				for d.Next(&e) {
					n[e.Kind]++
					bits += int(e.N)
					if e.Off < off || e.End < e.Off || e.Time.Lo > e.Time.Hi {
						t.Fatalf("out of order or of time at %#x: %+v", off, e)
					}
					off = e.Off
					if e.Kind == event.Trouble {
						t.Errorf("trouble: %+v", e)
					}
					if e.Time.Hi != unknown {
						bounded++
					}
				}
			}
			t.Logf("%d bytes, %d before the first PSB, %d segments, %d outcomes, %d bounded", len(buf), first, len(segs), bits, bounded)
			for k, c := range n {
				if c != 0 {
					t.Logf("%9d %v", c, event.Kind(k))
				}
			}
		})
	}
}
