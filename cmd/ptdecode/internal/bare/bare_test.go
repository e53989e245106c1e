package bare

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// regs are those of the trace units that made the recordings.
const regs = "TRCCONFIGR=0x1841,TRCIDR0=0x28000EA1,TRCIDR1=0x4100FFF3,TRCIDR2=0x488,TRCDEVARCH=0x47705A13"

// TestTraces would catch flags that are taken for others, registers that an ini file and
// the command line give otherwise, and mistakes that go untold.
func TestTraces(t *testing.T) {
	ini := filepath.Join(t.TempDir(), "etm.ini")
	text := "[device]\nname=ETM_0\nclass=trace_source\ntype=ETE\n[regs]\nTRCTRACEIDR(0x010)=0x11\n" + strings.NewReplacer(",", "\n", "=", "(0x1)=").Replace(regs)
	if err := os.WriteFile(ini, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := Traces([]string{"11:a.bin", "0x12:dir:b.bin"}, regs)
	if err != nil || len(a) != 2 || a[0].ID != "11" || a[1].ID != "12" || a[1].Path != "dir:b.bin" || a[0].Protocol.Name != "ETE" {
		t.Fatal(a, err)
	}
	b, err := Traces([]string{"a.bin"}, ini)
	if err != nil || len(b) != 1 || b[0].Unit != a[0].Unit || b[0].ID != "11" {
		t.Fatalf("by an ini file %+v, by registers %+v: %v", b, a[0], err)
	}
	for _, bad := range []struct {
		etm          []string
		config, says string
	}{
		{nil, regs, "no --etm"},
		{[]string{"10:a"}, "", "needs --etm-config"},
		{[]string{"70:a"}, regs, "need 1 to 6f"},
		{[]string{"10:"}, regs, "names no file"},
		{[]string{"10:a", "10:b"}, regs, "has a already"},
		{[]string{"a"}, regs, "of which trace ID? Write ID:a, hexadecimal"},
		{[]string{"10:a"}, "TRCCONFIGR=1,TRCIDR0=1", "--etm-config: the unit has no register TRCIDR2"},
		{[]string{"10:a"}, "TRCCONFIGR=no,TRCIDR0=1,TRCIDR2=1", "no number"},
		{[]string{"10:a"}, regs + ",core=Z80", "architecture is not known"},
		{[]string{"10:a"}, filepath.Join(t.TempDir(), "none.ini"), "none.ini"},
		{[]string{"10:a"}, "[device]\ntype=STM\n[regs]\nSTMTCSR=1", "need ETM4 or ETE"},
	} {
		if _, err := Traces(bad.etm, bad.config); err == nil || !strings.Contains(err.Error(), bad.says) {
			t.Errorf("%q %q: %v, want %q", bad.etm, bad.config, err, bad.says)
		}
	}
}

// digests is a Sink of what each stream executed.
type digests map[int]hash.Hash

// Flow takes a batch.
func (d digests) Flow(b *decoder.Batch) error {
	h := d[b.Stream]
	if h == nil {
		h = sha256.New()
		d[b.Stream] = h
	}
	for i := range b.Ranges {
		r := &b.Ranges[i]
		a := r.Block.Addr
		for _, n := range r.Block.Lens[:r.N] {
			h.Write(binary.LittleEndian.AppendUint64(nil, a))
			a += uint64(n)
		}
	}
	return nil
}

// TestBareETE would catch bare trace that decodes otherwise than in the snapshot that it
// was taken out of: the digests are those of its golden.json.
func TestBareETE(t *testing.T) {
	root := filepath.Join(testsize.Recordings(t), "kernel-pokes-arm64")
	dir := filepath.Join(root, "a57-jump")
	golden, err := os.ReadFile(filepath.Join(root, "golden.json"))
	if err != nil {
		t.Skip(err)
	}
	raw, err := Traces([]string{"10:" + filepath.Join(dir, "ete-raw", "cpu0.bin")}, regs)
	if err != nil {
		t.Fatal(err)
	}
	s, err := decoder.Open(decoder.Config{
		Raw: raw, Events: filepath.Join(dir, "journal.jsonl"), Code: []decoder.CodeFile{{Path: filepath.Join(root, "text", "a57.bin"), Addr: 0xffff800080010000}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	d := digests{}
	if err := s.Flow(t.Context(), decoder.Query{}, d); err != nil {
		t.Fatal(err)
	}
	if d[0] == nil || !strings.Contains(string(golden), fmt.Sprintf("%x", d[0].Sum(nil))) || len(s.Warnings()) > 0 {
		t.Errorf("another digest than in the snapshot; warnings %v", s.Warnings())
	}
}

// TestTrace would catch a file name with a colon that is taken for a CPU, and
// a CPU that is taken for a file name.
func TestTrace(t *testing.T) {
	for in, want := range map[string]struct {
		cpu  int32
		path string
	}{
		"a.pt": {0, "a.pt"}, "3:a.pt": {3, "a.pt"}, "12:c:d": {12, "c:d"}, "c:d": {0, "c:d"}, "./1:a": {0, "./1:a"},
	} {
		if r, err := Trace(decoder.IntelPT, in); err != nil || r.CPU != want.cpu || r.Path != want.path {
			t.Errorf("Trace(%q) = %v, %v; want %v", in, r, err, want)
		}
	}
	for _, in := range []string{"", "1:", "99999999999:a"} {
		if r, err := Trace(decoder.IntelPT, in); err == nil {
			t.Errorf("Trace(%q) = %v, want an error", in, r)
		}
	}
}
