package output

import (
	"bytes"
	"context"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// written returns what a format writes of s.
func written(t *testing.T, s *decoder.Session, o Options) []byte {
	t.Helper()
	var streams []rows.Stream
	for _, st := range s.Streams() {
		streams = append(streams, rows.Stream{Index: st.Index, CPU: st.CPU, TID: st.TID, Name: st.Name})
	}
	o.Say = func(string) {}
	var out bytes.Buffer
	sink, _, order := New(s, streams, nil, &out, o)
	if err := s.Flow(context.Background(), decoder.Query{Merged: order.Merged, Reverse: order.Reverse, Jobs: o.Jobs}, sink); err != nil {
		t.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestPlainLines would catch a line that is kept of a call or a branch and printed for
// another. It would also catch a front, a depth or a verdict that is not its own. A filter that
// all rows pass has each line written by its row, which is the slow twin.
func TestPlainLines(t *testing.T) {
	names := []string{"kprobes"}
	if testsize.Full(t) {
		names = append(names, "ftrace", "nomitig-late", "tracepoints-coarse")
	}
	fields := [][]Field{nil, {Sym, Off, Addr}, {CPU, Time, Flags, Verdict, IP, Sym, DSO}, {Flags, Bytes, Count}, {CPU, Comm}}
	for _, name := range names {
		s, err := decoder.Open(decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", name, "perf.data")})
		if err != nil {
			t.Fatal(err)
		}
		for _, level := range []rows.Level{rows.LevelCall, rows.LevelBranch} {
			for i, f := range testsize.Some(t, fields, 2) {
				o := Options{Format: FormatNamed([]string{"text", "tsv"}[i%2]), Fields: f, Jobs: 1 + i, Options: rows.Options{Level: level, Thunks: i == 1}}
				if f == nil {
					o.Fields = o.Format.Defaults(level)
				}
				got := written(t, s, o)
				o.Where = func(*rows.Names, *rows.Row) bool { return true }
				if want := written(t, s, o); !bytes.Equal(got, want) || len(got) < 1000 {
					t.Errorf("%s, %v, %v: %d bytes are not the %d that rows give", name, level, o.Fields, len(got), len(want))
				}
			}
		}
		s.Close()
	}
}

// TestCallLines would catch the line of another call that has the same number, and the front
// of another stream at the same time.
func TestCallLines(t *testing.T) {
	streams := []rows.Stream{{CPU: 0}, {Index: 1, CPU: 1}}
	o := Options{Format: FormatNamed("text"), Fields: []Field{CPU, IP}, Options: rows.Options{Level: rows.LevelCall}}
	p := newPlain(rows.NewNames(nobody{}, 2), &o)
	one, two := &rows.Row{Kind: rows.KindCall, IP: 1, Poke: -1, Number: 5}, &rows.Row{Kind: rows.KindCall, IP: 2, Poke: -1, Number: 5}
	list := []call{{row: one, at: 0}, {row: two, at: 0, depth: 1}, {row: two, at: 1}, {row: one, at: 1}}
	got := string(p.callLines(nil, list, []moment{{st: &streams[0]}, {st: &streams[1]}}))
	if want := "0 0000000000000001\n0   0000000000000002\n1 0000000000000002\n1 0000000000000001\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
