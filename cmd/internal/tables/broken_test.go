package tables

import (
	"bytes"
	"errors"
	"os"
	"strings"
	"testing"
)

// TestBroken would catch tables that look whole though rows are missing: because the flow broke
// off, or because a file could not be written.
func TestBroken(t *testing.T) {
	row := []Value{{N: 1}, {N: 2}, {S: "name"}, {}}
	broke := errors.New("broke off")
	for name, begin := range map[string]func(string, Choice) (Encoder, error){"csv": NewCSV, "parquet": NewParquet} {
		for _, write := range []bool{false, true} {
			dir := t.TempDir()
			enc, err := begin(dir, every(t))
			if err != nil {
				t.Fatal(err)
			}
			why := broke
			if write {
				var list *[len(Tables)]*os.File
				switch x := enc.(type) {
				case *csv:
					list = &x.list
				case *parquet:
					list = &x.list
				}
				list[tableSymbols].Close()
				why = nil
			}
			for i := range uint64(6 * rowsPerGroup) {
				row[0].N = i * i * 0x9e3779b97f4a7c15
				if err = enc.Row(tableSymbols, row); err != nil {
					break
				}
			}
			if write && err == nil {
				t.Errorf("%s: rows go to a closed file, and nobody hears of it", name)
			}
			if err := enc.Close(why); err == nil || !write && !errors.Is(err, broke) {
				t.Errorf("%s: it ends with %v", name, err)
			}
			if left, _ := os.ReadDir(dir); len(left) > 0 {
				t.Errorf("%s: %d files stay, among them %s", name, len(left), left[0].Name())
			}
		}
	}
	var out bytes.Buffer
	enc, err := NewSQL(&out, every(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := enc.Row(tableSymbols, row); err != nil {
		t.Fatal(err)
	}
	if err := enc.Close(broke); !errors.Is(err, broke) {
		t.Errorf("sqlite: it ends with %v", err)
	}
	if s := out.String(); strings.Contains(s, "COMMIT") || !strings.Contains(s, "ROLLBACK") {
		t.Errorf("sqlite: %s", s[len(s)-200:])
	}
}

// TestChoose would catch a choice of tables that is read as another one.
func TestChoose(t *testing.T) {
	for list, want := range map[string]string{
		"": "calls blocks instructions pokes crossings traps gaps events symbols versions", "calls,traps": "calls traps",
		"all": strings.Join(Names(), " "), "-calls,-symbols,-events": "blocks instructions pokes crossings traps gaps versions",
		"+branches,-instructions": "calls branches blocks pokes crossings traps gaps events symbols versions",
		"call":                    "error", "-all": "error", "all,-branches": "calls blocks instructions pokes crossings traps gaps events symbols versions",
	} {
		c, err := Choose(list)
		var got []string
		for i, is := range c {
			if is {
				got = append(got, Tables[i].Name)
			}
		}
		if err != nil {
			got = []string{"error"}
		}
		if s := strings.Join(got, " "); s != want {
			t.Errorf("%q: %s, want %s", list, s, want)
		}
	}
}
