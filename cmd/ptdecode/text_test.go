package main

import (
	"bytes"
	"debug/elf"
	"os"
	"path/filepath"
	"testing"

	"github.com/ptdecode/ptdecode/decoder"
	"github.com/ptdecode/ptdecode/decoder/testsize"
	"github.com/ptdecode/ptdecode/kcore/image"
)

// unrecorded is the site of the recording "journal" that was changed without a
// record.
const unrecorded = 0xffffffffc0549094

// written runs text --write-kcore and reads the file back.
func written(t *testing.T, args ...string) *image.Image {
	t.Helper()
	path := filepath.Join(t.TempDir(), "kcore")
	var out, errs bytes.Buffer
	if code := run(append(append([]string{"text", "-q"}, args...), "--write-kcore", path), nil, &out, &errs); code != 0 || out.Len()+errs.Len() > 0 {
		t.Fatalf("exit code %d; said %s%s", code, out.String(), errs.String())
	}
	return openKcore(t, path)
}

func openKcore(t *testing.T, path string) *image.Image {
	t.Helper()
	img, err := image.Open(path, image.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { img.Close() })
	return img
}

// byteAt returns a byte of an image; ok is false where it holds none.
func byteAt(img *image.Image, addr uint64) (byte, bool) {
	var b [1]byte
	n := img.ReadAt(b[:], addr)
	return b[0], n == 1
}

// TestWriteKcore would catch code at the end that differs from the late kcore, and
// code at the start, run backwards, that differs from the early one. It would also
// catch unknown code that is written as if it were known.
func TestWriteKcore(t *testing.T) {
	data := testsize.Recordings(t)
	rec := filepath.Join(data, "kernel-pokes-x86", "journal", "perf.data")
	late := filepath.Join(data, "kernel-pokes-x86", "journal", "kcore.after")
	end := written(t, rec, "--at", "end")
	start := written(t, rec, "--at", "start", "--kcore", late)
	before, after := openKcore(t, filepath.Join(rec, "kcore_dir", "kcore")), openKcore(t, late)

	s, err := decoder.Open(decoder.Config{Recording: rec})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	gone, came := map[uint64]bool{}, map[uint64]bool{} // by byte: the last record takes it away; a record with no old text covers it
	for p := range s.Pokes() {
		for d := range uint64(max(len(p.Old), len(p.New))) {
			gone[p.Addr+d] = len(p.New) == 0
			came[p.Addr+d] = came[p.Addr+d] || len(p.Old) == 0
		}
	}
	compared := [2]int{}
	for a, taken := range gone {
		if a-unrecorded < 5 {
			continue
		}
		if want, held := byteAt(after, a); held && !taken {
			compared[0]++
			if got, ok := byteAt(end, a); !ok || got != want {
				t.Errorf("at the end %#x holds %02x (%v), the late kcore %02x", a, got, ok, want)
			}
		}
		got, ok := byteAt(start, a)
		if came[a] {
			if ok {
				t.Errorf("at the start %#x holds %02x, which cannot be known", a, got)
			}
			continue
		}
		if want, held := byteAt(before, a); held {
			compared[1]++
			if !ok || got != want {
				t.Errorf("at the start %#x holds %02x (%v), the early kcore %02x", a, got, ok, want)
			}
		}
	}
	if compared[0] < 400 || compared[1] < 400 {
		t.Errorf("%v bytes compared, want hundreds", compared)
	}
	t.Logf("%d bytes compared at the end, %d at the start, of %d", compared[0], compared[1], len(gone))
}

// TestWriteKcoreMachine would catch a snapshot's file that names another machine
// than that of its code, so that disassemblers refuse or misread it. It would also
// catch one that does not read back as the code that it was made of.
func TestWriteKcoreMachine(t *testing.T) {
	data := testsize.Recordings(t)
	digest := func(args ...string) string {
		var out, errs bytes.Buffer
		run(append([]string{"flow", "-q", "--digest"}, args...), nil, &out, &errs)
		return out.String()
	}
	for _, c := range []struct {
		snapshot string
		class    elf.Class
		machine  elf.Machine
	}{
		{"TC2", elf.ELFCLASS32, elf.EM_ARM},               // A32 and T32, of the kernel
		{"armv8_1m_branches", elf.ELFCLASS32, elf.EM_ARM}, // ETMv4, T32 alone
		{"juno_r1_1", elf.ELFCLASS64, elf.EM_AARCH64},
	} {
		rec, path := filepath.Join(data, "coresight", "snapshots", c.snapshot), filepath.Join(t.TempDir(), c.snapshot)
		var out, errs bytes.Buffer
		if run([]string{"text", "-q", rec, "--at", "end", "--write-kcore", path}, nil, &out, &errs); out.Len()+errs.Len() > 0 {
			t.Errorf("%s: said %s%s", c.snapshot, out.String(), errs.String())
		}
		f, err := elf.Open(path)
		if err != nil {
			t.Errorf("%s: %v", c.snapshot, err)
			continue
		}
		f.Close()
		if f.Class != c.class || f.Machine != c.machine {
			t.Errorf("%s: %v of %v, want %v of %v", c.snapshot, f.Class, f.Machine, c.class, c.machine)
		}
		bare := withoutDumps(t, rec)
		if own, got := digest(rec), digest(bare, "--kcore", path); own != got {
			t.Errorf("%s: the flow of its own text\n%s\nof the file written\n%s", c.snapshot, own, got)
		}
		if digest(rec) == digest(bare) {
			t.Errorf("%s: the flow is the same without text: nothing was compared", c.snapshot)
		}
	}
}

// withoutDumps returns a copy of a snapshot without the memory of its cores.
func withoutDumps(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	for name, b := range testsize.Files(t, filepath.Join(dir, "*.*")) {
		if at := bytes.Index(b, []byte("\n[dump")); at >= 0 && filepath.Ext(name) == ".ini" {
			b = b[:at+1]
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(name)), b, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return to
}
