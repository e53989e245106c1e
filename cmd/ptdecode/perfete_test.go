package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// eteFile makes a recording of two CPUs' ETEs, whose trace goes to a TRBE each: raw bytes,
// an AUX area a CPU, stored in several turns. Blocks are those of ETE; old says that the
// recorder knew ETMv4 only.
func eteFile(traces [2][]byte, version uint64, old bool, flags uint64) []byte {
	priv := fields(version, uint64(8)<<32|2, uint64(0))
	for cpu := range uint64(2) {
		regs := []uint64{0x1841, 0x10 + 2*cpu, 0x28000ea1, 0x4100fff3, 0x488, 0, 0xcc, 0x47705a13, 1}
		magic := uint64(0x5050505050505050)
		if old {
			magic, regs = 0x4040404040404040, append(regs[:7:7], 1)
		}
		priv = fields(priv, magic, cpu, uint64(len(regs)))
		for _, r := range regs {
			priv = fields(priv, r)
		}
	}
	b := record(70, 0, uint32(3), uint32(0), priv)
	b = append(b, record(79, 0, uint64(0), uint64(1), uint64(0), uint64(0), uint64(0), uint64(1))...)
	who := &csFile{}
	for cpu, trace := range traces {
		b = append(b, record(11, 0, uint64(0), uint64(len(trace)), flags, who.who(uint32(cpu), uint64(1)<<60))...)
		trace = append(trace[:len(trace):len(trace)], make([]byte, -len(trace)&7)...)
		b = append(b, record(71, 0, uint64(len(trace)), uint64(0), uint64(1), uint32(cpu), int32(-1), int32(cpu), uint32(0))...)
		b = append(b, trace...)
	}
	return csData(b, "aarch64")
}

// TestPerfETE would catch a recording of ETEs by TRBEs that does not decode to what ran. A
// block may be read as another unit's, raw bytes taken for frames, times not converted.
// The trace is of a kernel that changed its code meanwhile.
func TestPerfETE(t *testing.T) {
	root := filepath.Join(testsize.Recordings(t), "kernel-pokes-arm64")
	var golden map[string]map[string]map[string]struct {
		Instructions int
		SHA256       string
	}
	text, err := os.ReadFile(filepath.Join(root, "golden.json"))
	if err == nil {
		err = json.Unmarshal(text, &golden)
	}
	var traces [2][]byte
	for cpu := range traces {
		if err == nil {
			traces[cpu], err = os.ReadFile(filepath.Join(root, "a57-jump/ete-raw", fmt.Sprintf("cpu%d.bin", cpu)))
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	g := golden["a57-jump"]["ete-raw"]
	want := fmt.Sprintf("0 %d %s\n1 %d %s\n", g["10"].Instructions, g["10"].SHA256, g["11"].Instructions, g["11"].SHA256)
	for _, x := range []struct {
		version uint64
		old     bool
		flags   uint64 // of AUX records: 0x100 says that the bytes are raw
	}{{1, false, 0x100}, {2, false, 0x100}, {1, true, 0x100}, {1, false, 0}} {
		path := filepath.Join(t.TempDir(), "perf.data")
		put(t, map[string][]byte{path: eteFile(traces, x.version, x.old, x.flags)})
		out, errs, code := said("flow", path, "--text", filepath.Join(root, "text/a57.bin")+"@ffff800080010000",
			"--events", filepath.Join(root, "a57-jump/journal.jsonl"), "--digest")
		if out != want || code != exitWhole {
			t.Errorf("version %d, old %t, flags %#x: exit code %d, %swant\n%s%s", x.version, x.old, x.flags, code, out, want, errs)
		}
	}
}
