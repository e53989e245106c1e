package symbols

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

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
	err := lines(data, func(line []byte, no int, off int64) error {
		f := strings.Fields(string(line))
		bad := func(what string) error {
			return &badfile.Error{File: name, Off: off, What: fmt.Sprintf("line %d: %s, want \"name size references users state address\": %s", no, what, shown(line))}
		}
		if len(f) < 6 {
			return bad(fmt.Sprintf("%d fields", len(f)))
		}
		size, err := strconv.ParseUint(f[1], 10, 64)
		if err != nil {
			return bad("no size")
		}
		addr, err := strconv.ParseUint(strings.TrimPrefix(f[5], "0x"), 16, 64)
		if err != nil {
			return bad("no address")
		}
		if addr+size < addr {
			return bad("the size reaches beyond the last address")
		}
		zero = zero && addr == 0
		ms = append(ms, Module{f[0], size, addr})
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

// lines calls f with each line that is not empty, its number from 1 and its
// offset in bytes.
func lines(data []byte, f func(line []byte, no int, off int64) error) error {
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
