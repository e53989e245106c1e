package kcore

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
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
	Syms []Ksym

	once  sync.Once
	named map[string]int32 // the kernel's own symbols by name; the first of a name
}

// Addr returns the address of the kernel's own symbol of that name.
func (k *Kallsyms) Addr(name string) (uint64, bool) {
	k.once.Do(k.index)
	i, ok := k.named[name]
	if !ok {
		return 0, false
	}
	return k.Syms[i].Addr, true
}

// index makes named. Most who read a kallsyms never ask for a name.
func (k *Kallsyms) index() {
	k.named = make(map[string]int32, len(k.Syms))
	for i := range k.Syms {
		y := &k.Syms[i]
		if _, have := k.named[y.Name]; y.Module == "" && !have {
			k.named[y.Name] = int32(i)
		}
	}
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
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseKallsyms(data, path)
}

// OpenModules reads a copy of /proc/modules, packed or not.
func OpenModules(path string) ([]Module, error) {
	data, err := ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseModules(data, path)
}

// ReadFile reads a whole file and unpacks it if it is packed by gzip or zstd.
func ReadFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	return readWhole(f, st, path, 0)
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
	k := &Kallsyms{Syms: make([]Ksym, 0, bytes.Count(data, []byte{'\n'})+1)}
	all := string(data) // the names are parts of it
	zero := true
	for no, off := 1, 0; off < len(all); no++ {
		n := strings.IndexByte(all[off:], '\n')
		if n < 0 {
			n = len(all) - off
		}
		line := strings.TrimRight(all[off:off+n], "\r")
		if line != "" {
			y, bad := parseKsym(line)
			if bad != "" {
				return nil, &FormatError{File: name, Off: int64(off), What: fmt.Sprintf("line %d: %s, want \"address type name [module]\": %s", no, bad, shown([]byte(line)))}
			}
			zero = zero && y.Addr == 0
			k.Syms = append(k.Syms, y)
		}
		off += n + 1
	}
	switch {
	case len(k.Syms) == 0:
		return nil, &FormatError{File: name, What: "kallsyms: no symbols"}
	case zero:
		return nil, &FormatError{File: name, What: fmt.Sprintf("kallsyms: all %d addresses are zero", len(k.Syms)), Err: ErrRestricted}
	}
	return k, nil
}

// parseKsym reads one line of kallsyms; bad says what is wrong with it.
func parseKsym(line string) (y Ksym, bad string) {
	i := 0
	for ; i < len(line) && line[i] != ' '; i++ {
		d := unhex(line[i])
		if d > 15 || i > 15 {
			return y, "no address"
		}
		y.Addr = y.Addr<<4 | uint64(d)
	}
	if i == 0 || i == len(line) {
		return y, "no address"
	}
	for i < len(line) && line[i] == ' ' {
		i++
	}
	if i+1 >= len(line) || line[i+1] != ' ' {
		return y, "no type"
	}
	y.Type = line[i]
	rest := line[i+2:]
	tab := strings.IndexByte(rest, '\t')
	if y.Name = rest; tab >= 0 {
		y.Name = rest[:tab]
		y.Module = strings.TrimSpace(rest[tab+1:])
	}
	if y.Name == "" {
		return y, "no name"
	}
	if m := y.Module; m != "" {
		if len(m) < 3 || m[0] != '[' || m[len(m)-1] != ']' {
			return y, "no module's name in brackets"
		}
		y.Module = m[1 : len(m)-1]
	}
	return y, ""
}

// unhex returns the value of a hexadecimal digit, 255 of anything else.
func unhex(c byte) byte {
	switch {
	case c >= '0' && c <= '9':
		return c - '0'
	case c >= 'a' && c <= 'f':
		return c - 'a' + 10
	case c >= 'A' && c <= 'F':
		return c - 'A' + 10
	}
	return 255
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
