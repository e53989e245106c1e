package symbols

import (
	"bytes"
	"fmt"
	"math/bits"
	"strconv"

	"github.com/ptdecode/ptdecode/decoder/badfile"
	"github.com/ptdecode/ptdecode/decoder/files"
)

// Module is one line of /proc/modules.
type Module struct {
	Name string
	Size uint64 // of all its parts, bytes
	Addr uint64 // of its text
}

// OpenModules reads a copy of /proc/modules, packed or not.
func OpenModules(path string) ([]Module, error) {
	data, err := files.Tree{}.Read(path)
	if err != nil {
		return nil, err
	}
	return ParseModules(data, path)
}

// ParseModules reads lines "name size references users state address"
// (kernel/module/procfs.c, m_show, v6.1). An empty file is a kernel without
// modules.
func ParseModules(data []byte, name string) ([]Module, error) {
	var ms []Module
	zero := true
	err := eachLine(data, func(line []byte, no int, off int64) error {
		m, bad := parseModule(line)
		if bad != "" {
			return &badfile.Error{File: name, Off: off, What: fmt.Sprintf("line %d: %s, want \"name size references users state address\": %s", no, bad, shown(line))}
		}
		zero = zero && m.Addr == 0
		ms = append(ms, m)
		return nil
	})
	if err == nil && len(ms) > 0 && zero {
		err = &badfile.Error{File: name, What: fmt.Sprintf("modules: all %d addresses are zero", len(ms)), Err: ErrRestricted}
	}
	if err != nil {
		return nil, err
	}
	return ms, nil
}

// parseModule reads one line of modules; bad says what is wrong with it.
func parseModule(line []byte) (m Module, bad string) {
	var f [6][]byte
	n := 0
	for word := range bytes.FieldsSeq(line) {
		f[n] = word
		if n++; n == len(f) {
			break
		}
	}
	if n < len(f) {
		return m, fmt.Sprintf("%d fields", n)
	}
	var ok bool
	if m.Size, ok = number(f[1], 10); !ok {
		return m, "no size"
	}
	if m.Addr, ok = number(bytes.TrimPrefix(f[5], []byte("0x")), 16); !ok {
		return m, "no address"
	}
	if m.Addr+m.Size < m.Addr {
		return m, "the size reaches beyond the last address"
	}
	m.Name = string(f[0])
	return m, ""
}

// number reads digits of a base up to 16, and nothing else.
func number(s []byte, base uint64) (n uint64, ok bool) {
	for _, c := range s {
		d := uint64(hexDigits[c])
		hi, lo := bits.Mul64(n, base)
		if d >= base || hi != 0 || lo+d < lo {
			return 0, false
		}
		n = lo + d
	}
	return n, len(s) > 0
}

// eachLine calls f with each line that is not empty, its number from 1 and its
// offset in bytes.
func eachLine(data []byte, f func(line []byte, no int, off int64) error) error {
	for no, off := 1, 0; off < len(data); no++ {
		n := bytes.IndexByte(data[off:], '\n')
		if n < 0 {
			n = len(data) - off
		}
		if line := bytes.TrimRight(data[off:off+n], "\r"); len(line) > 0 {
			if err := f(line, no, int64(off)); err != nil {
				return err
			}
		}
		off += n + 1
	}
	return nil
}

// shown cuts a piece of a file down to what an error may quote.
func shown(b []byte) string {
	if len(b) > 40 {
		return strconv.Quote(string(b[:40])) + "..."
	}
	return strconv.Quote(string(b))
}
