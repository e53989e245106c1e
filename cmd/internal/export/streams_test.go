package export

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/cmd/internal/protofields"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// withStreams is testHost with the streams that rows name.
func withStreams(c decoder.Config) *host.Host {
	h := testHost(c, io.Discard)
	h.Filters = func(*cobra.Command) func(*decoder.Session) (*host.Filter, error) {
		return func(s *decoder.Session) (*host.Filter, error) {
			f := &host.Filter{}
			for _, st := range s.Streams() {
				f.Streams = append(f.Streams, rows.Stream{Index: st.Index, CPU: st.CPU, TID: st.TID, Name: st.Name})
			}
			return f, nil
		}
	}
	return h
}

// TestTables would catch executions and traps that the tables lose, count twice or put at
// another address: it compares with the emulator's log. In a Perfetto trace it would catch a
// slice that is left open or ends what did not begin.
func TestTables(t *testing.T) {
	data := testsize.Recordings(t)
	names := []string{"kprobes", "ftrace", "tracepoints-coarse"}
	for _, name := range names[:testsize.Of(t, 1, len(names))] {
		t.Run(name, func(t *testing.T) {
			dir, out := filepath.Join(data, "kernel-pokes-x86", name), t.TempDir()
			c := decoder.Config{Recording: filepath.Join(dir, "perf.data")}
			trace := filepath.Join(out, "trace")
			runVerb(t, New(withStreams(c)), "-o", "csv:"+filepath.Join(out, "csv"), "-o", "perfetto:"+trace)
			got := tally{}
			for _, r := range readTable(t, filepath.Join(out, "csv", "instructions.csv")) {
				a, err := strconv.ParseUint(r["addr"], 0, 64)
				if err != nil {
					t.Fatal(err)
				}
				n, _ := strconv.ParseUint(r["executions"], 10, 64)
				unsure, _ := strconv.ParseUint(r["ambiguous"], 10, 64)
				got[a] += n + unsure
			}
			compare(t, "instructions.csv", got, testsize.Ran(t, dir))
			traps, err := os.ReadFile(filepath.Join(dir, "traps.tsv"))
			if err != nil {
				t.Fatal(err)
			}
			want := 0
			for line := range strings.Lines(string(traps)) {
				if line[0] >= '0' && line[0] <= '9' {
					want++
				}
			}
			if n := len(readTable(t, filepath.Join(out, "csv", "traps.csv"))); n != want {
				t.Errorf("traps.csv: %d traps, want %d", n, want)
			}
			nested(t, trace)
		})
	}
}

// readTable reads a table of CSV.
func readTable(t *testing.T, path string) (list []map[string]string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(bufio.NewReader(f)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines[1:] {
		r := map[string]string{}
		for i, name := range lines[0] {
			r[name] = l[i]
		}
		list = append(list, r)
	}
	return list
}

// nested fails where slices of a track do not lie one in another, where their times step
// back, or where an arrow has one end.
func nested(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	open, last, slices := map[uint64]int{}, map[uint64]uint64{}, 0
	tracks := map[uint64]uint64{} // of a sequence's events that do not say theirs
	ends := map[uint64]int{}      // of arrows
	protofields.Each(t, b, func(_ protowire.Number, _ uint64, packet []byte) {
		var at, track, kind, sequence uint64
		protofields.Each(t, packet, func(n protowire.Number, v uint64, in []byte) {
			switch n {
			case 8:
				at = v
			case 10:
				sequence, track = v, tracks[v]
			case 11:
				protofields.Each(t, in, func(n protowire.Number, v uint64, _ []byte) {
					switch n {
					case 9:
						kind = v
					case 11:
						track = v
					case 47:
						ends[v]++
					}
				})
			case 59: // in front of the event
				protofields.Each(t, in, func(_ protowire.Number, _ uint64, in []byte) {
					protofields.Each(t, in, func(_ protowire.Number, v uint64, _ []byte) { tracks[sequence], track = v, v })
				})
			}
		})
		switch kind {
		case 1:
			open[track]++
			slices++
		case 2:
			open[track]--
		default:
			return
		}
		if open[track] < 0 || at < last[track] {
			t.Fatalf("track %d at %d: %d slices are open, and the time before is %d", track, at, open[track], last[track])
		}
		last[track] = at
	})
	for track, n := range open {
		if n != 0 {
			t.Errorf("track %d: %d slices do not end", track, n)
		}
	}
	if slices < 1000 {
		t.Errorf("%d slices, want more", slices)
	}
	for arrow, n := range ends {
		if n < 2 {
			t.Errorf("arrow %d has %d ends", arrow, n)
		}
	}
	if bytes.Contains(b, []byte("last old")) != bytes.Contains(b, []byte("first new")) {
		t.Error("arrows lack one end")
	}
}

// TestBrokenOff would catch tables that look whole though the decoding broke off: the last sink
// to hear of it is told by Close alone.
func TestBrokenOff(t *testing.T) {
	data := testsize.Recordings(t)
	h := withStreams(decoder.Config{Recording: filepath.Join(data, "kernel-pokes-x86", "kprobes", "perf.data")})
	var sql bytes.Buffer
	h.Out = &sql
	broke := errors.New("broke off")
	h.Deliver = func(_ context.Context, _ *decoder.Session, _ decoder.Query, sink host.Sink) error {
		if err := sink.Close(); err != nil {
			return err
		}
		return broke
	}
	dir := t.TempDir()
	c := New(h)
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetArgs([]string{"-o", "csv:" + filepath.Join(dir, "csv"), "-o", "parquet:" + filepath.Join(dir, "parquet"), "-o", "sqlite:-", "-o", "perfetto:" + filepath.Join(dir, "trace")})
	if err := c.ExecuteContext(t.Context()); !errors.Is(err, broke) {
		t.Errorf("it ends with %v", err)
	}
	if strings.Contains(sql.String(), "COMMIT") {
		t.Error("sqlite keeps what is there")
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	more, _ := filepath.Glob(filepath.Join(dir, "*", "*"))
	for _, f := range append(files, more...) {
		if st, err := os.Stat(f); err == nil && st.Mode().IsRegular() {
			t.Errorf("%s stays", f)
		}
	}
}
