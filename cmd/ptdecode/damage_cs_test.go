package main

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// damagedCS are recordings of CoreSight by what of each is damaged: a perf.data
// file, and of a snapshot the buffer, the memory of a core and an ini file.
func damagedCS(t *testing.T) map[string]*damaged {
	t.Helper()
	dir := t.TempDir()
	text, rec := filepath.Join(dir, "text.bin"), filepath.Join(dir, "perf.data")
	if err := os.WriteFile(text, fields(uint32(0xd503201f), uint32(0xd503201f), uint32(0x17fffffe)), 0o666); err != nil {
		t.Fatal(err)
	}
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
