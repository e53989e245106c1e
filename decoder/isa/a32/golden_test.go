package a32

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/isa"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// A run is what a processor executed at a stretch by a golden: it leaves the
// straight line only behind the last instruction.
type run struct {
	mode     isa.Mode
	addr     uint64
	end      uint64
	n        int // instructions
	follower *run
}

// goldenRuns reads the runs of a golden, each with the one of the same trace
// source behind it.
func goldenRuns(t *testing.T, file string) (runs []*run) {
	t.Helper()
	var last *run
	var text string
	for _, b := range testsize.Files(t, file) {
		text = string(b)
	}
	for line := range strings.Lines(text) {
		r := new(run)
		var set string
		if n, _ := fmt.Sscanf(line, "%s %x %x %d", &set, &r.addr, &r.end, &r.n); n < 4 {
			last = nil // another source
			continue
		}
		switch set {
		case "A32":
			r.mode = isa.ModeA32
		case "T32":
			r.mode = isa.ModeT32
		default:
			last = nil
			continue
		}
		if last != nil {
			last.follower = r
		}
		last = r
		runs = append(runs, r)
	}
	return runs
}

// A dump is memory of a snapshot.
type dump struct {
	addr uint64
	text []byte
}

// dumps reads the memory dumps of the snapshot in dir: sections of its ini files
// with address and file.
func dumps(t *testing.T, dir string) (all []dump) {
	t.Helper()
	for _, b := range testsize.Files(t, filepath.Join(dir, "*.ini")) {
		for _, section := range strings.Split(string(b), "\n[") {
			keys := map[string]string{}
			for line := range strings.Lines(section) {
				k, v, _ := strings.Cut(strings.TrimSpace(line), "=")
				keys[strings.TrimSpace(k)] = strings.TrimSpace(v)
			}
			addr, err := strconv.ParseUint(keys["address"], 0, 64)
			if err != nil || keys["file"] == "" {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, keys["file"]))
			if err != nil {
				continue // in a snapshot with a dump missing
			}
			if off, err := strconv.ParseUint(keys["offset"], 0, 64); err == nil {
				text = text[min(off, uint64(len(text))):]
			}
			if n, err := strconv.ParseUint(keys["length"], 0, 64); err == nil {
				text = text[:min(n, uint64(len(text)))]
			}
			all = append(all, dump{addr, text})
		}
	}
	return all
}

// at is the memory from addr on, or nil.
func (d dump) at(addr uint64) []byte {
	if addr < d.addr || addr-d.addr >= uint64(len(d.text)) {
		return nil
	}
	return d.text[addr-d.addr:]
}

// memory is the memory of ds from addr on, or nil.
func memory(ds []dump, addr uint64) []byte {
	for _, d := range ds {
		if text := d.at(addr); text != nil {
			return text
		}
	}
	return nil
}

// walked is what TestGoldens counts.
type walked struct {
	runs, instructions, followed, outside, elsewhere, skipped int
}

// walk executes r on ds, and reports what is wrong.
func (y *walked) walk(r *run, ds []dump) (err error) {
	var in isa.Insn
	since := 0 // instructions since the run's beginning or the last IT
	for addr, n := r.addr, 1; n <= r.n; n++ {
		text := memory(ds, addr)
		if s := (Decoder{}).Decode(&in, text, addr, r.mode); s != isa.OK {
			return fmt.Errorf("status %d at %#x, % x", s, addr, text[:min(4, len(text))])
		}
		if addr += uint64(in.Len); addr > r.end || n == r.n && addr != r.end {
			return fmt.Errorf("instruction %d of %d ends at %#x", n, r.n, addr)
		}
		if since++; in.Class == isa.Other && in.Len == 2 && text[1] == 0xbf && text[0]&15 != 0 {
			since = 0
		}
		if n == r.n || in.Class == isa.Other || in.Class == isa.Cond || in.Class >= isa.Barrier || in.Target == addr {
			continue
		}
		y.skipped++
		if in.Flags&isa.FlagConditional == 0 && (r.mode == isa.ModeA32 || since > 4) {
			err = fmt.Errorf("%v before %#x goes on", in.Class, addr)
		}
	}
	y.runs++
	y.instructions += r.n
	switch {
	case in.Class == isa.Other || r.follower == nil:
		return nil // broken off by an exception: on the way there branches are not taken
	case err != nil || in.Class != isa.Jump && in.Class != isa.Call && in.Class != isa.Cond:
		return err
	}
	switch {
	case r.follower.addr == in.Target:
		y.followed++
		if other := r.follower.mode != r.mode; other != (in.Flags&isa.FlagInterwork != 0) {
			return fmt.Errorf("goes to %v at %#x, flags %b", r.follower.mode, in.Target, in.Flags)
		}
	case memory(ds, in.Target) == nil:
		y.outside++
	default:
		y.elsewhere++
	}
	return nil
}

// TestGoldens would catch a length that differs from what processors executed. It
// would catch a branch that is missed, has the wrong target or leads to the wrong
// set, and one taken for conditional that is not. It goes over the memory of the
// snapshots, along the runs that OpenCSD 1.8.0 makes of traces of real processors.
func TestGoldens(t *testing.T) {
	data := testsize.Recordings(t)
	for _, name := range []string{"Snowball", "TC2", "armv8_1m_branches", "ete_ip", "tc2-ptm-rstk-t32", "trace_cov_a15"} {
		t.Run(name, func(t *testing.T) {
			ds := dumps(t, filepath.Join(data, "coresight", "snapshots", name))
			var y walked
			for _, r := range goldenRuns(t, filepath.Join(data, "coresight", "golden", name+".txt.zst")) {
				if err := y.walk(r, ds); err != nil {
					t.Errorf("%v %#x to %#x, %d instructions: %v", r.mode, r.addr, r.end, r.n, err)
				}
			}
			t.Logf("%+v", y)
			if y.elsewhere > 0 {
				t.Errorf("%d direct branches into known memory do not go to the next run", y.elsewhere)
			}
			if y.runs == 0 {
				t.Error("nothing compared")
			}
		})
	}
}
