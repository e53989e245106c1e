package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
)

// framedSnapshot writes a snapshot of two sources in one buffer of frames, the
// second of which may send bytes that are no packet, and returns its directory.
func framedSnapshot(t *testing.T, broken bool) string {
	dir := t.TempDir()
	p := &csFile{}
	bad := p.trace(t, 1, 200)
	if broken {
		copy(bad[len(bad)/2:], []byte{0x0a, 0x0b, 0x0a}) // reserved headers
	}
	parts := map[uint8][]byte{p.id(0): p.trace(t, 0, 300), p.id(1): bad}
	ini := func(i int) []byte {
		c := p.unit(uint64(i)).V4
		return fmt.Appendf(nil, "[device]\nname=ETM_%d\nclass=trace_source\ntype=ETM4\n[regs]\nTRCCONFIGR=0x1\nTRCTRACEIDR=%#x\nTRCIDR0=%#x\nTRCIDR1=%#x\nTRCIDR2=%#x\n",
			i, p.id(uint64(i)), c.IDR0, c.IDR1, c.IDR2)
	}
	for name, b := range map[string][]byte{
		"snapshot.ini": []byte("[snapshot]\nversion=1.0\n[device_list]\nd0=e0.ini\nd1=e1.ini\nd2=c0.ini\nd3=c1.ini\n[trace]\nmetadata=trace.ini\n"),
		"e0.ini":       ini(0),
		"e1.ini":       ini(1),
		"trace.ini":    []byte("[trace_buffers]\nbuffers=b\n[b]\nname=B\nfile=trace.bin\nformat=coresight\n[source_buffers]\nETM_0=B\nETM_1=B\n[core_trace_sources]\ncpu_0=ETM_0\ncpu_1=ETM_1\n"),
		"c0.ini":       []byte("[device]\nname=cpu_0\nclass=core\ntype=Cortex-A53\n[dump1]\nfile=text.bin\naddress=0x400000\nlength=12\n"),
		"c1.ini":       []byte("[device]\nname=cpu_1\nclass=core\ntype=Cortex-A53\n"),
		"text.bin":     fields(uint32(0xd503201f), uint32(0xd503201f), uint32(0x17fffffe)),
		"trace.bin":    frames(t, parts),
	} {
		put(t, map[string][]byte{filepath.Join(dir, name): b})
	}
	return dir
}

// TestSnapshotPlaces would catch what is wrong in a snapshot's trace being told
// without its place in the buffer's file, or with another's.
func TestSnapshotPlaces(t *testing.T) {
	dir := framedSnapshot(t, true)
	file := filepath.Join(dir, "trace.bin")
	trace, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out, errs, code := said("packets", dir, "-o", "jsonl")
	if code != exitGaps {
		t.Fatalf("exit code %d: %s", code, errs)
	}
	told := 0
	places := ""
	for l := range strings.Lines(out) {
		var p struct {
			ID, What, Raw, File string
			Off                 int64  `json:"trace_off"`
			FileOff             *int64 `json:"file_off"`
		}
		if err := json.Unmarshal([]byte(l), &p); err != nil {
			t.Fatal(err)
		}
		if p.What == "" {
			if p.FileOff != nil {
				t.Errorf("a packet that is one has a place in the file: %s", l)
			}
			continue
		}
		told++
		if p.FileOff == nil || p.File != file || *p.FileOff <= p.Off || fmt.Sprintf("%02x", trace[*p.FileOff]) != p.Raw[:2] {
			t.Fatalf("not where the file has it: %s", l)
		}
		places = fmt.Sprintf("+0x%x (%s+0x%x)", p.Off, file, *p.FileOff)
	}
	if told != 1 {
		t.Fatalf("%d stretches without packets, want 1", told)
	}
	for _, x := range []struct{ verb, want string }{
		{"flow", "ptdecode: gap: id12" + places + ": bad-packet"},
		{"check", "id12" + places + ": bad-packet"},
	} {
		out, errs, _ := said(x.verb, dir)
		if s := out + errs; !strings.Contains(s, x.want) {
			t.Errorf("%s does not say %q:\n%s", x.verb, x.want, s)
		}
	}
}

// TestPerfPlaces would catch what is wrong in the trace of a perf.data being told
// without its place in the file, or with another's.
func TestPerfPlaces(t *testing.T) {
	dir := t.TempDir()
	file, kcore := filepath.Join(dir, "perf.data"), filepath.Join(dir, "kcore")
	b := (&perfFile{}).bytes(must(t))
	end := []byte("\x02\x23") // PSBEND
	at := bytes.LastIndex(b, end) + len(end)
	b[at] = 0xad // no packet
	put(t, map[string][]byte{file: b})
	put(t, map[string][]byte{kcore: demoFiles(must(t))["kcore"]})
	off := at - bytes.LastIndex(b, []byte(strings.Repeat("\x02\x82", 8)))
	place := fmt.Sprintf("cpu1+0x%x (%s+0x%x): bad-packet", off, file, at)
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"flow", "--kcore", kcore}, "ptdecode: gap: " + place},
		{[]string{"check", "--kcore", kcore}, "\n" + place},
		{[]string{"packets"}, fmt.Sprintf(" (%s+0x%x)\n", file, at)},
		{[]string{"packets", "-o", "jsonl"}, fmt.Sprintf(`"file":%q,"file_off":%d,`, file, at)},
	} {
		out, errs, _ := said(append(x.args, file)...)
		if s := out + errs; strings.Count("\n"+s, x.want) != 1 {
			t.Errorf("%s does not say %q once:\n%s", x.args[0], x.want, s)
		}
	}
}

// TestPerfCoreSightPlaces would catch the byte of a trace unit being told to stand
// where perf.data has another: in frames or not, in what was stored first or
// later.
func TestPerfCoreSightPlaces(t *testing.T) {
	for name, p := range map[string]*csFile{
		"frames of two sources": {version: 1, more: 50}, "frames of a sink each": {version: 2, hwIDs: true, sinks: true, more: 50},
		"raw": {version: 1, raw: true}, "raw, of a thread": {version: 1, raw: true, thread: true},
	} {
		file := filepath.Join(t.TempDir(), "perf.data")
		b := p.bytes(t)
		put(t, map[string][]byte{file: b})
		s, err := decoder.Open(decoder.Config{Recording: file})
		if err != nil {
			t.Fatal(err)
		}
		for _, st := range s.Streams() {
			last, n := int64(-1), int64(0)
			for i, c := range st.Data.Bytes(st.Head, st.Size-st.Head) {
				n = st.Head + int64(i) + 1
				in, at, ok := st.FileOff(n - 1)
				if !ok || in != file || at <= last || b[at]|1 != c|1 || p.raw && b[at] != c { // frames have bit 0 elsewhere
					t.Fatalf("%s, %s: byte %#x, %02x, is at %#x of %s, %v, behind %#x", name, st.Name, n-1, c, at, in, ok, last)
				}
				last = at
			}
			if n != st.Size {
				t.Errorf("%s, %s: %d bytes of %d", name, st.Name, n, st.Size)
			}
			if _, at, _ := st.FileOff(0); b[at] != 0 || b[at+8] != 0 { // from the first part's frames again
				t.Errorf("%s, %s: A-sync at %#x: % x", name, st.Name, at, b[at:at+12])
			}
		}
		s.Close()
	}
}

// TestInfoOfDamaged would catch info that says what is wrong with a recording and
// exits as if nothing were.
func TestInfoOfDamaged(t *testing.T) {
	dir := framedSnapshot(t, true)
	exits := func(want int, args ...string) {
		out, errs, code := said(append([]string{"info", dir}, args...)...)
		if code != want || len(out) == 0 {
			t.Errorf("info %q: exit code %d, want %d:\n%s%s", args, code, want, out, errs)
		}
	}
	exits(exitWhole)
	file := filepath.Join(dir, "trace.bin")
	trace, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	put(t, map[string][]byte{file: trace[:len(trace)-5]})
	exits(exitGaps)
	exits(exitGaps, "-o", "jsonl")
	exits(exitWhole, "--allow-gaps")
}
