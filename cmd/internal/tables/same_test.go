package tables

import (
	encoding "encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/ptdecode/ptdecode/cmd/internal/host"
	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/report"
	"github.com/ptdecode/ptdecode/decoder/rows"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// TestSameTables would catch a value of Parquet that is not that of CSV. Calls do not become rows
// there, and columns share pages. It would catch a page that has the rows of another. It would catch a dictionary that has a value twice.
func TestSameTables(t *testing.T) {
	names := []string{"ftrace", "kprobes"}
	for _, name := range names[:testsize.Of(t, 1, len(names))] {
		s, err := decoder.Open(decoder.Config{Recording: filepath.Join(testsize.Recordings(t), "kernel-pokes-x86", name, "perf.data")})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		f := &host.Filter{}
		for _, st := range s.Streams() {
			f.Streams = append(f.Streams, rows.Stream{Index: st.Index, CPU: st.CPU, TID: st.TID, Name: st.Name})
		}
		dir, all := t.TempDir(), every(t)
		crossed := &report.Crossings{Session: s}
		var sinks []*Sink
		for _, begin := range []func(string, Choice) (Encoder, error){NewCSV, NewParquet} {
			enc, err := begin(dir, all)
			if err != nil {
				t.Fatal(err)
			}
			if p, ok := enc.(*parquet); ok {
				p.most, p.perPage = 1000, 300 // row groups are filled again, and have several pages
			}
			sinks = append(sinks, New(s, f, enc, Options{Choice: all, Crossed: crossed.By}))
		}
		q := decoder.Query{Merged: true, Bounds: true}
		if !testsize.Full(t) {
			q.Streams = []int{0}
		}
		err = s.Flow(t.Context(), q, sinkOf(func(b *decoder.Batch) error {
			for _, k := range sinks {
				if err := k.Flow(b); err != nil {
					return err
				}
			}
			return crossed.Flow(b)
		}))
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range sinks {
			if err := k.Close(); err != nil {
				t.Fatal(err)
			}
		}
		for i, x := range Tables {
			sameTable(t, filepath.Join(dir, x.Name), i)
		}
	}
}

// sameTable compares a table's two files.
func sameTable(t *testing.T, path string, table int) {
	t.Helper()
	in, err := os.Open(path + ".csv")
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	lines, err := encoding.NewReader(in).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	got := readColumns(t, path+".parquet", table)
	for i, list := range got {
		var want []string
		for _, l := range lines[1:] {
			want = append(want, l[i])
		}
		if slices.Equal(list, want) {
			continue
		}
		t.Errorf("%s, %s: %d rows, want %d", path, Tables[table].Columns[i].Name, len(list), len(want))
		for row := range min(len(list), len(want)) {
			if list[row] != want[row] {
				t.Errorf("row %d: %s, want %s", row, list[row], want[row])
				break
			}
		}
	}
}
