package decoder

import (
	"bytes"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/internal/recording"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// kernelText is how long the code of the recordings' kernel is, bytes: its symbols
// _text and _etext, in whole pages.
const kernelText = 0xe02000

// wholeText returns the pages of the kernel's code that o's image lacks, as the vmlinux
// has them: they never ran. A kcore of a machine has all of them.
func wholeText(t testing.TB, o *original, tables *siteTables) (list []recording.Code) {
	t.Helper()
	m, err := image.Open(tables.vmlinux, image.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	text, ok := o.symbols.Find("_text")
	if !ok {
		t.Fatal("no symbol _text")
	}
	first := linkedAt(m)
	const page = 4096
	have, b := make([]byte, page), make([]byte, page)
	for a := uint64(0); a < kernelText; a += page {
		if o.image.ReadAt(have, text.Addr+a) == 0 && m.ReadAt(b, first+a) == page {
			list = append(list, recording.Code{Addr: text.Addr + a, Bytes: bytes.Clone(b)})
		}
	}
	return list
}

// TestProgramsWithoutCode would catch that the kernel's flow stays in doubt where
// programs are traced too and their code is not at hand, or that it is claimed wrong.
// Each way back to the kernel is a target that may have waited behind the program's
// outcomes. In one of the two forms of trace some have.
//
// The kcore of these recordings holds only the pages that were used. So a flow that
// takes a target for one that waited may come to unknown code, where little refutes it.
// With all of the kernel's code beside it, that does not happen.
func TestProgramsWithoutCode(t *testing.T) {
	tables := readSiteTables(t)
	forms := []struct{ late, whole bool }{{late: true}, {}, {true, true}, {whole: true}}
	for _, name := range []string{"ftrace", "nomitig-late"}[:testsize.Of(t, 1, 2)] {
		o := readOriginal(t, name, tables)
		for _, f := range forms[:testsize.Of(t, 1, 4)] {
			x := usersLie(t, o, random("users", name, 0), f.late)
			if f.whole {
				rest := wholeText(t, o, tables)
				programs := x.change
				x.change = func(rec *recording.Recording) {
					programs(rec)
					rec.Code = append(rec.Code, rest...)
				}
			}
			var facts lieFacts
			r := x.decode(t, o, "users/"+name, &facts)
			ran := 0
			for _, c := range o.ran {
				ran += len(c.ips)
			}
			t.Logf("%s, %+v: %d executed, %d claims, %d wrong, %d ambiguous, %d missing", name, f, ran, r.claims, r.wrong, r.ambiguous, r.missing)
			if r.wrong > 0 {
				t.Errorf("%s, %+v: %d wrong claims", name, f, r.wrong)
			}
			if most := ran / 50; r.ambiguous > most || r.missing > most {
				t.Errorf("%s, %+v: %d instructions ambiguous and %d missing, no more than 2 in 100 may be: %d", name, f, r.ambiguous, r.missing, most)
			}
		}
	}
}
