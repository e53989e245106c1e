package snapshot

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/coresight"
	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// realProblems are the problems that real snapshots have, each looked into.
// They are a file that is missing in the public copy, a source without a
// device, and a trace buffer that is empty.
var realProblems = map[string][]string{
	"a55-test-tpiu":  {`device1.ini:450: memory at 0xfffeb448: there is no file "mem_Cortex-A57_0.bin"`},
	"ete-wfet":       {`trace.ini:9: buffer ETB_2: "session2.bin" is empty`},
	"event_test":     {`cpu_0.ini:14: memory at 0x10000: there is no file "bindir_64/OTHERS_exec"`, `cpu_0.ini:19: memory at 0x90000: there is no file "bindir_64/VAL_NON_DET_CODE_exec"`},
	"juno-ret-stck":  {`cpu_0.ini:13: memory at 0xffff000008080000: there is no file "kernel_dump.bin"`},
	"juno-uname-001": {`cpu_0.ini:18: memory at 0x7f9d713000: there is no file "libc-2.21.so.bin"`, `cpu_0.ini:23: memory at 0x7f9d85c000: there is no file "ld-2.21.so.bin"`},
	"test-file-mem-offsets": {`trace.ini:11: [source_buffers]: no device is called ETM_0`, `trace.ini:12: [source_buffers]: no device is called ETM_1`,
		`trace.ini:13: [source_buffers]: no device is called ETM_2`, `trace.ini:15: [source_buffers]: no device is called ETM_4`, `trace.ini:16: [source_buffers]: no device is called ETM_5`},
}

// rubbish are buffers in which memory that was never written follows the trace:
// it reads as frames of any ID.
var rubbish = map[string]bool{"stm_only-juno ETB_1": true, "infrastructure ETB_1": true, "juno_r1_1 ETB_1": true}

// Real snapshots open, have the problems that they really have and no others,
// every source of theirs can be decoded, and what is in frames belongs to a
// configured source. It would catch a form of ini files, a core or a register
// that is not understood, and a problem that is none.
func TestRealSnapshots(t *testing.T) {
	for _, ini := range testsize.Recorded(t, "coresight/snapshots/*/snapshot.ini") {
		dir := filepath.Dir(ini)
		name := filepath.Base(dir)
		s, err := Open(nil, dir)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := realProblems[name]
		for i, p := range s.Problems {
			if i >= len(want) || !strings.HasPrefix(p.String(), want[i]) || p.Hint == "" {
				t.Errorf("%s: %v (%s)", name, p, p.Hint)
			}
		}
		if len(s.Problems) != len(want) {
			t.Errorf("%s: %d problems, want %d", name, len(s.Problems), len(want))
		}
		for _, src := range s.Sources {
			if !src.Usable {
				t.Errorf("%s: %s is not usable", name, src.Name)
			}
		}
		for i := range s.Buffers {
			checkRealBuffer(t, name, s, &s.Buffers[i])
		}
		for i := range s.Dumps {
			if b, err := readDump(s, &s.Dumps[i]); err != nil || int64(len(b)) != s.Dumps[i].Length || len(b) == 0 {
				t.Errorf("%s: dump at 0x%x: %d bytes, %v", name, s.Dumps[i].Address, len(b), err)
			}
		}
	}
}

func checkRealBuffer(t *testing.T, name string, s *Snapshot, b *Buffer) {
	data, err := s.ReadBuffer(b)
	if err != nil || int64(len(data)) != b.Size {
		t.Errorf("%s: buffer %s: %d bytes, want %d, %v", name, b.Name, len(data), b.Size, err)
		return
	}
	if !b.Framed {
		return
	}
	if rubbish[name+" "+b.Name] {
		return
	}
	var ids []uint8
	for _, k := range b.Sources {
		ids = append(ids, s.Sources[k].Config.ID)
	}
	d := coresight.Deframe(b.Frames, data)
	for _, st := range d.Streams() {
		known := slices.Contains(ids, st.ID) || strings.HasPrefix(name, "test-file-mem") // its list of devices is short
		if !known {
			t.Errorf("%s: buffer %s has %d bytes of ID %02x, and no such source", name, b.Name, len(st.Data), st.ID)
		}
	}
	troubles, more := d.Troubles()
	if name == "a55-test-tpiu" && len(troubles) == 1 && troubles[0].String() == "+0xbfec: frames: frame cut short (12 bytes)" {
		troubles = nil // its recording ends inside a frame
	}
	if len(troubles) > 0 {
		t.Errorf("%s: buffer %s: %v and %d more", name, b.Name, troubles[:min(len(troubles), 3)], more)
	}
}
