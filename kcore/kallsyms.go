package kcore

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
)

// Ksym is one line of /proc/kallsyms.
type Ksym struct {
	Addr   uint64
	Type   byte // as nm(1): t, T, w, W: text; a, A: absolute; else data
	Name   string
	Module string // "" for the kernel itself
}

// text reports whether the symbol's type is that of code.
func (k *Ksym) text() bool {
	switch k.Type {
	case 't', 'T', 'w', 'W', 'i':
		return true
	}
	return false
}

// Kallsyms is a copy of /proc/kallsyms, in the file's order.
type Kallsyms struct {
	Syms  []Ksym
	named map[string]int32 // the kernel's own symbols by name; the first of a name
}

// Addr returns the address of the kernel's own symbol of that name.
func (k *Kallsyms) Addr(name string) (uint64, bool) {
	i, ok := k.named[name]
	if !ok {
		return 0, false
	}
	return k.Syms[i].Addr, true
}

// Module is one line of /proc/modules.
type Module struct {
	Name string
	Size uint64 // of all its parts, bytes
	Addr uint64 // of its text
}

// OpenKallsyms reads a copy of /proc/kallsyms, packed or not. One whose
// addresses are all zero is an error with ErrRestricted in its chain.
func OpenKallsyms(path string) (*Kallsyms, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return ParseKallsyms(data, path)
}

// OpenModules reads a copy of /proc/modules, packed or not.
func OpenModules(path string) ([]Module, error) {
	data, err := readFile(path)
	if err != nil {
		return nil, err
	}
	return ParseModules(data, path)
}

// readFile reads and unpacks a file.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return Unpack(io.Reader(f), path, 0)
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

// ParseKallsyms reads lines "address type name", with a tab and "[module]"
// behind those of modules (kernel/kallsyms.c, s_show, v6.1). name is for errors.
func ParseKallsyms(data []byte, name string) (*Kallsyms, error) {
	k := &Kallsyms{named: map[string]int32{}}
	all := string(data) // the names are parts of it
	zero := true
	err := lines(data, func(line []byte, no int, off int64) error {
		s := all[off : off+int64(len(line))]
		bad := func(what string) error {
			return &FormatError{File: name, Off: off, What: fmt.Sprintf("line %d: %s, want \"address type name [module]\": %s", no, what, shown(line))}
		}
		hex, rest, ok := strings.Cut(s, " ")
		addr, err := strconv.ParseUint(hex, 16, 64)
		if !ok || err != nil {
			return bad("no address")
		}
		typ, rest, ok := strings.Cut(strings.TrimLeft(rest, " "), " ")
		if !ok || len(typ) != 1 {
			return bad("no type")
		}
		sym, mod, _ := strings.Cut(rest, "\t")
		if sym == "" {
			return bad("no name")
		}
		if mod = strings.TrimSpace(mod); mod != "" {
			if len(mod) < 3 || mod[0] != '[' || mod[len(mod)-1] != ']' {
				return bad("no module's name in brackets")
			}
			mod = mod[1 : len(mod)-1]
		}
		zero = zero && addr == 0
		if _, have := k.named[sym]; mod == "" && !have {
			k.named[sym] = int32(len(k.Syms))
		}
		k.Syms = append(k.Syms, Ksym{addr, typ[0], sym, mod})
		return nil
	})
	switch {
	case err != nil:
		return nil, err
	case len(k.Syms) == 0:
		return nil, &FormatError{File: name, What: "kallsyms: no symbols"}
	case zero:
		return nil, &FormatError{File: name, What: fmt.Sprintf("kallsyms: all %d addresses are zero", len(k.Syms)), Err: ErrRestricted}
	}
	return k, nil
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
			return &FormatError{File: name, Off: off, What: fmt.Sprintf("line %d: %s, want \"name size references users state address\": %s", no, what, shown(line))}
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
		err = &FormatError{File: name, What: fmt.Sprintf("modules: all %d addresses are zero", len(ms)), Err: ErrRestricted}
	}
	if err != nil {
		return nil, err
	}
	return ms, nil
}
