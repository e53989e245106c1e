package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ptdecode/ptdecode/decoder/testsize"
)

// damaged is a recording of which a file can be written anew.
type damaged struct {
	args  []string // of flow, that read it
	path  string   // of the file
	clean []byte   // its contents
	want  string   // what the clean one prints
	said  string   // what is said of it
	tells bool     // every cut must be told, also one behind all of the flow
}

// openDamaged copies a real recording to where it can be damaged.
func openDamaged(t *testing.T, name string) *damaged {
	t.Helper()
	root := testsize.Recordings(t)
	from := filepath.Join(root, "kernel-pokes-x86", name, "perf.data")
	dir := filepath.Join(t.TempDir(), "perf.data")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(from, "kcore_dir"), filepath.Join(dir, "kcore_dir")); err != nil {
		t.Skip(err)
	}
	b, err := os.ReadFile(filepath.Join(from, "data"))
	if err != nil {
		t.Fatal(err)
	}
	d := newDamaged(t, filepath.Join(dir, "data"), b, dir)
	d.tells = true
	return d
}

// newDamaged returns the recording that args name, of which clean is the file at path.
func newDamaged(t *testing.T, path string, clean []byte, args ...string) *damaged {
	t.Helper()
	d := &damaged{args: args, path: path, clean: clean}
	code, out, errs := d.digest(t, clean)
	if code != exitWhole {
		t.Fatalf("the clean recording exits %d: %s", code, errs)
	}
	d.want, d.said = out, errs
	return d
}

// digest decodes with b in the file.
func (d *damaged) digest(t *testing.T, b []byte) (code int, out, errs string) {
	t.Helper()
	put(t, map[string][]byte{d.path: b})
	var o, e bytes.Buffer
	code = run(append([]string{"flow", "--digest"}, d.args...), strings.NewReader(""), &o, &e)
	return code, o.String(), e.String()
}

// judge says what is wrong with how a damaged recording was taken; changed is
// true where it went unnoticed that the output is another.
func (d *damaged) judge(code int, out, errs string) (wrong string, changed bool) {
	switch code {
	case exitWhole:
		return "", out != d.want && errs == d.said
	case exitGaps:
		if !strings.Contains(errs, "gap") && !strings.Contains(errs, "could not be read whole") {
			return "exit 3 without what is missing named", false
		}
	case exitFailed:
		if !strings.Contains(errs, "+0x") && !strings.Contains(errs, "ptdecode: ") {
			return "exit 1 without a place", false
		}
	default:
		return "an exit code that means something else", false
	}
	return "", false
}

// rounds is how often to damage.
func rounds(t *testing.T) int { return testsize.Of(t, 5, 40) }

// cut ends the file too early at places at random; quiet says where nothing can
// tell of it and the output may be another all the same.
func (d *damaged) cut(t *testing.T, rnd *rand.Rand, quiet func(n int) bool) {
	t.Helper()
	for range rounds(t) {
		n := rnd.IntN(len(d.clean))
		code, out, errs := d.digest(t, d.clean[:n])
		wrong, changed := d.judge(code, out, errs)
		switch {
		case d.tells && code == exitWhole:
			wrong = "not told"
		case wrong == "" && (!changed || quiet != nil && quiet(n)):
			continue
		}
		t.Errorf("cut at %#x: exit %d, output changed %v: %s\n%.400s", n, code, changed, wrong, errs)
	}
}

// change makes bytes at random others; quiet says where nothing can tell of it
// and the output may be another all the same.
func (d *damaged) change(t *testing.T, rnd *rand.Rand, quiet func(at int) bool) {
	t.Helper()
	unnoticed := 0
	for range rounds(t) {
		b := bytes.Clone(d.clean)
		at := rnd.IntN(len(b))
		b[at] ^= byte(1 + rnd.IntN(255))
		code, out, errs := d.digest(t, b)
		wrong, changed := d.judge(code, out, errs)
		if changed && quiet(at) {
			unnoticed++
			changed = false
		}
		if wrong != "" || changed {
			t.Errorf("byte %#x changed: exit %d, output changed %v: %s\n%.400s", at, code, changed, wrong, errs)
		}
	}
	t.Logf("%d of %d changes gave another flow that fits", unnoticed, rounds(t))
}

// TestTruncatedRecording would catch a panic, a hang or silence where a
// recording ends too early.
func TestTruncatedRecording(t *testing.T) {
	openDamaged(t, "kprobes").cut(t, rand.New(rand.NewPCG(5, 6)), nil)
}

// TestDamagedRecording would catch a panic, a hang or silence where bytes of a
// recording are others. A changed outcome bit may give a flow that fits: that
// alone goes unnoticed, and only in the trace itself.
func TestDamagedRecording(t *testing.T) {
	d := openDamaged(t, "kprobes")
	trace := bytes.Index(d.clean, []byte(strings.Repeat("\x02\x82", 8)))
	if trace < 0 {
		t.Fatal("no PSB in the recording")
	}
	d.change(t, rand.New(rand.NewPCG(7, 8)), func(at int) bool { return at >= trace })
}

// damagedCS are recordings of CoreSight by what of each is damaged: a perf.data
// file, and of a snapshot the buffer, the memory of a core and an ini file.
func damagedCS(t *testing.T) map[string]*damaged {
	t.Helper()
	dir := t.TempDir()
	text, rec := filepath.Join(dir, "text.bin"), filepath.Join(dir, "perf.data")
	put(t, map[string][]byte{text: fields(uint32(0xd503201f), uint32(0xd503201f), uint32(0x17fffffe))})
	list := map[string]*damaged{}
	list["perf.data, frames"] = newDamaged(t, rec, (&csFile{version: 1}).bytes(t), rec, "--text", text+"@400000")
	list["perf.data, raw"] = newDamaged(t, rec+"2", (&csFile{version: 2, hwIDs: true, raw: true}).bytes(t), rec+"2", "--text", text+"@400000")
	for _, d := range list {
		d.tells = true
	}
	for _, name := range []string{"trace.bin", "text.bin", "e1.ini", "trace.ini", "snapshot.ini"} {
		snap := framedSnapshot(t, false)
		path := filepath.Join(snap, name)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		list[name] = newDamaged(t, path, b, snap)
	}
	return list
}

// TestCutCoreSight would catch a panic, a hang or silence where a file of a
// CoreSight recording ends too early. Nothing tells of a buffer that is cut
// between two frames, and of an ini file that is cut in its last number.
func TestCutCoreSight(t *testing.T) {
	for name, d := range damagedCS(t) {
		t.Run(name, func(t *testing.T) {
			d.cut(t, rand.New(rand.NewPCG(11, 12)), func(n int) bool {
				return name == "trace.bin" && n%16 == 0 || name == "e1.ini" && n > bytes.LastIndexByte(d.clean, '=')
			})
		})
	}
}

// unproved reports whether byte at of a perf.data file that csData made is one
// that nothing else in the file can prove wrong: of the trace, and of
// AUXTRACE_INFO's registers.
func unproved(b []byte, at int) bool {
	for off := int(le.Uint64(b[40:])); off < len(b); {
		size := int(le.Uint16(b[off+6:]))
		head, typ := size, le.Uint32(b[off:])
		if typ == 71 {
			size += int(le.Uint64(b[off+8:]))
		}
		if at < off+size {
			return typ == 70 && at >= off+8 || typ == 71 && at >= off+head
		}
		off += size
	}
	return false
}

// TestChangedCoreSight would catch a panic, a hang or silence where bytes of a
// file are others. Another outcome or another trace ID may give a flow that
// fits, and so may another instruction, or another register: that goes unnoticed.
func TestChangedCoreSight(t *testing.T) {
	for name, d := range damagedCS(t) {
		t.Run(name, func(t *testing.T) {
			d.change(t, rand.New(rand.NewPCG(13, 14)), func(at int) bool {
				return name == "trace.bin" || name == "text.bin" || strings.HasPrefix(name, "perf.data") && unproved(d.clean, at)
			})
		})
	}
}
