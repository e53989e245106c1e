package recorder

import (
	"bytes"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"github.com/ptdecode/ptdecode/cmd/internal/wholefile"
	"github.com/ptdecode/ptdecode/decoder/files"
	"github.com/ptdecode/ptdecode/kcore/image"
	"github.com/ptdecode/ptdecode/kcore/symbols"
)

// The folders of a recording that hold the copies of before and of after.
const (
	earlyDir = "kcore_dir"
	lateDir  = "kcore_late"
)

// wideRange is from which size on a stretch of the early copy is left to symbols, bytes.
// perf copies from the first module to the last, which may lie 2 GiB apart.
const wideRange = 512 << 20

// attempts is how often the copies are made anew because modules came or went
// meanwhile.
const attempts = 3

// copyKernel copies the kernel's symbols, modules and code to a folder of the recording in
// dir. stop is asked while it works. It returns how many bytes of code were copied.
func copyKernel(m *machine, dir, folder string, stop func() error) (held int64, err error) {
	to := filepath.Join(dir, folder)
	if err := os.MkdirAll(to, 0o700); err != nil && !errors.Is(err, os.ErrExist) {
		return 0, err
	}
	for range attempts {
		mods, err := m.tree.Read("/proc/modules")
		if errors.Is(err, os.ErrNotExist) {
			mods, err = nil, nil // a kernel without modules
		}
		if err != nil {
			return 0, err
		}
		syms, err := m.tree.Read("/proc/kallsyms")
		if err != nil {
			return 0, err
		}
		if err := keep(filepath.Join(to, "modules"), func(f *os.File) error { _, err := f.Write(mods); return err }); err != nil {
			return 0, err
		}
		if err := keep(filepath.Join(to, "kallsyms"), func(f *os.File) error { _, err := f.Write(syms); return err }); err != nil {
			return 0, err
		}
		err = keep(filepath.Join(to, "kcore"), func(f *os.File) error {
			held, err = copyCode(m, f, dir, syms, mods, stop)
			return err
		})
		if err != nil {
			return 0, err
		}
		if again, err := m.tree.Read("/proc/modules"); err != nil || sameModules(mods, again) {
			return held, nil
		}
	}
	return held, nil
}

// sameModules reports whether two copies of /proc/modules list the same modules at the
// same places. Other fields change all the time.
func sameModules(a, b []byte) bool {
	x, errX := symbols.ParseModules(a, "")
	y, errY := symbols.ParseModules(b, "")
	if errX != nil || errY != nil || len(x) != len(y) {
		return bytes.Equal(a, b)
	}
	for i := range x {
		if x[i] != y[i] {
			return false
		}
	}
	return true
}

// keep writes a file under another name, and gives it its own when it is whole. What is
// not whole is taken away.
func keep(name string, write func(*os.File) error) error {
	f, err := os.OpenFile(name+".part", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	return wholefile.Keep(f, name, write(f))
}

// copyCode copies the kernel's code out of /proc/kcore: what the early copy has, and
// what the symbols of now say is code.
func copyCode(m *machine, w io.WriteSeeker, dir string, syms, mods []byte, stop func() error) (int64, error) {
	img, err := image.Open("/proc/kcore", image.Options{NeedELF: true, FS: m.tree.FS})
	if err != nil {
		return 0, err
	}
	defer img.Close()
	ranges, err := codeRanges(syms, mods)
	if err != nil {
		return 0, err
	}
	if early, err := image.Open(filepath.Join(dir, earlyDir, "kcore"), image.Options{NeedELF: true}); err == nil {
		for _, r := range early.Ranges() {
			if r.Len < wideRange {
				ranges = append(ranges, r)
			}
		}
		early.Close()
	}
	held, err := copyCore(w, img, ranges, elfMachine(m.tree), stop)
	if err == nil && held == 0 {
		err = fmt.Errorf("/proc/kcore: has none of the code that /proc/kallsyms names, in %d places", len(join(ranges)))
	}
	return held, err
}

// elfMachine returns the machine that /proc/kcore is of.
func elfMachine(tree files.Tree) elf.Machine {
	f, err := tree.Open("/proc/kcore")
	if err != nil {
		return elf.EM_NONE
	}
	defer f.Close()
	var b [2]byte
	const at = 18 // e_machine
	if n, _ := f.ReadAt(b[:], at); n < len(b) {
		return elf.EM_NONE
	}
	return elf.Machine(uint16(b[0]) | uint16(b[1])<<8)
}

// codeRanges returns where the symbols name code.
func codeRanges(syms, mods []byte) (list []image.Range, err error) {
	k, err := symbols.ParseKallsyms(string(syms), "/proc/kallsyms")
	if err != nil {
		return nil, err
	}
	ms, _ := symbols.ParseModules(mods, "/proc/modules") // without: ends are guessed
	for _, y := range symbols.New(k, ms, nil).Named(func(string) bool { return true }) {
		if y.Code && y.Addr >= kernelFrom && y.Len > 0 && y.Addr+(y.Len-1) >= y.Addr {
			list = append(list, image.Range{Addr: y.Addr, Len: y.Len})
		}
	}
	return join(list), nil
}

// kernelFrom is the lowest address of a 64-bit kernel.
const kernelFrom = math.MaxUint64/2 + 1
