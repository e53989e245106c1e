package ptm

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/snapshot"
)

// realStream is one trace source's bytes in a recorded snapshot.
type realStream struct {
	config Config
	buf    []byte
}

// recordedStreams returns the PTM streams of the recorded snapshots by
// snapshot and source, or skips the test.
func recordedStreams(t testing.TB) map[string]realStream {
	t.Helper()
	dir := os.Getenv("PTDECODE_DATA")
	if dir == "" {
		t.Skip("PTDECODE_DATA is not set: no recordings")
	}
	inis, err := filepath.Glob(filepath.Join(dir, "coresight/snapshots/*/snapshot.ini"))
	if err != nil || len(inis) == 0 {
		t.Fatalf("no snapshot in %s (%v)", dir, err)
	}
	streams := map[string]realStream{}
	for _, ini := range inis {
		snap, err := snapshot.Open(filepath.Dir(ini))
		if err != nil {
			t.Fatal(err)
		}
		for i := range snap.Buffers {
			b := &snap.Buffers[i]
			data, err := snap.ReadBuffer(b)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range b.Sources {
				x := &snap.Sources[k]
				if x.Config.Protocol != coresight.PTM {
					continue
				}
				s := realStream{Config{Trace: x.Config}, data}
				if b.Framed {
					st := coresight.Deframe(b.Frames, data).Stream(x.Config.ID)
					if st == nil {
						continue // it sent nothing
					}
					s.buf = st.Data
				}
				streams[filepath.Base(filepath.Dir(ini))+"/"+x.Name] = s
			}
		}
	}
	return streams
}

// Catches a bit that the lexer drops or the encoder misplaces in streams as
// processors make them, also in what comes before the first A-sync, and text that
// says less than a packet holds. Behind it no packet is bad, and there are as many
// of each kind as OpenCSD 1.8.0 lists.
func TestRecordingsComeBack(t *testing.T) {
	want := map[string][NumKinds]int{
		"Snowball/PTM_0":           {ASync: 4, ISync: 195, Atom: 513, Branch: 230, Waypoint: 4, Timestamp: 14},
		"Snowball/PTM_1":           {ASync: 3, ISync: 134, Atom: 428, Branch: 177, Timestamp: 7},
		"TC2/PTM_0":                {ASync: 5, ISync: 140, Atom: 1283, Branch: 315, Timestamp: 42, ExceptionRet: 4},
		"tc2-ptm-rstk-t32/PTM_0_2": {ASync: 27, ISync: 28, Atom: 12001, Branch: 8016},
		"trace_cov_a15/PTM_0_2":    {ASync: 1, ISync: 2, Atom: 5, Branch: 3},
	}
	streams := recordedStreams(t)
	for name := range streams {
		if _, ok := want[name]; !ok {
			t.Errorf("%s: a stream that nothing is known of", name)
		}
	}
	for name, want := range want {
		s := streams[name]
		f := s.config.Format()
		if out := reencode(t, f, s.buf); !bytes.Equal(out, s.buf) {
			t.Errorf("%s: %d bytes come back as %d others", name, len(s.buf), len(out))
		}
		first, _ := FindSync(s.buf, 0)
		var n [NumKinds]int
		var text []byte
		for p := range NewLexer(f, s.buf[first:], int64(first)).All() {
			n[p.Kind]++
			text = append(AppendText(text, p, s.buf[p.Off:p.End()]), '\n')
		}
		if n != want {
			t.Errorf("%s: packets by kind: %v, want %v", name, n, want)
		}
		if out, err := Assemble(nil, string(text)); err != nil || !bytes.Equal(out, s.buf[first:]) {
			t.Errorf("%s: the text gives other bytes: %v", name, err)
		}
	}
}
